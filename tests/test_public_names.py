"""The public names of pyrocco are the documented ones, and each can be imported."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pyrocco

ROOT = Path(__file__).parents[1]
MODULES = ["pyrocco", *(m.name for m in pkgutil.walk_packages(pyrocco.__path__, "pyrocco."))]


def documented(title):
    """First column of the table under a title of docs/api.md."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    section = page.split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([\w.]+)` \|", section, flags=re.MULTILINE)


def test_public_names_are_the_documented_ones():
    assert sorted(pyrocco.__all__) == sorted(documented("Public names"))


@pytest.mark.parametrize("name", pyrocco.__all__)
def test_public_names_have_examples(name):
    assert doctest.DocTestParser().get_examples(getattr(pyrocco, name).__doc__)


def test_documented_modules_can_be_imported_and_have_a_docstring():
    for name in documented("Modules beside them"):
        assert importlib.import_module(name).__doc__


def run(code):
    """Run Python code in a new process, and return what it prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_every_name_and_module_is_imported_on_first_use():
    names = [*pyrocco.__all__, *(name.split(".")[1] for name in documented("Modules beside them"))]
    code = "import pyrocco\n" + "\n".join(f"assert pyrocco.{name} is not None" for name in names)
    run(f"{code}\nassert set({names!r}) | {{'__version__'}} <= set(dir(pyrocco))")


def test_importing_pyrocco_imports_nothing_heavy():
    code = "import pyrocco, sys; pyrocco.__version__; print(' '.join(sys.modules))"
    heavy = {"numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "dask", "torch"}
    assert heavy.isdisjoint(run(code).split())


def test_estimators_import_no_optional_package_and_no_matplotlib():
    code = "import pyrocco, sys; pyrocco.ROCCO; print(' '.join(sys.modules))"
    unused = {"matplotlib", "dask", "distributed", "torch", "anndata", "zarr", "typer"}
    assert unused.isdisjoint(run(code).split())


def test_other_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'ROCO'"):
        _ = pyrocco.ROCO


@pytest.mark.parametrize("name", MODULES)
def test_every_module_imports_and_its_export_list_holds(name):
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", [])
    assert len(set(exported)) == len(exported)
    assert all(hasattr(module, entry) for entry in exported)


def test_one_version():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pyrocco.__version__ == settings["project"]["version"]


@pytest.mark.parametrize(
    "name", [n for n in pyrocco.__all__ if hasattr(getattr(pyrocco, n), "fit")]
)
def test_estimators_inherit_from_scikit_learn_only(name):
    """They share code by calling it; COBRAr is a COBRA that clusters in another way."""
    kind = getattr(pyrocco, name)
    own = [c.__name__ for c in kind.__mro__[1:] if c.__module__.startswith("pyrocco.")]
    assert own == (["COBRA"] if name == "COBRAr" else [])
