"""Bad input ends with exit code 2 and one line that says what to do."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pyrocco.cli import main

SCRIPT = Path(sys.executable).parent / "pyrocco"

TEXTS = {
    "empty file": ("", ["empty"]),
    "text in a cell": (
        "gene,liver,heart\nTP53,1,2\nMYC,low,4\n",
        ["row 2", "MYC", "column 1", "liver", "low", "not a number"],
    ),
    "ragged rows": ("1,2,3\n4,5\n6,7,8\n", ["line 2", "2 cells", "3"]),
    "infinite value": ("a,b\n1,2\n3,inf\n", ["row 2", "column 2", "infinite", "replace it"]),
    "no rows": ("a,b,c\n", ["no rows"]),
    "no columns": ("gene\nTP53\nMYC\n", ["no columns"]),
}
ARRAYS = {
    "no rows": (np.zeros((0, 3)), ["no rows"]),
    "no columns": (np.zeros((3, 0)), ["no columns"]),
    "infinite value": (np.array([[1.0, 2.0], [-np.inf, 4.0]]), ["row 2, column 1", "infinite"]),
    "a line": (np.arange(4.0), ["dimension"]),
}


def good_table(tmp_path):
    path = tmp_path / "good.npy"
    np.save(path, np.random.default_rng(0).random((20, 15)))
    return str(path)


def check_one_line(code, out, err, words):
    assert code == 2
    assert out == ""
    assert err.startswith("pyrocco: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err


def run(capsys, words):
    code = main(words)
    return code, *capsys.readouterr()


@pytest.mark.parametrize("case", TEXTS)
def test_bad_tables(tmp_path, capsys, case):
    text, words = TEXTS[case]
    path = tmp_path / "table.csv"
    path.write_text(text)
    code, out, err = run(capsys, ["fit", str(path), "-o", str(tmp_path / "out")])
    check_one_line(code, out, err, ["table.csv", *words])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("case", ARRAYS)
def test_bad_arrays(tmp_path, capsys, case):
    array, words = ARRAYS[case]
    np.save(tmp_path / "x.npy", array)
    result = run(capsys, ["fit", str(tmp_path / "x.npy"), "-o", str(tmp_path / "out")])
    check_one_line(*result, ["x.npy", *words])


def test_preparations_that_do_not_suit(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(20, 15)))
    words = ["fit", str(tmp_path / "x.npy"), "-o", str(tmp_path / "out"), "--log1p", "-q"]
    check_one_line(*run(capsys, words), ["x.npy", "log1p", "at least 0", "leave out"])


def test_too_little_memory(tmp_path, capsys, monkeypatch):
    def fit(self, X, **options):
        raise MemoryError

    monkeypatch.setattr("pyrocco.ROCCO.fit", fit)
    words = ["fit", good_table(tmp_path), "-o", str(tmp_path / "out"), "-q"]
    check_one_line(*run(capsys, words), ["too little memory", "pyrocco inspect"])


def test_missing_file(tmp_path, capsys):
    result = run(capsys, ["fit", str(tmp_path / "nowhere.csv"), "-o", str(tmp_path / "out")])
    check_one_line(*result, ["nowhere.csv", "no such file"])
    assert "did you mean" not in result[2]


def test_a_file_name_with_a_mistake(tmp_path, capsys):
    (tmp_path / "expression.csv").touch()
    (tmp_path / "other.csv").touch()
    result = run(capsys, ["inspect", str(tmp_path / "expresion.csv")])
    check_one_line(*result, [f"no such file; did you mean {tmp_path / 'expression.csv'}?"])


@pytest.mark.parametrize("command", ["fit", "demo"])
def test_output_folder_that_is_a_file(tmp_path, capsys, command):
    (tmp_path / "taken").write_text("mine")
    words = ["fit", good_table(tmp_path)] if command == "fit" else ["demo"]
    result = run(capsys, [*words, "-o", str(tmp_path / "taken")])
    check_one_line(*result, ["taken", "is a file, not a folder"])
    result = run(capsys, [*words, "-q", "-o", str(tmp_path / "taken" / "below")])
    check_one_line(*result, ["below", "cannot be written"])
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_output_folder_without_permission(tmp_path, capsys):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    result = run(capsys, ["fit", good_table(tmp_path), "-o", str(locked)])
    check_one_line(*result, ["locked", "cannot be written", "Permission denied"])


def test_output_is_checked_before_the_fit(tmp_path, capsys, monkeypatch):
    def never(self, X, **options):
        raise AssertionError("the fit was started")

    monkeypatch.setattr("pyrocco.ROCCO.fit", never)
    (tmp_path / "taken").touch()
    assert main(["fit", good_table(tmp_path), "-o", str(tmp_path / "taken")]) == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--n-clusters", "many"], ["--n-clusters", "4,3", "many"]),
        (["--n-clusters", "1,2,3"], ["--n-clusters"]),
        (["--n-clusters", "0"], ["cannot be co-clustered", "n_clusters", "0"]),
        (["--n-clusters", "500"], ["cannot be co-clustered", "500"]),
        (["--n-neighbors", "0"], ["--n-neighbors"]),
        (["--metric", "hamming"], ["--metric", "hamming", "euclidean"]),
        (["--variant", "other"], ["--variant", "refined"]),
        (["--seed", "-1"], ["--seed"]),
        (["--colour"], ["--colour"]),
        (["--output-format", "xml"], ["--output-format", "csv"]),
        (["--tfidf", "--normalize"], ["good.npy", "leave out normalize"]),
        (["--zscore", "--layer", "counts"], ["good.npy", "layer", "only on .h5ad"]),
        (["--layout", "long"], ["good.npy", "layout"]),
    ],
)
def test_bad_options(tmp_path, capsys, words, expected):
    out = ["-o", str(tmp_path / "out"), "-q"]
    check_one_line(*run(capsys, ["fit", good_table(tmp_path), *out, *words]), expected)
    assert not (tmp_path / "out").exists()


def test_forgotten_words(tmp_path, capsys):
    check_one_line(*run(capsys, ["fit"]), ["MATRIX", "--help"])
    check_one_line(*run(capsys, ["fit"]), ["pyrocco fit --help"])
    check_one_line(
        *run(capsys, ["fit", "x", "--vriant", "y"]), ["--variant", "pyrocco fit --help"]
    )
    check_one_line(*run(capsys, ["fit", "x", "--variant", "y"]), ["'y' is not one of 'refined'"])
    check_one_line(*run(capsys, ["predict"]), ["MODEL", "pyrocco predict --help"])
    check_one_line(*run(capsys, ["cluster"]), ["cluster"])


def test_the_console_script_fails_in_one_line(tmp_path):
    """The exit code and both streams of a real process; the other cases are tested above."""
    text, expected = TEXTS["text in a cell"]
    (tmp_path / "table.csv").write_text(text)
    command = [SCRIPT, "fit", str(tmp_path / "table.csv"), "-o", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check_one_line(done.returncode, done.stdout, done.stderr, expected)


@pytest.mark.parametrize(
    ("command", "example"),
    [
        ("fit", "pyrocco fit table.csv (see pyrocco fit --help)"),
        ("predict", "pyrocco predict table-pyrocco new.csv (see pyrocco predict --help)"),
    ],
)
def test_a_command_alone_is_answered_with_an_example(capsys, command, example):
    assert main([command]) == 2
    assert example in capsys.readouterr().err
