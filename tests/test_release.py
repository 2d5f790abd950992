"""What surrounds a release: one version, metadata that agree, valid workflows and recipe."""

import importlib.util
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
yaml = pytest.importorskip("yaml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def load(name):
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


def release_program():
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_release_needs_a_dated_section():
    problem = release_program().changelog_problem
    assert problem("0.2.0", "## [Unreleased]\n\n## [0.1.0] - 2026-01-02\n").startswith(
        "CHANGELOG.md needs a section [0.2.0] with its date"
    )
    assert "needs" in problem("0.2.0", "## [0.2.0]\n")
    assert problem("0.2.0", "## [0.2.0] - 2026-12-01\n") is None
    assert problem("0.2.0.dev0", "## [Unreleased]\n") is None
    assert "needs a section [Unreleased]" in problem("0.2.0.dev0", "## [0.1.0] - 2026-01-02\n")


def test_the_changelog_fits_the_version():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert release_program().changelog_problem(PROJECT["version"], text) is None


def test_the_page_has_the_oldest_versions_of_the_project():
    page = (ROOT / "docs" / "versions.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| \w+ (\d+) \| \w+ (\d+) \|$", page, re.M)
    oldest = {"Python": PROJECT["requires-python"].removeprefix(">=")} | dict(
        line.split(">=") for line in PROJECT["dependencies"]
    )
    assert len(rows) == 6
    for name, version, released, until in rows:
        assert version == oldest[name]
        assert int(until) - int(released) == (3 if name == "Python" else 2)


def test_the_conda_recipe_has_the_version_and_the_packages_of_the_project():
    recipe = load("recipe/recipe.yaml")
    assert recipe["context"]["version"] == PROJECT["version"]
    run = {line.replace("matplotlib-base", "matplotlib") for line in recipe["requirements"]["run"]}
    assert run - {"python >=3.11"} == {
        line.replace(">=", " >=") for line in PROJECT["dependencies"]
    }
    assert f"python {PROJECT['requires-python']}" in recipe["requirements"]["run"]


def test_the_conda_recipe_renders():
    rattler = pytest.importorskip("rattler_build")
    (variant,) = rattler.Stage0Recipe.from_file(str(ROOT / "recipe" / "recipe.yaml")).render()
    assert PROJECT["version"] in str(variant.recipe.to_dict())


def test_the_citation_is_valid_and_names_the_project():
    citation = load("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == PROJECT["license"]
    cffconvert = pytest.importorskip("cffconvert")
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    cffconvert.Citation(text).validate()


def test_the_workflow_runs_commands_of_the_makefile_and_all_supported_pythons():
    jobs = load(".github/workflows/ci.yml")["jobs"]
    commands = {step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.M)
    made = {line.split()[1] for line in commands if line.startswith("make")}
    assert made <= set(targets)
    assert {"check", "check-site", "check-workflows", "release", "test-oldest"} <= made
    tested = set(jobs["test"]["strategy"]["matrix"]["python"])
    named = {c.split(" :: ")[-1] for c in PROJECT["classifiers"] if ":: Python :: 3." in c}
    assert tested == named


def test_actionlint_accepts_the_workflows():
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("no actionlint on this machine; make check-workflows fetches one")
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    subprocess.run([actionlint, *workflows], check=True)


@pytest.mark.parametrize("name", ["bug.yml", "idea.yml"])
def test_issue_templates_have_what_the_forms_need(name):
    form = load(f".github/ISSUE_TEMPLATE/{name}")
    assert {"name", "description", "body"} <= set(form)
    assert all({"type", "attributes"} <= set(field) for field in form["body"])
