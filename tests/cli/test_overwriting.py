"""Nothing is replaced that pyrocco did not write, and never an input."""

import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_biclusters

from pyrocco.cli import main
from pyrocco.io.result_folder import RESULT_NAMES, earlier_results

from .test_bad_input import check_one_line, run

FIT = ["--no-report", "-q"]


@pytest.fixture(scope="module", name="fitted")
def fit_once(tmp_path_factory):
    """A folder with a table, a.csv, and the results of its fit, out."""
    folder = tmp_path_factory.mktemp("fitted")
    X, _, _ = make_biclusters((30, 20), 2, noise=2, random_state=0)
    pd.DataFrame(X, index=[f"r{i}" for i in range(30)]).to_csv(folder / "a.csv")
    assert main(["fit", str(folder / "a.csv"), "-o", str(folder / "out"), *FIT]) == 0
    return folder


@pytest.fixture(name="work")
def copy_fitted(fitted, tmp_path, monkeypatch):
    shutil.copytree(fitted, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    summary = json.loads((tmp_path / "work/out/summary.json").read_text())
    (tmp_path / "work/out/summary.json").write_text(json.dumps({**summary, "input": "a.csv"}))
    return tmp_path / "work"


def content(folder):
    """All files below a folder with their bytes."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refuse(work, capsys, words, expected):
    before = content(work)
    check_one_line(*run(capsys, words), expected)
    assert content(work) == before
    assert not list(work.rglob(".pyrocco*"))


def test_predict_does_not_replace_a_folder(work, capsys):
    (work / "d.parquet").mkdir()
    (work / "d.parquet" / "part-0000.parquet").write_text("mine")
    words = ["predict", "out", "a.csv", "-q", "-o", "d.parquet"]
    refuse(work, capsys, words, ["d.parquet", "is a folder"])
    refuse(work, capsys, [*words, "--force"], ["d.parquet", "is a folder"])


def test_predict_replaces_a_file_only_by_force(work, capsys):
    (work / "labels.csv").write_text("mine")
    words = ["predict", "out", "a.csv", "-q", "-o", "labels.csv"]
    refuse(work, capsys, words, ["labels.csv", "exists already", "--force"])
    assert main([*words, "--force"]) == 0
    assert pd.read_csv(work / "labels.csv")["name"][0] == "r0"


@pytest.mark.parametrize("alias", ["a.csv", "link.csv", "hard.csv", "../work/a.csv"])
def test_predict_does_not_overwrite_its_input(work, capsys, alias):
    (work / "link.csv").symlink_to("a.csv")
    os.link(work / "a.csv", work / "hard.csv")
    for force in ([], ["--force"]):
        words = ["predict", "out", "a.csv", "-q", "-o", alias, *force]
        refuse(work, capsys, words, [alias, "is an input"])


def test_predict_does_not_overwrite_its_model(work, capsys):
    shutil.copy(work / "out" / "model.pyrocco", work / "model.csv")
    words = ["predict", "model.csv", "a.csv", "-q", "-o", "model.csv", "--force"]
    refuse(work, capsys, words, ["model.csv", "is an input"])


def test_fit_does_not_overwrite_its_input(work, capsys):
    shutil.copy("a.csv", "row_labels.csv")
    for force in ([], ["--force"]):
        words = ["fit", "row_labels.csv", "-o", ".", *FIT, *force]
        refuse(work, capsys, words, ["row_labels.csv", "is an input"])


def test_fit_of_many_files_does_not_overwrite_one_of_them(work, capsys):
    (work / "many").mkdir()
    for name in ("part-1.csv", "row_labels.csv"):
        shutil.copy("a.csv", work / "many" / name)
    words = ["fit", "many/*.csv", "-o", "many", "-q", "--force"]
    refuse(work, capsys, words, ["row_labels.csv", "is an input"])


def test_results_do_not_go_into_the_input(work, capsys):
    (work / "x.zarr").mkdir()
    words = ["fit", "x.zarr", "-o", "x.zarr/out", "-q"]
    refuse(work, capsys, words, ["x.zarr/out", "is inside the input"])


@pytest.mark.parametrize("name", ["report.html", "heatmap.png", "summary.json", "row_labels.csv"])
def test_fit_does_not_replace_a_folder(work, capsys, name):
    (work / "new" / name).mkdir(parents=True)
    (work / "new" / name / "mine.txt").write_text("mine")
    for force in ([], ["--force"]):
        words = ["fit", "a.csv", "-o", "new", "-q", *force]
        refuse(work, capsys, words, [name, "was not written by pyrocco"])


def test_fit_does_not_replace_files_of_somebody_else(work, capsys):
    (work / "new").mkdir()
    (work / "new" / "heatmap.png").write_text("mine")
    words = ["fit", "a.csv", "-o", "new", *FIT]
    refuse(work, capsys, words, ["heatmap.png", "exists already", "--force"])
    assert main([*words, "--force"]) == 0
    assert (work / "new" / "heatmap.png").read_bytes().startswith(b"\x89PNG")


def test_results_of_the_same_input_are_replaced(work):
    assert main(["fit", str(work / "a.csv"), "-o", "out", *FIT, "--seed", "7"]) == 0
    summary = json.loads((work / "out" / "summary.json").read_text())
    assert summary["parameters"]["random_state"] == 7


def test_results_of_another_input_are_replaced_only_by_force(work, capsys):
    shutil.copy("a.csv", "b.csv")
    words = ["fit", "b.csv", "-o", "out", *FIT]
    refuse(work, capsys, words, ["out", "a fit of a.csv", "--force"])
    assert main([*words, "--force"]) == 0
    assert json.loads((work / "out" / "summary.json").read_text())["input"] == "b.csv"


def test_a_user_may_keep_other_files_beside_the_results(work):
    (work / "out" / "notes.txt").write_text("mine")
    assert main(["fit", "a.csv", "-o", "out", *FIT]) == 0
    assert (work / "out" / "notes.txt").read_text() == "mine"


def test_results_that_are_not_written_again_do_not_stay_beside_new_ones(work):
    assert main(["fit", "a.csv", "-o", "out", *FIT, "--output-format", "parquet"]) == 0
    names = {path.name for path in (work / "out").iterdir()}
    assert "row_labels.parquet" in names
    assert not {"row_labels.csv", "column_labels.csv", "block_means.csv"} & names


def test_a_summary_cannot_name_other_files(work):
    """A summary is a file that anybody may have written."""
    path = work / "out" / "summary.json"
    summary = json.loads(path.read_text())
    summary["files"] += ["../a.csv", str(work / "a.csv"), "notes.txt", 3]
    path.write_text(json.dumps(summary))
    (work / "out" / "notes.txt").write_text("mine")
    assert earlier_results(work / "out").files <= RESULT_NAMES
    assert main(["fit", "a.csv", "-o", "out", *FIT]) == 0
    assert (work / "a.csv").exists()
    assert (work / "out" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"versions": 3}', '{"versions": {"pyrocco": 1}}', "[" * 10**5]
)
def test_a_summary_of_something_else_is_not_ours(tmp_path, text):
    (tmp_path / "summary.json").write_text(text)
    assert earlier_results(tmp_path) is None


def test_report_does_not_replace_a_folder(work, capsys):
    (work / "out" / "report.html").mkdir()
    (work / "out" / "report.html" / "mine.txt").write_text("mine")
    refuse(work, capsys, ["report", "out", "-q"], ["report.html", "was not written by pyrocco"])


def test_demo_may_run_twice_but_replaces_nothing_else(tmp_path, capsys):
    (tmp_path / "matrix.csv").write_text("mine")
    words = ["demo", "-o", str(tmp_path), "-q"]
    refuse(tmp_path, capsys, words, ["matrix.csv", "exists already"])


def test_folders_of_row_labels_are_replaced(work, monkeypatch):
    """More than a million row labels are written as a folder of Parquet files."""
    monkeypatch.setattr("pyrocco.io.result_files.MOST_ROWS_OF_CSV", 10)
    (work / "many").mkdir()
    shutil.copy("a.csv", work / "many" / "part-1.csv")
    words = ["fit", "many/*.csv", "-o", "chunked", "-q"]
    assert main(words) == 0
    assert main(words) == 0
    labels = work / "chunked" / "row_labels.parquet"
    assert [path.name for path in labels.iterdir()] == ["part-0000.parquet"]
    monkeypatch.setattr("pyrocco.io.result_files.MOST_ROWS_OF_CSV", 10**6)
    assert main(words) == 0
    assert not labels.exists()
    assert len(pd.read_csv(work / "chunked" / "row_labels.csv")) == 30


def test_a_file_in_a_folder_of_row_labels_stays(work, capsys, monkeypatch):
    monkeypatch.setattr("pyrocco.io.result_files.MOST_ROWS_OF_CSV", 10)
    (work / "many").mkdir()
    shutil.copy("a.csv", work / "many" / "part-1.csv")
    words = ["fit", "many/*.csv", "-o", "chunked", "-q"]
    assert main(words) == 0
    (work / "chunked" / "row_labels.parquet" / "mine.txt").write_text("mine")
    refuse(work, capsys, [*words, "--force"], ["row_labels.parquet", "was not written by pyrocco"])


def test_names_that_look_like_formulas(tmp_path, capsys):
    names = ["=1+1", "+x", "-80C", "@a", "-1.5", "plain", *(f"r{i}" for i in range(14))]
    X = np.random.default_rng(0).normal(size=(20, 12)) + np.repeat([0, 5], 10)[:, None]
    pd.DataFrame(X, index=names).to_csv(tmp_path / "a.csv")
    words = ["fit", str(tmp_path / "a.csv"), "-o", str(tmp_path / "out"), *FIT]
    assert main(words) == 0
    table = pd.read_csv(tmp_path / "out" / "row_labels.csv")
    assert table["name"][:6].tolist() == ["'=1+1", "'+x", "'-80C", "'@a", "-1.5", "plain"]
    assert main([*words, "--unescaped"]) == 0
    table = pd.read_csv(tmp_path / "out" / "row_labels.csv")
    assert table["name"].tolist() == names
    predict = ["predict", str(tmp_path / "out"), str(tmp_path / "a.csv"), "-q"]
    for option, first in (([], "'=1+1"), (["--unescaped"], "=1+1")):
        capsys.readouterr()
        assert main([*predict, *option]) == 0
        assert capsys.readouterr().out.splitlines()[1].startswith(first + ",")
