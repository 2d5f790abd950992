"""Writing results as CSV, Parquet and AnnData files."""

import sys

import anndata
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from pyrocco.io import (
    Matrix,
    MissingExtraError,
    Results,
    result_writer,
    row_label_writer,
    staged_folder,
)
from pyrocco.io.result_files import ChunkedRows, SideClusters


def results():
    matrix = Matrix(np.eye(3, 2), ("a", 'say "b, c"', "a"), ("x", "y"))
    return Results(
        matrix,
        SideClusters(np.array([0, 1, 0]), np.array([1, 0.5, 0.25]), np.array([0.75, 0.5])),
        SideClusters(np.array([1, 0])),
        np.array([[0.1, 2.0], [3, 4]]),
        {"row_cluster": [0], "column": ["x"], "mean": [0.5]},
        {"k": 1},
    )


def test_results_as_csv(tmp_path):
    names = result_writer("csv")(tmp_path, results())
    assert names == ["row_labels.csv", "column_labels.csv", "block_means.csv", "explanation.csv"]
    labels = (tmp_path / "row_labels.csv").read_text().splitlines()
    assert labels == [
        "name,label,membership,stability",
        "a,0,1.0,0.75",
        '"say ""b, c""",1,0.5,0.5',
        "a,0,0.25,0.75",
    ]
    assert (tmp_path / "column_labels.csv").read_text() == "name,label\nx,1\ny,0\n"
    assert (tmp_path / "explanation.csv").read_text() == "row_cluster,column,mean\n0,x,0.5\n"
    assert (tmp_path / "block_means.csv").read_text() == (
        "row_cluster,column_cluster_0,column_cluster_1\n0,0.1,2.0\n1,3.0,4.0\n"
    )


def test_results_as_parquet_are_those_of_the_csv(tmp_path):
    result_writer("csv")(tmp_path, results())
    for name in result_writer("parquet")(tmp_path, results()):
        path = tmp_path / name
        pd.testing.assert_frame_equal(
            parquet.read_table(path).to_pandas(), pd.read_csv(path.with_suffix(".csv"))
        )


@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_results_as_anndata(tmp_path):
    names = result_writer("h5ad")(tmp_path, results())
    assert names == ["clusters.h5ad", "explanation.csv"]
    data = anndata.read_h5ad(tmp_path / names[0])
    assert data.obs["rocco_membership"].tolist() == [1, 0.5, 0.25]
    assert data.obs["rocco_stability"].tolist() == [0.75, 0.5, 0.75]
    assert list(data.var) == ["rocco"]
    assert data.obs["rocco"].tolist() == ["0", "1", "0"]
    assert data.var["rocco"].cat.categories.tolist() == ["0", "1"]
    assert data.obs_names.tolist() == ["a", 'say "b, c"', "a"]
    np.testing.assert_array_equal(data.X, np.eye(3, 2))
    np.testing.assert_array_equal(data.uns["rocco"]["block_means"], results().block_means)


@pytest.mark.parametrize(("name", "package"), [("parquet", "pyarrow"), ("h5ad", "anndata")])
def test_a_result_format_is_refused_before_the_work(monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match="pip install"):
        result_writer(name)


def test_a_failure_leaves_the_folder_as_it_was(tmp_path):
    (tmp_path / "row_labels.csv").write_text("before")

    def fail_half_way():
        with staged_folder(tmp_path) as stage:
            (stage / "row_labels.csv").write_text("after")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_half_way()
    assert [path.name for path in tmp_path.iterdir()] == ["row_labels.csv"]
    assert (tmp_path / "row_labels.csv").read_text() == "before"


def test_row_labels_as_one_parquet_file_per_chunk(tmp_path):
    labels, membership = da.arange(4, chunks=2), da.ones(4, chunks=2)
    rows = ChunkedRows(labels, membership, None, np.array([0.1, 0.2, 0.3, 0.4]))
    assert row_label_writer("parquet", 4)(tmp_path, rows) == "row_labels.parquet"
    folder = tmp_path / "row_labels.parquet"
    assert sorted(path.name for path in folder.iterdir()) == [
        "part-0000.parquet",
        "part-0001.parquet",
    ]
    assert pd.read_parquet(folder).to_numpy().tolist()[-1] == ["row_3", 3, 1.0, 0.4]
