"""``pyrocco predict`` and ``pyrocco report`` with files that are damaged or were edited."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from pyrocco import RCC
from pyrocco.cli import main
from tests.model_files import set_value

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(np.kron(np.array([[9.0, 1], [1, 7]]), np.ones((12, 10))))
TABLE = pd.DataFrame(COUNTS, [f"r{i}" for i in range(24)], [f"c{j}" for j in range(20)])


@pytest.fixture(scope="module", name="results")
def fit_counts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    TABLE.to_csv(folder / "counts.csv")
    words = ["--normalize", "--log1p", "--zscore", "--no-report", "-q"]
    assert main(["fit", str(folder / "counts.csv"), "-o", str(folder / "out"), *words]) == 0
    return folder


@pytest.fixture(name="out")
def copy_results(results, tmp_path):
    """The model and the summary of a fit, which may be changed."""
    out = tmp_path / "out"
    out.mkdir()
    for name in ("model.pyrocco", "summary.json"):
        (out / name).write_bytes((results / "out" / name).read_bytes())
    return out


def refused(capsys, *words):
    """The one line that a command prints before it fails."""
    capsys.readouterr()
    assert main([*map(str, words)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    return captured.err


NAMES = [f"c{j}" for j in range(20)]


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("about", "row_names"), 3),
        (("about", "row_names"), ["a"]),
        (("about", "row_names"), None),
        (("about", "column_names"), [1] * 20),
        (("about", "column_names"), NAMES[:-1]),
        (("about", "column_names"), [*NAMES[:-1], "\ud800"]),
        (("about", "column_names"), {"$names": NAMES}),
        (("attributes", "row_labels_"), 1),
    ],
)
def test_what_is_stored_with_a_model(results, out, capsys, keys, value):
    set_value(out / "model.pyrocco", keys, value)
    for words in (("predict", out, results / "counts.csv"), ("report", out)):
        err = refused(capsys, *words, "-q")
        assert "model.pyrocco: " in err
        assert "fit again" in err or "fit the model again" in err


def test_a_report_of_a_model_of_another_class(out, capsys):
    RCC().fit(COUNTS).save(out / "model.pyrocco")
    assert "contains a model of class RCC" in refused(capsys, "report", out)


def test_a_model_that_is_no_file(results, tmp_path, capsys):
    os.mkfifo(tmp_path / "fifo")
    err = refused(capsys, "predict", tmp_path / "fifo", results / "counts.csv")
    assert "fifo: is not a regular file" in err


@pytest.mark.parametrize(
    "text",
    [
        "3",
        "[]",
        "null",
        "[" * 100_000,
        "\udcff",
        '{"input": 3}',
        '{"matrix": ["a"]}',
        '{"input": "\\ud800"}',
        '{"input": "x", "reading": 3}',
        '{"input": "x", "reading": {"unheard": 1}}',
        '{"input": "x", "reading": {"transpose": "yes"}}',
        '{"input": "x", "reading": {"layout": "round"}}',
        '{"input": "x", "cells": 3}',
        '{"input": "x", "preparation": ["log1p"]}',
        '{"input": "x", "notes": 3}',
        '{"input": "x", "warnings": [3]}',
        '{"input": "x", "seconds": "3"}',
        '{"input": "x", "versions": [3]}',
        '{"input": "x", "reproducibility": {"summary": "nothing else"}}',
    ],
)
def test_summaries_that_pyrocco_does_not_write(results, out, capsys, text):
    path = out / "summary.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    err = refused(capsys, "report", out, "--matrix", results / "counts.csv")
    assert f"{path}: was not written by pyrocco fit" in err
    assert "fit again" in err
    path.unlink()
    os.mkfifo(path)
    assert "contains no results" in refused(capsys, "report", out)


def test_a_summary_that_names_no_matrix(out, capsys):
    summary = json.loads((out / "summary.json").read_text())
    del summary["input"]
    (out / "summary.json").write_text(json.dumps({**summary, "more": [1]}))
    assert "does not name the matrix" in refused(capsys, "report", out)


def test_the_results_themselves_are_fine(results, out, capsys):
    set_value(out / "model.pyrocco", ["about", "more"], 1)
    assert main(["report", str(out), "-q"]) == 0
    assert main(["predict", str(out), str(results / "counts.csv"), "-q"]) == 0
    assert capsys.readouterr().out.startswith("name,label")
