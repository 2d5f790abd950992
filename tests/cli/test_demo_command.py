"""``pyrocco demo``, ``--version`` and ``--help``."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from pyrocco import __version__
from pyrocco.cli import app, main
from pyrocco.io import read_matrix


@pytest.fixture(scope="module", name="out")
def run_demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo")
    assert main(["demo", "-o", str(out), "-q", "--seed", "1"]) == 0
    return out


def test_demo_finds_tumours_that_differ_in_diagnosis(out):
    labels = pd.read_csv(out / "row_labels.csv")
    malignant = labels["name"].str.startswith("malignant")
    counts = labels.groupby("label")["name"].count()
    purity = malignant.groupby(labels["label"]).mean()
    best = pd.concat([purity, 1 - purity], axis=1).max(axis=1)
    assert (best * counts).sum() / 569 > 0.8
    columns = pd.read_csv(out / "column_labels.csv", index_col="name")["label"]
    assert columns["mean radius"] == columns["mean perimeter"] == columns["mean area"]
    smooth, compact = columns["mean smoothness"], columns["mean compactness"]
    assert len({columns["mean radius"], smooth, compact}) == 3


def test_the_table_of_the_demo_gives_the_same_with_fit(tmp_path, out):
    words = ["fit", str(out / "matrix.csv"), "--seed", "1", "-q", "-o", str(tmp_path)]
    assert main(words) == 0
    for name in ("row_labels.csv", "column_labels.csv"):
        assert (out / name).read_text() == (tmp_path / name).read_text()
    matrix = read_matrix(out / "matrix.csv")
    assert abs(matrix.X.mean(axis=0)).max() < 1e-12
    assert abs(matrix.X.std(axis=0) - 1).max() < 1e-12


def test_the_report_of_the_demo_can_be_written_again(out):
    before = (out / "report.html").read_bytes()
    assert main(["report", str(out), "-q"]) == 0
    assert (out / "report.html").read_bytes() == before


def test_demo_prints_what_was_found(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    captured = capsys.readouterr()
    assert "569 breast tumours" in captured.err
    rows = pd.read_csv("demo-output/row_labels.csv")["label"]
    columns = pd.read_csv("demo-output/column_labels.csv")["label"]
    n_rows, n_columns = rows.nunique(), columns.nunique()
    found = f"Found {n_rows} clusters of tumours and {n_columns} clusters of measurements"
    assert found in captured.out
    assert "Open demo-output/report.html in a browser" in captured.out
    page = Path("demo-output/report.html").read_text(encoding="utf-8")
    assert f"pyrocco found {n_rows} row clusters" in page


def test_version_and_help(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"pyrocco {__version__}\n"
    assert main([]) == 0
    assert "demo" in capsys.readouterr().out
    assert main(["fit", "--help"]) == 0
    assert "--n-neighbors" in capsys.readouterr().out


def test_the_app_works_by_itself():
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output.strip() == f"pyrocco {__version__}"


START = """
import json, sys
from pyrocco.cli import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]))
"""


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["fit", "--help"], ["fit"]], ids=str)
def test_only_commands_that_run_import_numerical_packages(words):
    command = [sys.executable, "-c", START, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == (2 if words == ["fit"] else 0)
    heavy = {"numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "dask", "torch"}
    assert heavy.isdisjoint(modules)
