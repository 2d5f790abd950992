"""Docstrings name the parameters, defaults and attributes that the code has."""

import importlib
import inspect
import pkgutil
import re

import pandas as pd
import pytest

import pyrocco
from pyrocco import RCC, ROCCO


def section(docstring, title):
    """Entries of a numpydoc section: name to the text after the colon, in order."""
    lines = [*inspect.cleandoc(docstring or "").splitlines(), "", ""]
    rule = "-" * len(title)
    starts = [i for i, line in enumerate(lines) if line == title and lines[i + 1] == rule]
    if not starts:
        return None
    entries = {}
    for line, after in zip(lines[starts[0] + 2 :], lines[starts[0] + 3 :], strict=False):
        if after and set(after) == {"-"}:
            break  # the title of the next section
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            entries |= {name.strip("* "): kind for name in names.split(",")}
    return entries


def signature(thing):
    """Parameters of a function, or of the constructor of a class, without self."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(thing).parameters.items()
        if name != "self"
    }


def members(module):
    """Functions and classes defined in a module and the functions of these classes."""
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", "") != module.__name__:
            continue
        if inspect.isclass(thing):
            for part, function in vars(thing).items():
                if inspect.isfunction(function) and not part.startswith("_"):
                    yield f"{name}.{part}", function
        if inspect.isclass(thing) or inspect.isfunction(thing):
            yield name, thing


def documented_things():
    for found in pkgutil.walk_packages(pyrocco.__path__, "pyrocco."):
        module = importlib.import_module(found.name)
        for name, thing in members(module):
            if section(thing.__doc__, "Parameters") is not None:
                yield pytest.param(thing, id=f"{found.name}.{name}")


def public_things():
    for name in pyrocco.__all__:
        thing = getattr(pyrocco, name)
        yield pytest.param(thing, id=name)
        if hasattr(thing, "fit"):
            yield pytest.param(thing.fit, id=f"{name}.fit")


DOCUMENTED = list(documented_things())


def test_the_parser_reads_numpydoc():
    text = """Do something.

    Parameters
    ----------
    a, b : int
        Two numbers: both
        on two lines.
    *rest : str, default="x"
        More.

    Returns
    -------
    int
    """
    assert section(text, "Parameters") == {"a": "int", "b": "int", "rest": 'str, default="x"'}
    assert section(text, "Returns") == {"int": ""}
    assert section(text, "Attributes") is None


@pytest.mark.parametrize("thing", list(public_things()))
def test_public_things_document_their_parameters(thing):
    assert section(thing.__doc__, "Parameters") is not None


@pytest.mark.parametrize("thing", DOCUMENTED)
def test_documented_parameters_are_those_of_the_signature(thing):
    assert list(section(thing.__doc__, "Parameters")) == list(signature(thing))


@pytest.mark.parametrize("thing", DOCUMENTED)
def test_documented_defaults_are_those_of_the_signature(thing):
    defaults = signature(thing)
    for name, kind in section(thing.__doc__, "Parameters").items():
        stated = re.search(r"default=(.+)$", kind)
        if stated:
            assert eval(stated[1], {}) == defaults[name], name


@pytest.mark.parametrize("estimator", [ROCCO(), RCC(), ROCCO(variant="paper")], ids=repr)
def test_documented_attributes_are_those_of_a_fit(estimator, planted):
    named = pd.DataFrame(planted[0]).add_prefix("gene").T.add_prefix("cell").T
    estimator.fit(named)
    fitted = {name for name in vars(estimator) if name.endswith("_") and name[0] != "_"}
    documented = set(section(estimator.__doc__, "Attributes"))
    made_later = {name for name in documented if hasattr(type(estimator), name)}
    assert documented - made_later == fitted
    assert all(hasattr(estimator, name) for name in made_later)


@pytest.mark.parametrize("thing", [ROCCO, RCC])
def test_estimators_state_every_default(thing):
    for name, kind in section(thing.__doc__, "Parameters").items():
        assert "default=" in kind, name
