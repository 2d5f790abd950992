"""``pyrocco fit``: the numbers it writes are those of the library."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
from scipy.io import mmwrite
from sklearn.exceptions import ConvergenceWarning

from pyrocco import ROCCO, reproducibility
from pyrocco.cli import main
from pyrocco.cli.terminal import warnings_as_lines
from pyrocco.prepare import prepare

SCRIPT = Path(sys.executable).parent / "pyrocco"
TABLES = {"row_labels.csv", "column_labels.csv", "block_means.csv", "explanation.csv"}
FILES = TABLES | {"summary.json", "heatmap.png", "model.pyrocco", "report.html"}


@pytest.fixture(scope="module", name="X")
def make_matrix():
    """Three by three blocks, counts, half of the cells zero or more."""
    rng = np.random.default_rng(0)
    means = np.array([[9.0, 0.1, 0.1], [0.1, 7.0, 0.1], [0.1, 0.1, 5.0]])
    rows, columns = rng.integers(0, 3, 60), rng.integers(0, 3, 45)
    return rng.poisson(means[rows][:, columns]).astype(float)


@pytest.fixture
def table(tmp_path, X):
    path = tmp_path / "counts.csv"
    rows, columns = [f"g{i}" for i in range(60)], [f"s{j}" for j in range(45)]
    pd.DataFrame(X, index=rows, columns=columns).to_csv(path, index_label="gene")
    return path


def labels(folder, side):
    return pd.read_csv(folder / f"{side}_labels.csv")


def test_writes_what_the_library_finds(tmp_path, table, X, capsys):
    out = tmp_path / "new" / "out"
    assert main(["fit", str(table), "-o", str(out)]) == 0
    model = ROCCO().fit(X)
    assert {path.name for path in out.iterdir()} == FILES
    assert labels(out, "row")["name"].tolist() == [f"g{i}" for i in range(60)]
    assert labels(out, "column")["name"].tolist() == [f"s{j}" for j in range(45)]
    np.testing.assert_array_equal(labels(out, "row")["label"], model.row_labels_)
    np.testing.assert_array_equal(labels(out, "column")["label"], model.column_labels_)
    means = pd.read_csv(out / "block_means.csv", index_col="row_cluster")
    np.testing.assert_allclose(means.to_numpy(), model.block_means_, rtol=1e-12)
    assert means.columns.tolist() == [f"column_cluster_{k}" for k in range(means.shape[1])]
    assert (out / "heatmap.png").read_bytes().startswith(b"\x89PNG")
    captured = capsys.readouterr()
    assert f"Found {model.n_row_clusters_} clusters of rows" in captured.out
    assert str(out) in captured.out
    assert 'The first column ("gene") holds the row names.' in captured.err
    assert "The matrix has 60 rows and 45 columns." in captured.err


def test_the_summary_says_how_to_repeat_a_fit(tmp_path, table, X):
    words = "--n-clusters 3,2 --n-neighbors 7 --metric cosine --variant refined --seed 5 --quiet"
    assert main(["fit", str(table), "-o", str(tmp_path), *words.split()]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    parameters = summary["parameters"]
    assert parameters["n_clusters"] == [3, 2]
    assert parameters["n_neighbors"] == 7
    assert (parameters["metric"], parameters["variant"]) == ("cosine", "refined")
    assert parameters["random_state"] == 5
    assert summary["shape"] == [60, 45]
    assert summary["density"] == pytest.approx(np.count_nonzero(X) / X.size)
    assert (summary["n_row_clusters"], summary["n_column_clusters"]) == (3, 2)
    assert sum(summary["row_cluster_sizes"]) == 60
    assert sum(summary["column_cluster_sizes"]) == 45
    assert summary["input"] == str(table)
    assert summary["notes"][0] == "Cells are separated by commas."
    assert isinstance(summary["converged"], bool)
    assert summary["structure"] in ("blocks", "gradient", "features")
    assert 0 < summary["mean_row_membership"] <= 1
    assert summary["outlier_cells"] >= 0
    assert summary["iterations"] == 0  # the labels of a complete matrix need none
    assert summary["seconds"] > 0
    assert {"python", "pyrocco", "numpy"} <= set(summary["versions"])
    model = ROCCO((3, 2), n_neighbors=7, metric="cosine", random_state=5).fit(X)
    np.testing.assert_array_equal(labels(tmp_path, "row")["label"], model.row_labels_)


def test_paper_variant(tmp_path, table, X):
    words = ["--variant", "paper", "--n-clusters", "3", "-q"]
    assert main(["fit", str(table), "-o", str(tmp_path), *words]) == 0
    with warnings_as_lines():
        model = ROCCO(3, variant="paper").fit(X)
    np.testing.assert_array_equal(labels(tmp_path, "row")["label"], model.row_labels_)


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text())


@pytest.mark.parametrize(
    "words",
    [["--log1p", "--normalize", "--zscore"], ["--prepare", "log1p,normalize,zscore"]],
)
def test_preparations_are_those_of_the_library(tmp_path, table, X, capsys, words):
    assert main(["fit", str(table), "-o", str(tmp_path / "out"), "--transpose", *words]) == 0
    prepared = prepare(np.ascontiguousarray(X.T), ["normalize", "log1p", "zscore"])
    model = ROCCO(prepare=None).fit(prepared)
    np.testing.assert_array_equal(labels(tmp_path / "out", "row")["label"], model.row_labels_)
    assert labels(tmp_path / "out", "row")["name"][0] == "s0"
    assert "standard deviation 1, as asked." in summary_of(tmp_path / "out")["preparation"]
    captured = capsys.readouterr()
    assert "Then rows and columns were swapped." in captured.err
    assert "Cells: counts. The fit scales rows to the same total, then" in captured.out
    assert "--prepare" not in captured.out


def test_the_kind_of_the_cells_decides(tmp_path, table, X, capsys):
    assert main(["fit", str(table), "-o", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "Cells: counts. The fit scales rows to the same total, then takes log(1 + x)" in out
    assert "If they are something else, use --prepare none, zscore or another name." in out
    model = ROCCO().fit(X)
    np.testing.assert_array_equal(labels(tmp_path / "out", "row")["label"], model.row_labels_)
    summary = summary_of(tmp_path / "out")
    assert (summary["cells"], summary["preparation"]) == ("counts", model.preparation_)
    assert summary["parameters"]["prepare"] == "auto"


def test_values_as_they_are(tmp_path, table, X):
    words = ["fit", str(table), "-o", str(tmp_path / "out"), "--prepare", "none", "-q"]
    assert main(words) == 0
    model = ROCCO(prepare=None).fit(X)
    np.testing.assert_array_equal(labels(tmp_path / "out", "row")["label"], model.row_labels_)


def test_unknown_preparations_are_refused_before_the_file_is_read(tmp_path, capsys):
    words = ["fit", str(tmp_path / "none.csv"), "-o", str(tmp_path / "out")]
    assert main([*words, "--prepare", "sqrt"]) == 2
    assert "got ['sqrt']" in capsys.readouterr().err


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_json_is_the_summary_and_nothing_else(tmp_path, table, capsys, quiet):
    assert main(["fit", str(table), "-o", str(tmp_path / "out"), "--json", *quiet]) == 0
    captured = capsys.readouterr()
    written = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert json.loads(captured.out) == written
    assert set(written["files"]) == FILES
    assert bool(captured.err) == (not quiet)


def test_results_as_parquet_and_anndata(tmp_path, table, X):
    out = {name: tmp_path / name for name in ("csv", "parquet", "h5ad")}
    for name, folder in out.items():
        words = ["--output-format", name, "--no-report", "-q"]
        assert main(["fit", str(table), "-o", str(folder), *words]) == 0
        summary = json.loads((folder / "summary.json").read_text())
        assert set(summary["files"]) == {path.name for path in folder.iterdir()}
    for side in ("row_labels", "column_labels", "block_means"):
        again = parquet.read_table(out["parquet"] / f"{side}.parquet").to_pandas()
        pd.testing.assert_frame_equal(again, pd.read_csv(out["csv"] / f"{side}.csv"))
    data = anndata.read_h5ad(out["h5ad"] / "clusters.h5ad")
    assert data.obs["rocco"].astype(int).tolist() == labels(out["csv"], "row")["label"].tolist()
    assert data.var_names[0] == "s0"
    np.testing.assert_array_equal(data.X, X)


SAVERS = {
    "x.tsv": lambda path, X: pd.DataFrame(X).to_csv(path, sep="\t", header=False, index=False),
    "x.npy": np.save,
    "x.npz": lambda path, X: sparse.save_npz(path, sparse.csr_array(X)),
    "x.mtx": lambda path, X: mmwrite(path, sparse.coo_array(X)),
    "x.parquet": lambda path, X: parquet.write_table(pa.table(list(X.T), NAMES), path),
    "x.xlsx": lambda path, X: pd.DataFrame(X).to_excel(path, index=False, header=False),
}
NAMES = [f"column_{j}" for j in range(45)]


@pytest.mark.parametrize("name", SAVERS)
def test_every_format_gives_the_labels_of_its_matrix(tmp_path, X, name):
    SAVERS[name](tmp_path / name, X)
    out = tmp_path / "out"
    assert main(["fit", str(tmp_path / name), "-o", str(out), "-q"]) == 0
    is_sparse = name in ("x.npz", "x.mtx")
    model = ROCCO().fit(sparse.csr_array(X) if is_sparse else X)
    np.testing.assert_array_equal(labels(out, "row")["label"], model.row_labels_)
    np.testing.assert_array_equal(labels(out, "column")["label"], model.column_labels_)
    assert labels(out, "row")["name"][0] == "row_0"
    assert labels(out, "column")["name"].iloc[-1] == "column_44"


def test_anndata_gives_the_labels_of_the_layer(tmp_path, X):
    path, out = tmp_path / "x.h5ad", tmp_path / "out"
    anndata.AnnData(X + 1, layers={"counts": X}).write_h5ad(path)
    assert main(["fit", str(path), "-o", str(out), "-q", "--layer", "counts"]) == 0
    np.testing.assert_array_equal(labels(out, "row")["label"], ROCCO().fit(X).row_labels_)


CORE_ONLY = """
import sys
class Absent:
    def find_spec(self, name, *_):
        if name in ("pyarrow", "anndata", "h5py", "python_calamine"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from pyrocco.cli import main
words = sys.argv[1:]
assert main(words) == 0
sys.exit(main([*words, "--output-format", "h5ad"]))
"""


@pytest.mark.slow
def test_the_core_install_is_enough_for_plain_tables(tmp_path, table):
    words = ["fit", str(table), "-o", str(tmp_path / "out"), "-q"]
    command = [sys.executable, "-c", CORE_ONLY, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert done.stderr.startswith("pyrocco: AnnData files")
    assert 'pip install "pyrocco[anndata]"' in done.stderr
    assert done.stderr.count("\n") == 1


def test_quiet_prints_nothing(tmp_path, table, capsys):
    assert main(["fit", str(table), "-o", str(tmp_path / "out"), "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == ""


def test_warnings_are_one_line_and_in_the_summary(tmp_path, table, capsys, monkeypatch):
    def fit(self, X, **options):
        for _ in range(2):
            warnings.warn("The representation did not\n settle.", ConvergenceWarning, stacklevel=1)
        return real(self, X, **options)

    real = ROCCO.fit
    monkeypatch.setattr(ROCCO, "fit", fit)
    assert main(["fit", str(table), "-o", str(tmp_path / "out"), "-q"]) == 0
    assert capsys.readouterr().err == "warning: The representation did not settle.\n"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["warnings"] == ["The representation did not settle."]


def test_a_stop_leaves_what_was_there(tmp_path, table, capsys, monkeypatch):
    def stop(self, X, **options):
        raise KeyboardInterrupt

    out = tmp_path / "out"
    out.mkdir()
    (out / "row_labels.csv").write_text("before")
    monkeypatch.setattr(ROCCO, "fit", stop)
    assert main(["fit", str(table), "-o", str(out), "-q", "--force"]) == 130
    assert main(["fit", str(table), "-o", str(tmp_path / "new"), "-q"]) == 130
    assert [path.name for path in out.iterdir()] == ["row_labels.csv"]
    assert (out / "row_labels.csv").read_text() == "before"
    assert not (tmp_path / "new").exists()
    assert "stopped" in capsys.readouterr().err


@pytest.mark.slow
def test_the_console_script_writes_the_same(tmp_path, table):
    out = tmp_path / "out"
    done = subprocess.run(
        [SCRIPT, "fit", table, "-o", out],
        capture_output=True,
        text=True,
        check=False,
        # A picture must not need the display this asks for.
        env={**os.environ, "MPLBACKEND": "tkagg"},
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == FILES
    assert main(["fit", str(table), "-o", str(tmp_path / "again"), "-q"]) == 0
    for name in TABLES:
        assert (out / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert "Found" in done.stdout
    assert "Cells are separated by commas." in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_values_are_ignored_and_empty_rows_named(tmp_path, X, capsys):
    incomplete = X.copy()
    incomplete[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    incomplete[7] = np.nan
    path, out = tmp_path / "incomplete.csv", tmp_path / "out"
    names = [f"s{j}" for j in range(45)]
    pd.DataFrame(incomplete, columns=names).to_csv(path, index=False, na_rep="NA")
    assert main(["fit", str(path), "-o", str(out)]) == 0
    with pytest.warns(UserWarning, match="Every value of 1 row is missing"):
        model = ROCCO().fit(incomplete)
    np.testing.assert_array_equal(labels(out, "row")["label"], model.row_labels_)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["missing"] == np.isnan(incomplete).sum()
    assert "counted from 0: 7" in summary["warnings"][0]
    assert "Every value of 1 row is missing" in capsys.readouterr().err


def test_a_matrix_of_missing_values_only_is_an_error(tmp_path, capsys):
    np.save(tmp_path / "incomplete.npy", np.full((6, 4), np.nan))
    assert main(["fit", str(tmp_path / "incomplete.npy"), "-o", str(tmp_path / "out"), "-q"]) == 2
    assert "all 24 cells are missing values" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_reproducibility_is_that_of_the_library(tmp_path, table, X, capsys):
    out = tmp_path / "out"
    words = ["--reproducibility", "2", "--n-clusters", "3", "--seed", "4"]
    assert main(["fit", str(table), "-o", str(out), *words]) == 0
    found = reproducibility(ROCCO(3, random_state=4).fit(X), X, 2, random_state=4)
    written = json.loads((out / "summary.json").read_text())["reproducibility"]
    assert written == found.to_dict()
    assert written["scores"]["rows"]["score"] == pytest.approx(found.row_score)
    assert "The clusters of rows have a score of" in capsys.readouterr().err
    before = (out / "report.html").read_text(encoding="utf-8")
    assert "Are the clusters found again?" in before
    assert "was not measured" not in before
    assert main(["report", str(out), "-q"]) == 0
    assert (out / "report.html").read_text(encoding="utf-8") == before


def test_reproducibility_of_too_small_a_matrix(tmp_path, capsys):
    path = tmp_path / "small.csv"
    pd.DataFrame(np.eye(3) + 1).to_csv(path)
    words = ["--reproducibility", "2", "-q"]
    assert main(["fit", str(path), "-o", str(tmp_path / "out"), *words]) == 2
    assert "--reproducibility: X has the shape 3 x 3" in capsys.readouterr().err


def test_reproducibility_needs_the_matrix_in_memory(tmp_path, table, capsys):
    words = ["--reproducibility", "2", "--cluster", "local:1"]
    assert main(["fit", str(table), "-o", str(tmp_path / "out"), *words]) == 2
    assert "--reproducibility needs the whole matrix in memory" in capsys.readouterr().err
