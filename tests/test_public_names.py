"""The names that pyrocco offers are the documented ones, and none is empty."""

import doctest
import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import pyrocco

ROOT = Path(__file__).parents[1]
MODULES = ["pyrocco", *(m.name for m in pkgutil.walk_packages(pyrocco.__path__, "pyrocco."))]


def documented(title):
    """First column of the table under a title of docs/index.md."""
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    section = page.split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([\w.]+)` \|", section, flags=re.MULTILINE)


def test_public_names_are_the_documented_ones():
    assert sorted(pyrocco.__all__) == sorted(documented("Public names"))


@pytest.mark.parametrize("name", pyrocco.__all__)
def test_public_names_have_examples(name):
    assert doctest.DocTestParser().get_examples(getattr(pyrocco, name).__doc__)


def test_documented_modules_can_be_imported_and_say_what_they_are():
    for name in documented("Modules beside them"):
        assert importlib.import_module(name).__doc__


@pytest.mark.parametrize("name", MODULES)
def test_every_module_imports_and_its_export_list_holds(name):
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", [])
    assert len(set(exported)) == len(exported)
    assert all(hasattr(module, entry) for entry in exported)


def test_one_version():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pyrocco.__version__ == settings["project"]["version"]
