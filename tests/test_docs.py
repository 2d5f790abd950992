"""Checks of README and the other pages: code runs, commands, files and numbers exist.

The examples and the tutorials run in ``make docs``.
"""

import ast
import contextlib
import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer
from benchmarks.paper.__main__ import _parse as parse_benchmark
from threadpoolctl import threadpool_limits

from pyrocco.cli import app
from pyrocco.io import RESULT_FORMATS
from pyrocco.io.read import FORMATS
from tests.fuzz.__main__ import parse_arguments as parse_fuzz

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pyrocco"
PAGES = {
    path.name: path.read_text(encoding="utf-8")
    for path in [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").glob("*.md")),
    ]
}
TUTORIALS = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs" / "tutorials").glob("*.md"))
}
FOLDERS = {name: ROOT if (ROOT / name).exists() else ROOT / "docs" for name in PAGES}
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def inline_code(text):
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))


def shell_lines():
    """Commands in code blocks or in backticks."""
    for page, text in PAGES.items():
        for block in blocks(text, "sh"):
            yield from ((page, line) for line in block.splitlines() if line.strip())
        for code in inline_code(text):
            if re.match(r"(make|pyrocco|python -m|pip install) [a-z\".]", code):
                yield page, code


def targets():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))


def settable():
    """Variables of the Makefile that a user may set."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([A-Z]+) \?=", makefile, flags=re.MULTILINE))


def extras():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["project"]["optional-dependencies"]


def test_code_blocks_have_a_known_language():
    for page, text in PAGES.items():
        languages = set(re.findall(r"^```(\w*)\n(?:.*?)^```$", text, flags=re.M | re.S))
        assert languages <= {"python", "sh", "text"}, page


@pytest.mark.filterwarnings("ignore:Clustering large matrix with scipy")  # these are of seaborn
@pytest.mark.filterwarnings("ignore:The set_.* function will be deprecated")
@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if blocks(text, "python")])
def test_python_code_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(PAGES[page], "python"))
    expected = re.findall(r"print\(.*\)  # prints (.+)$", code, flags=re.MULTILINE)
    assert len(expected) == code.count("print(")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), threadpool_limits(1):
        exec(compile(code, page, "exec"), {"__name__": "page"})
    assert printed.getvalue().splitlines() == expected


def check_pyrocco(words):
    program = typer.main.get_command(app)
    if words[0].startswith("-"):
        assert words[0] in {name for option in program.params for name in option.opts}
        return
    command = program.commands[words[0]]
    if len(words) > 1:
        command.make_context(words[0], words[1:]).close()


def check_experiment(words):
    options = parse_benchmark(words)
    for folder, names in (("experiments", options.experiments), ("methods", options.methods)):
        for name in names or ():
            assert (ROOT / "benchmarks" / "paper" / folder / f"{name}.py").is_file()


@pytest.mark.parametrize(("page", "line"), list(shell_lines()))
def test_commands_exist(page, line):
    words = shlex.split(line)
    if words[0] == "make":
        variables = [word.partition("=")[0] for word in words[1:] if "=" in word]
        assert set(variables) <= settable()
        assert {word for word in words[1:] if "=" not in word} <= targets()
    elif words[:3] == ["python", "-m", "tests.fuzz"]:
        parse_fuzz(words[3:])
    elif words[0] == "pyrocco":
        check_pyrocco(words[1:])
    elif words == ["python", "-m", "pyrocco"]:
        assert (ROOT / "src" / "pyrocco" / "__main__.py").is_file()
    elif words[:3] == ["python", "-m", "benchmarks.paper"]:
        check_experiment(words[3:])
    elif words[2:] and words[2].startswith(("benchmarks.", "tests.")):
        assert (ROOT / (words[2].replace(".", "/") + ".py")).is_file()
    else:
        assert words[:2] == ["pip", "install"]
        name, _, named = words[2].rstrip("]").partition("[")
        assert name in {".", "pyrocco"}
        assert set(named.split(",") if named else []) <= set(extras())


def test_the_readme_names_the_two_commands():
    lines = [line for page, line in shell_lines() if page == "README.md"]
    assert {"make demo", "make test", "pip install ."} <= set(lines)


@pytest.mark.parametrize("page", ["README.md", "command-line.md"])
def test_every_subcommand_is_named(page):
    lines = [line for name, line in shell_lines() if name == page]
    assert {line.split()[1] for line in lines if line.startswith("pyrocco")} == set(
        typer.main.get_command(app).commands
    )


def check_links(text, folder):
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if not target.startswith("https://"):
            assert (folder / target.split("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES)
def test_linked_files_exist(page):
    check_links(PAGES[page], FOLDERS[page])


@pytest.mark.parametrize("page", TUTORIALS)
def test_files_linked_by_tutorials_exist(page):
    check_links(TUTORIALS[page], ROOT / "docs" / "tutorials")


def test_every_page_is_in_a_table_of_contents():
    listed = "\n".join(
        block
        for text in [*PAGES.values(), *TUTORIALS.values()]
        for block in re.findall(r"^:::\{toctree\}\n(.*?)^:::$", text, flags=re.M | re.S)
    ).split("\n")
    entries = {line.rpartition("/")[2] for line in listed}
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} | {
        page.removesuffix(".md") for page in TUTORIALS
    }
    assert pages - {"index"} <= entries


@pytest.mark.parametrize("page", TUTORIALS)
def test_tutorials_are_notebooks_whose_code_compiles(page):
    cells = blocks(TUTORIALS[page], r"\{code-cell\} ipython3")
    assert bool(cells) == TUTORIALS[page].startswith("---\nfile_format: mystnb\n")
    for cell in cells:
        compile(re.sub(r"\A:tags:.*\n", "", cell), page, "exec")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_a_title_and_say_where_the_data_are_from(path):
    code = path.read_text(encoding="utf-8")
    description = ast.get_docstring(ast.parse(code))
    title, rule = description.splitlines()[:2]
    assert rule == "=" * len(title)
    assert re.search(r"generated|comes? with|installed with|are real", description)


def test_there_are_examples_of_every_kind_of_data():
    names = " ".join(path.stem for path in EXAMPLES)
    kinds = "text gene_expression cells survey ratings sales votes missing_values large_matrix"
    for kind in [*kinds.split(), "seaborn", "scanpy", "scikit_learn"]:
        assert kind in names


@pytest.mark.parametrize("page", PAGES)
def test_named_source_files_exist(page):
    for code in inline_code(PAGES[page]):
        if re.fullmatch(r"[\w./]+\.py", code) and code != "utils.py":
            assert (ROOT / code).is_file() or (SOURCE / code).is_file(), code
        elif re.fullmatch(r"(src|tests|benchmarks)(/\w+)+", code):
            assert (ROOT / code).is_dir(), code


def test_every_format_and_every_option_is_on_the_page_about_files():
    code = " ".join(inline_code(PAGES["files.md"])).split()
    assert set(FORMATS) <= set(code)
    assert set(RESULT_FORMATS) <= set(code)
    commands = typer.main.get_command(app).commands
    own = {"matrix", "output", "n_neighbors", "metric", "variant", "n_clusters", "seed"}
    for name in ("fit", "inspect"):
        for option in commands[name].params:
            if option.name not in own:
                assert option.opts[0] in " ".join(code), option.name


def test_the_picture_is_a_small_png():
    picture = (ROOT / "docs" / "_static" / "demo.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 300_000


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize(("variant", "method"), [("literal", "rocco_paper"), ("default", "rocco")])
def test_results_are_those_of_the_benchmark(side, variant, method):
    report = (ROOT / "benchmarks" / "paper" / "results" / "fig3.md").read_text(encoding="utf-8")
    table = report.split(f"## ARI of {side}, matrices as they are\n")[1].split("\n## ")[0]
    measured = re.search(rf"^\| {method} \|(.*)$", table, flags=re.MULTILINE)
    shown = re.search(
        rf"^\| {side}, {variant} \|(.*)$", PAGES["benchmarks.md"], flags=re.MULTILINE
    )
    assert shown[1] == measured[1]


def test_layers_are_those_of_import_linter():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    (shown,) = blocks(PAGES["CONTRIBUTING.md"], "text")
    assert [f"pyrocco.{layer}" for layer in shown.split()] == layers


def test_the_version_has_a_place_in_the_changelog():
    assert "## [Unreleased]" in PAGES["CHANGELOG.md"]


@pytest.mark.parametrize("part", ["same", "kills", "workers", "growth", "limit"])
def test_the_page_about_dask_clusters_has_the_measured_tables(part):
    results = ROOT / "benchmarks" / "speed" / "results" / f"cluster_{part}.md"
    lines = results.read_text(encoding="utf-8").splitlines()
    table = "\n".join(line for line in lines if line.startswith("|"))
    assert table in PAGES["cluster.md"]
