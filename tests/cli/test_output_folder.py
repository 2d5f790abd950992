"""The folder of the results if none is named, and the formats of the heat map."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyrocco.cli import main
from pyrocco.io.result_folder import default_folder


@pytest.fixture
def here(tmp_path, planted, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    table = pd.DataFrame(planted[0]).rename("g{}".format).rename(columns="s{}".format)
    table.to_csv(tmp_path / "data" / "counts.v2.csv.gz")
    return tmp_path


def fit(*words):
    return main(["fit", "data/counts.v2.csv.gz", "-q", "--no-report", *words])


@pytest.mark.parametrize(
    ("source", "folder"),
    [
        ("counts.csv", "counts-pyrocco"),
        ("../far/counts.tsv.gz", "counts-pyrocco"),
        ("GSM1.v2_matrix.mtx.gz", "GSM1.v2_matrix-pyrocco"),
        ("data/*.parquet", "data-pyrocco"),
        ("data/part-*/x?.csv", "data-pyrocco"),
        ("cells.zarr", "cells-pyrocco"),
        ("filtered_feature_bc_matrix", "filtered_feature_bc_matrix-pyrocco"),
        (".hidden.csv", "hidden-pyrocco"),
    ],
)
def test_the_name_of_the_folder(source, folder):
    assert default_folder(Path(source)) == Path(folder)


def test_inputs_without_a_name_have_that_of_their_folder(here):
    assert default_folder(Path()) == Path(f"{here.name}-pyrocco")
    assert default_folder(Path("*.csv")) == Path(f"{here.name}-pyrocco")


def test_results_are_beside_the_current_folder_and_renewed(here):
    assert fit() == 0
    out = here / "counts.v2-pyrocco"
    assert sorted(path.name for path in here.iterdir()) == ["counts.v2-pyrocco", "data"]
    before = json.loads((out / "summary.json").read_text())
    assert fit("--n-clusters", "2") == 0
    after = json.loads((out / "summary.json").read_text())
    assert (before["n_row_clusters"], after["n_row_clusters"]) == (3, 2)


def test_nothing_that_is_not_ours_is_replaced(here, capsys):
    out = here / "counts.v2-pyrocco"
    out.mkdir()
    (out / "heatmap.png").write_text("mine")
    assert fit() == 2
    assert "there is no sign that pyrocco wrote it" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["heatmap.png"]
    (out / "heatmap.png").rename(out / "notes.txt")
    assert fit() == 0
    assert (out / "notes.txt").read_text() == "mine"


def test_results_of_another_file_of_the_same_name_are_kept(here, capsys):
    assert fit() == 0
    (here / "other").mkdir()
    np.save(here / "other" / "counts.v2.npy", np.eye(9))
    assert main(["fit", "other/counts.v2.npy", "-q"]) == 2
    assert "results of a fit of data/counts.v2.csv.gz" in capsys.readouterr().err


def test_formats_of_the_heat_map(here):
    out = here / "counts.v2-pyrocco"
    assert fit("--format", "pdf, svg,pdf") == 0
    assert (out / "heatmap.pdf").read_bytes().startswith(b"%PDF")
    assert b"<svg" in (out / "heatmap.svg").read_bytes()
    assert not (out / "heatmap.png").exists()
    assert {"heatmap.pdf", "heatmap.svg"} < set(
        json.loads((out / "summary.json").read_text())["files"]
    )
    same = (out / "heatmap.pdf").read_bytes(), (out / "heatmap.svg").read_bytes()
    # The same fit gives the same files, and files of an earlier fit do not stay.
    assert fit("--format", "pdf,svg,png") == 0
    assert ((out / "heatmap.pdf").read_bytes(), (out / "heatmap.svg").read_bytes()) == same
    assert fit() == 0
    assert [path.name for path in out.glob("heatmap.*")] == ["heatmap.png"]


def test_unknown_formats_are_refused_before_any_work(here, capsys):
    assert fit("--format", "png,jpg") == 2
    message = capsys.readouterr().err
    assert "--format" in message
    assert "png, pdf, svg" in message
    assert sorted(path.name for path in here.iterdir()) == ["data"]
    (here / "data" / "a.csv").write_text("a,b\n1,2\n")
    assert main(["fit", "data/*.csv", "--format", "pdf"]) == 2
    assert "--format has no effect" in capsys.readouterr().err


def test_explanation_and_labels(here):
    assert fit() == 0
    out = here / "counts.v2-pyrocco"
    table = pd.read_csv(out / "explanation.csv")
    assert set(table["kind"]) == {"block", "column"}
    assert table.loc[table["kind"] == "column", "column"].str.fullmatch(r"s\d+").all()
    means = pd.read_csv(out / "block_means.csv", index_col=0).to_numpy()
    blocks = table[table["kind"] == "block"]
    np.testing.assert_allclose(
        blocks["mean"], means[blocks["row_cluster"], blocks["column_cluster"]]
    )
    labels = pd.read_csv(out / "row_labels.csv")
    assert labels.columns.tolist() == ["name", "label", "membership", "stability"]
    assert labels["membership"].between(0, 1).all()
    assert len(labels[["label", "stability"]].drop_duplicates()) == labels["label"].max() + 1
