"""``pyrocco fit`` of a matrix in many files, within a limit of memory and on a cluster."""

import json
import warnings
from contextlib import ExitStack

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import zarr
from distributed import LocalCluster, get_client
from sklearn.datasets import make_biclusters
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.backends import NumpyBackend
from pyrocco.backends.chunked.dask import ClusterLostError
from pyrocco.cli import dask_cluster, main
from pyrocco.fitting.result import Represented
from pyrocco.inspection import Cells
from pyrocco.io import result_files
from pyrocco.results.answers import Answers

SMALL = {"column_labels.csv", "block_means.csv", "summary.json"}


@pytest.fixture(scope="module", name="truth")
def make_truth():
    X, rows, columns = make_biclusters((90, 40), 3, noise=5, random_state=0)
    return X, rows.argmax(axis=0), columns.argmax(axis=0)


@pytest.fixture(scope="module", name="folder")
def write_matrix(truth, tmp_path_factory):
    """The same matrix in Parquet, in CSV, in Zarr and in one file."""
    folder = tmp_path_factory.mktemp("data")
    frame = pd.DataFrame(truth[0], columns=[f"s{j}" for j in range(40)])
    frame.index = [f"g{i}" for i in range(90)]
    for part in range(3):
        rows = frame.iloc[30 * part : 30 * part + 30]
        rows.to_parquet(folder / f"part-{part}.parquet")
        rows.to_csv(folder / f"part-{part}.csv", index_label="gene")
    frame.to_csv(folder / "whole.csv.gz", index_label="gene")
    zarr.create_array(folder / "x.zarr", data=truth[0], chunks=(40, 40))
    return folder


@pytest.fixture(name="fits")
def fake_fits(monkeypatch, truth):
    """In place of the fit: what it was given, and the labels that are known."""
    seen = []

    def fit(self, X, *, checkpoint, observer):
        checkpoint.open(self.get_params(), np.zeros((1, 1)), NumpyBackend())
        seen.append((self, X))
        _, rows, columns = truth
        self.row_labels_ = da.from_array(rows, chunks=(X.chunks[0],))
        self.row_membership_ = da.ones(len(rows), chunks=(X.chunks[0],))
        self.column_labels_, self.column_membership_ = columns, np.ones(len(columns))
        self.n_row_clusters_ = self.n_column_clusters_ = 3
        self.row_stability_ = self.column_stability_ = np.array([0.9, 0.8, 0.7])
        self.block_means_, self.cell_weights_ = np.eye(3), None
        self.structure_ = "abundance"
        self._answers = Answers(represented=Represented(None, (None, None), [{}] * 7, True))
        cells = Cells("real values", (), "The fit uses the values as they are.")
        self.found_cells_, self.cells_, self.preparation_ = cells, cells.kind, cells.sentence
        return self

    monkeypatch.setattr(ROCCO, "fit", fit)
    return seen


@pytest.fixture(name="start")
def start_clusters():
    """Clusters that live in this process, which are quick to start."""
    with ExitStack() as running_now:
        quick = {"processes": False, "threads_per_worker": 1, "protocol": "tcp"}
        yield (
            lambda n_workers: (
                running_now.enter_context(
                    LocalCluster(n_workers=n_workers, dashboard_address=":0", **quick)
                ).scheduler_address
            )
        )


def check_refused(capsys, code, *words):
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.startswith("pyrocco: ")
    assert captured.err.count("\n") == 1
    for word in words:
        assert word in captured.err


@pytest.mark.parametrize("pattern", ["*.parquet", "part-*.csv", "x.zarr"])
def test_labels_means_and_summary(folder, fits, truth, tmp_path, capsys, pattern):
    source = str(folder / pattern)
    assert main(["fit", source, "-o", str(tmp_path)]) == 0
    X = fits[0][1]
    np.testing.assert_array_equal(X.compute(), truth[0])
    assert {path.name for path in tmp_path.iterdir()} == {"row_labels.csv", *SMALL}
    table = pd.read_csv(tmp_path / "row_labels.csv")
    assert table.columns.tolist() == ["name", "label", "membership", "stability"]
    prefix = "row_" if "zarr" in pattern else "g"
    assert table["name"].tolist() == [f"{prefix}{i}" for i in range(90)]
    np.testing.assert_array_equal(table["label"], truth[1])
    np.testing.assert_allclose(table["stability"], 0.9 - 0.1 * truth[1])
    columns = pd.read_csv(tmp_path / "column_labels.csv")
    np.testing.assert_array_equal(columns["label"], truth[2])
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["input"] == source
    assert summary["shape"] == [90, 40]
    assert summary["row_cluster_sizes"] == np.bincount(truth[1]).tolist()
    assert set(summary["files"]) == {"row_labels.csv", *SMALL}
    captured = capsys.readouterr()
    assert captured.err.count("no heat map, no report and no model file") == 1
    assert "Found 3 clusters of rows and 3 clusters of columns." in captured.out


def test_quiet_and_json(folder, fits, tmp_path, capsys):
    words = ["fit", str(folder / "*.parquet"), "-o", str(tmp_path), "-q"]
    assert main(words) == 0
    assert capsys.readouterr() == ("", "")
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_row_clusters"] == 3


def test_parquet_on_request_and_for_many_rows(folder, fits, truth, tmp_path, monkeypatch):
    words = ["fit", str(folder / "*.parquet"), "-o", str(tmp_path), "-q"]
    assert main([*words, "--output-format", "parquet"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "row_labels.parquet",
        "column_labels.parquet",
        "block_means.parquet",
        "summary.json",
    }
    # Again into the same folder, for another reason.
    monkeypatch.setattr(result_files, "MOST_ROWS_OF_CSV", 89)
    assert main(words) == 0
    parts = sorted((tmp_path / "row_labels.parquet").iterdir())
    assert [path.name for path in parts] == [f"part-000{i}.parquet" for i in range(3)]
    table = pd.read_parquet(tmp_path / "row_labels.parquet")
    np.testing.assert_array_equal(table["label"], truth[1])
    assert table["name"].tolist() == [f"g{i}" for i in range(90)]
    assert (tmp_path / "column_labels.csv").exists()


def test_a_memory_limit_goes_to_the_estimator(folder, fits, tmp_path):
    words = ["-o", str(tmp_path), "-q", "--memory-limit", "2GB"]
    assert main(["fit", str(folder / "*.parquet"), *words]) == 0
    assert fits[0][0].memory_limit == 2_000_000_000


def test_a_single_file_within_a_limit_has_its_report(folder, truth, tmp_path):
    words = ["-o", str(tmp_path), "-q", "--memory-limit", "2GB"]
    assert main(["fit", str(folder / "whole.csv.gz"), *words]) == 0
    assert (tmp_path / "report.html").exists()
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["parameters"]["memory_limit"] == 2_000_000_000


def test_too_low_a_limit_says_how_much_is_needed(folder, tmp_path, capsys):
    words = ["-o", str(tmp_path / "out"), "-q", "--memory-limit", "1MB"]
    code = main(["fit", str(folder / "whole.csv.gz"), *words])
    check_refused(capsys, code, "A matrix of 90 x 40 needs", "cluster")


def test_a_single_file_may_be_transposed_and_prepared(fits, truth, start, tmp_path):
    path = tmp_path / "small.csv"
    names = [f"g{i}" for i in range(90)]
    pd.DataFrame(np.exp(truth[0].T / 100), columns=names).to_csv(path, index=False)
    words = ["fit", str(path), "-o", str(tmp_path), "-q", "--cluster", start(1)]
    assert main([*words, "--transpose", "--log1p"]) == 0
    assert pd.read_csv(tmp_path / "row_labels.csv")["name"].tolist() == names
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["parameters"]["prepare"] == ["log1p"]
    assert summary["reading"]["transpose"]


@pytest.mark.parametrize(
    "option",
    [
        ["--transpose"],
        ["--layer", "counts"],
        ["--raw"],
        ["--sheet", "a"],
        ["--layout", "wide"],
        ["--absent", "zero"],
    ],
)
def test_options_without_effect_are_refused(folder, tmp_path, capsys, option):
    code = main(["fit", str(folder / "*.parquet"), "-o", str(tmp_path / "out"), *option])
    check_refused(capsys, code, f"{option[0]} has no effect on a matrix in many files")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("--output-format h5ad", "--output-format h5ad needs the whole matrix"),
        ("--cluster four", "write local for this machine"),
        ("--cluster local:0", "write local for this machine"),
        ("--memory-limit much", "write a size such as 4GB"),
        ("--memory-limit 0", "write a size such as 4GB"),
        ("--cluster tcp://a:1 --memory-limit 4GB", "has no effect on the workers of tcp://a:1"),
    ],
)
def test_bad_options(folder, tmp_path, capsys, words, reason):
    code = main(["fit", str(folder / "*.parquet"), "-o", str(tmp_path), *words.split()])
    check_refused(capsys, code, reason)


def test_no_file(tmp_path, capsys):
    code = main(["fit", str(tmp_path / "*.parquet"), "-o", str(tmp_path / "out")])
    check_refused(capsys, code, "no file matches this pattern", "quotation marks")


def test_a_bad_file_is_named(folder, tmp_path, capsys, monkeypatch):
    for name in ("1", "2"):
        cell = "low" if name == "2" else "3"
        (tmp_path / f"{name}.csv").write_text(f"x,y\n1,2\n2,3\n3,1\n4,{cell}\n")
    monkeypatch.setattr(ROCCO, "fit", lambda self, X, **options: X.compute())
    code = main(["fit", str(tmp_path / "*.csv"), "-o", str(tmp_path / "out"), "-q"])
    check_refused(capsys, code, "2.csv: row 4", '"y"', "low")


def test_a_lost_cluster_is_one_line(folder, tmp_path, capsys, monkeypatch):
    def fit(self, X, **options):
        raise ClusterLostError("The workers died.")

    monkeypatch.setattr(ROCCO, "fit", fit)
    code = main(["fit", str(folder / "*.parquet"), "-o", str(tmp_path / "out"), "-q"])
    check_refused(capsys, code, "The workers died.")


def test_no_scheduler_answers(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(dask_cluster, "_SECONDS_TO_ANSWER", 0.2)
    words = ["fit", str(folder / "*.parquet"), "-o", str(tmp_path / "out"), "-q"]
    code = main([*words, "--cluster", "tcp://127.0.0.1:9"])
    check_refused(capsys, code, "no Dask scheduler answers", "dask scheduler", "dask worker")


@pytest.mark.parametrize("source", ["whole.csv.gz", "*.parquet"])
def test_on_a_cluster_that_runs(folder, fits, truth, start, tmp_path, monkeypatch, source):
    seen = []
    fake = ROCCO.fit

    def fit(self, X, **options):
        with warnings.catch_warnings(action="error"):
            seen.append(get_client().scheduler.address)
            np.testing.assert_array_equal(X.compute(), truth[0])
        return fake(self, X, **options)

    monkeypatch.setattr(ROCCO, "fit", fit)
    address = start(2)
    words = ["fit", str(folder / source), "-o", str(tmp_path), "-q", "--cluster", address]
    assert main(words) == 0
    assert seen == [address]
    assert fits[0][1].npartitions == (2 if source == "whole.csv.gz" else 3)
    table = pd.read_csv(tmp_path / "row_labels.csv")
    assert table["name"].tolist() == [f"g{i}" for i in range(90)]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert len(summary["worker_peak_memory"]) == 2


def test_a_cluster_without_workers(folder, start, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(dask_cluster, "_SECONDS_TO_ANSWER", 0.5)
    words = ["fit", str(folder / "*.parquet"), "-o", str(tmp_path / "out"), "-q"]
    code = main([*words, "--cluster", start(0)])
    check_refused(capsys, code, "the scheduler has no workers", "dask worker tcp://")


@pytest.mark.slow
def test_on_a_local_cluster(folder, truth, tmp_path, capfd):
    """Processes are started, each reads its chunks, and all have ended afterwards."""
    words = ["--cluster", "local:2", "--memory-limit", "4GB", "-q"]
    assert main(["fit", str(folder / "*.parquet"), "-o", str(tmp_path), *words]) == 0
    assert capfd.readouterr() == ("", "")
    summary = json.loads((tmp_path / "summary.json").read_text())
    peaks = summary["worker_peak_memory"]
    assert len(peaks) == 2
    assert all(10_000_000 < peak < 2_000_000_000 for peak in peaks.values())
    labels = pd.read_csv(tmp_path / "row_labels.csv")
    assert adjusted_rand_score(labels["label"], truth[1]) == 1
    columns = pd.read_csv(tmp_path / "column_labels.csv")
    assert adjusted_rand_score(columns["label"], truth[2]) == 1
