"""Deprecated names work for two releases, say so, and are not kept longer."""

import ast
import re
import tomllib
import warnings
from pathlib import Path

import pytest

from pyrocco.deprecation import removed_in, warn_deprecated

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def release(version):
    """Major and minor number."""
    return tuple(int(part) for part in version.split(".")[:2])


def calls():
    """File and ``since`` of every call of `warn_deprecated` in the package."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "warn_deprecated":
                since = {word.arg: word.value for word in node.keywords}["since"]
                yield path.relative_to(ROOT).as_posix(), ast.literal_eval(since)


def test_the_warning_names_replacement_and_end():
    def old_name():
        warn_deprecated("old_name", "new_name", since="0.2")

    with pytest.warns(FutureWarning, match=r"old_name .* since version 0\.2") as caught:
        old_name()
    message = str(caught[0].message)
    assert message.endswith("will be removed in version 0.4. Use new_name instead.")
    assert caught[0].filename == __file__


def test_two_releases():
    assert removed_in("0.2") == "0.4"
    assert removed_in("1.9") == "1.11"


@pytest.mark.parametrize(("path", "since"), list(calls()))
def test_nothing_is_kept_longer_than_announced(path, since):
    assert release(since) <= release(VERSION) < release(removed_in(since)), path


def test_all_warnings_about_names_come_from_the_helper():
    users = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "src").rglob("*.py")
        if "FutureWarning" in path.read_text("utf-8")
    ]
    assert users == ["src/pyrocco/deprecation.py"]


def test_the_page_lists_every_deprecation():
    page = (ROOT / "docs" / "versions.md").read_text("utf-8")
    rows = re.findall(r"^\| `.*\| ([\d.]+) \| ([\d.]+) \|$", page, flags=re.MULTILINE)
    assert rows
    assert all(end == removed_in(since) for since, end in rows)
    assert {since for _, since in calls()} == {since for since, _ in rows}


@pytest.mark.parametrize("name", ["row_confidence_", "column_confidence_", "reading_"])
def test_old_attributes_of_a_fit_answer_like_the_new_ones(planted, name):
    from pyrocco import ROCCO  # noqa: PLC0415 - slow to import, and only this test needs it

    model = ROCCO().fit(planted[0])
    new = {"reading_": "structure_"}.get(name, name.replace("confidence", "membership"))
    with pytest.warns(FutureWarning, match=new) as caught:
        old = getattr(model, name)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert str(old) == str(getattr(model, new))
