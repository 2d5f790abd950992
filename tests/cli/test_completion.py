"""Completion in the shell, by the environment variables that a shell sets."""

import os
import subprocess
import sys

import pytest

from pyrocco.cells.methods import METHODS
from pyrocco.cli import main
from pyrocco.cli.options import FIGURE_FORMATS, PREPARATIONS
from pyrocco.io.result_folder import PICTURE_FORMATS


def complete(capsys, monkeypatch, words, shell="bash"):
    """What the shell is told to complete the last one of these words by."""
    place = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    if shell != "bash":
        place = {"_TYPER_COMPLETE_ARGS": words}
    monkeypatch.setenv("_PYROCCO_COMPLETE", f"complete_{shell}")
    for name, value in place.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("pyrocco ", ["fit", "inspect", "predict", "report", "demo"]),
        ("pyrocco pre", ["predict"]),
        ("pyrocco fit --vari", ["--variant"]),
        ("pyrocco fit --variant ", ["refined", "paper"]),
        ("pyrocco fit --metric co", ["cosine"]),
        ("pyrocco fit --output-format ", ["csv", "parquet", "h5ad"]),
        ("pyrocco fit --layout ", ["auto", "wide", "long"]),
        ("pyrocco fit --format ", ["png", "pdf", "svg"]),
        ("pyrocco fit --format pdf,", ["pdf,png", "pdf,svg"]),
        ("pyrocco fit --prepare ", ["auto", "none", *PREPARATIONS]),
        ("pyrocco fit --prepare normalize,lo", ["normalize,log1p", "normalize,log"]),
        ("pyrocco fit --n-clusters a", ["auto"]),
        ("pyrocco fit --n-clusters 4,a", ["4,auto"]),
        ("pyrocco fit --cluster l", ["local", "local:"]),
        # Nothing of ours: the shell completes the names of files.
        ("pyrocco fit mat", []),
        ("pyrocco fit matrix.csv --output ", []),
    ],
)
def test_words_are_completed(capsys, monkeypatch, words, expected):
    assert complete(capsys, monkeypatch, words) == expected


def test_other_shells(capsys, monkeypatch):
    words = "pyrocco fit --variant r"
    assert '(("refined"))' in "".join(complete(capsys, monkeypatch, words, "zsh"))
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    assert complete(capsys, monkeypatch, words, "fish") == ["refined"]


def test_names_of_options_are_those_of_the_library():
    assert tuple(METHODS) == PREPARATIONS
    assert FIGURE_FORMATS == PICTURE_FORMATS


def test_completion_does_not_import_numpy():
    code = "import sys, pyrocco.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_script_for_a_shell():
    environment = {**os.environ, "_PYROCCO_COMPLETE": "source_bash"}
    command = [sys.executable, "-m", "pyrocco"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "complete -o default -F _pyrocco_completion pyrocco" in done.stdout


def test_the_module_is_the_command_line():
    command = [sys.executable, "-m", "pyrocco", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pyrocco ")
    command = [sys.executable, "-m", "pyrocco", "fit"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
