"""Sets, methods, plans and pages of the benchmark on real and planted matrices."""

import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks.collection import RESULTS
from benchmarks.collection.__main__ import main
from benchmarks.collection.experiments import planted
from benchmarks.collection.experiments.real import RealExperiment
from benchmarks.collection.methods import METHODS
from benchmarks.collection.methods.leiden import prepare_by_hand
from benchmarks.collection.planted import CASES, NOISES
from benchmarks.collection.sets import ALL, GROUPS, KINDS, RealSet, real_sets
from benchmarks.collection.summary import group_table, mean_and_error, paired_table, per_set
from benchmarks.paper.compute import compute
from benchmarks.paper.experiments import Request
from benchmarks.paper.store import COLUMNS, Store
from scipy import sparse


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with a few tiny files in place of those of the collection."""
    monkeypatch.setenv("PYROCCO_DATA", str(tmp_path))
    (tmp_path / "more").mkdir()
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    X = rng.normal(size=(60, 30)) + 20 + 4 * labels[:, None] * (np.arange(30) < 15)
    np.savez(tmp_path / "more" / "nutt_2003_v3.npz", X=X.astype(np.float32), y=labels)
    _save_counts(tmp_path / "more" / "tr11.npz", 40, rng)
    _save_counts(tmp_path / "more" / "fbis.npz", 1100, rng)
    return tmp_path


def _save_counts(path, n_rows, rng):
    counts = sparse.csr_matrix(rng.poisson(0.3, (n_rows, 20)).astype(np.uint16))
    parts = {name: getattr(counts, name) for name in ("data", "indices", "indptr", "shape")}
    np.savez(path, y=np.arange(n_rows) % 3, format="csr", **parts)


def test_every_set_has_a_kind_and_is_in_its_groups():
    assert set(KINDS) == set(ALL)
    assert len(ALL) == len(set(ALL)) == 32
    assert [len(sets) for sets in GROUPS.values()] == [4, 13, 6, 5, 4, 9, 23, 32]


def test_dense_and_sparse_files_are_loaded_as_they_are(folder):
    genes, text = RealSet("nutt_2003_v3").load(0), RealSet("tr11").load(0)
    stored = np.load(folder / "more" / "nutt_2003_v3.npz")
    assert np.array_equal(genes.X, stored["X"])
    assert genes.X.dtype == text.X.dtype == np.float64
    assert np.array_equal(genes.row_labels, stored["y"])
    assert sparse.issparse(text.X)
    assert text.X.sum() == np.load(folder / "more" / "tr11.npz")["data"].sum()


def test_only_long_text_is_cut_to_rows(folder):
    whole, cut = RealSet("fbis").load(0), RealSet("fbis", rows=50).load(3)
    assert cut.X.shape == (50, 20)
    kept = [np.flatnonzero((whole.X.toarray() == row).all(axis=1)) for row in cut.X.toarray()]
    pairs = zip(cut.row_labels, kept, strict=True)
    assert all(label in whole.row_labels[rows] for label, rows in pairs)
    assert RealSet("tr11", rows=50).load(0).X.shape[0] == 40
    assert RealSet("nutt_2003_v3", rows=50).load(0).X.shape[0] == 60


def test_a_set_that_is_not_there_is_an_error_that_says_what_to_do(folder):
    with pytest.raises(FileNotFoundError, match="PYROCCO_DATA"):
        RealSet("tr31").load(0)


def test_only_random_methods_have_several_seeds(folder):
    request = Request(datasets=["nutt_2003_v3", "fbis"])
    planned = [cell.key for cell in RealExperiment().cells(request)]
    seeds = pd.Series([key[:2] for key in planned]).value_counts()
    assert len(planned) == len(set(planned))
    assert [seeds["nutt_2003_v3", name] for name in METHODS] == [1, 1, 5, 5, 5, 1, 5, 5]
    assert [seeds["fbis", name] for name in METHODS] == [5, 5, 5, 5, 5, 1, 5, 5]
    assert len(RealExperiment(rows=50).cells(request)) == 2 * len(METHODS)
    kinds = {key[3] for key in planned if key[1] == "leiden_prepared"}
    assert kinds == {'{"kind": "genes"}', '{"kind": "text"}'}


def test_sets_and_methods_can_be_chosen(folder):
    assert [source.name for source in real_sets(["tr11", "glioma"], None)] == ["glioma", "tr11"]
    request = Request(datasets=["tr11"], methods=["hdbscan", "reference"])
    assert [cell.key[:2] for cell in RealExperiment().cells(request)] == [("tr11", "hdbscan")]


def test_leiden_finds_clusters_that_are_apart(folder):
    pytest.importorskip("leidenalg")
    pytest.importorskip("igraph")
    for method in ("leiden", "leiden_prepared"):
        request = Request(datasets=["nutt_2003_v3"], methods=[method], seeds=1)
        (cell,) = RealExperiment().cells(request)
        row = compute(cell)
        assert row["status"] == "ok", row["reason"]
        assert row["row_ami"] > 0.6
        assert row["row_classes"] == 2
        assert row["cpu_seconds"] >= 0


@pytest.mark.parametrize(("method", "package"), [("leiden", "igraph"), ("evoc", "evoc")])
def test_a_method_whose_package_is_missing_is_skipped(folder, monkeypatch, method, package):
    monkeypatch.setitem(sys.modules, package, None)
    request = Request(datasets=["nutt_2003_v3"], methods=[method], seeds=1)
    (cell,) = RealExperiment().cells(request)
    row = compute(cell)
    assert row["status"] == "skipped"
    assert "pip install --group bench" in row["reason"]


def test_preparation_by_hand_depends_on_the_kind():
    counts = np.array([[1.0, 3.0], [20.0, 20.0], [5.0, 0.0]])
    assert prepare_by_hand(counts, "cells")[1, 0] == pytest.approx(np.log1p(2.5))
    lengths = np.linalg.norm(prepare_by_hand(counts, "text"), axis=1)
    assert lengths == pytest.approx([1.0, 1.0, 1.0])
    # Intensities over orders of magnitude: their logarithms are equally far apart.
    intensities = np.array([[10.0, 1.0], [100.0, 1.0], [1000.0, 4.0]])
    steps = np.diff(prepare_by_hand(intensities, "genes")[:, 0])
    assert steps[0] == pytest.approx(steps[1])
    steps = np.diff(prepare_by_hand(intensities - 50, "genes")[:, 0])
    assert steps[1] == pytest.approx(10 * steps[0])


def _scores():
    """Two methods on three sets; one has two seeds on tr11 and no labels for re0."""
    rows = [("a", "tr11", 0.2), ("a", "tr11", 0.4), ("b", "tr11", 0.1), ("b", "re0", 0.5),
            ("a", "re0", np.nan), ("a", "glioma", 0.5), ("b", "glioma", 0.7)]  # fmt: skip
    return pd.DataFrame(rows, columns=["method", "dataset", "row_ami"])


def test_means_and_differences_are_over_sets():
    values = per_set(_scores(), "row_ami")
    groups = {"text": ("tr11", "re0", "fbis"), "genes": ("glioma",), "cells": ("x",),
              "all": ("tr11", "re0", "fbis", "glioma")}  # fmt: skip
    means = group_table(values, ["a", "b"], groups, mean_and_error)
    assert "| method | text (2) | genes (1) | cells (0) | all (3) |" in means
    assert "| a | 0.300 (1 of 2) | 0.500 | - | 0.400 ± 0.100 (2 of 3) |" in means
    assert "| b | 0.300 ± 0.200 | 0.700 | - | 0.433 ± 0.176 |" in means
    paired = paired_table(values, [("a", "b"), ("a", "absent")], groups)
    row = "| a - b | +0.200 (1 of 2) | -0.200 | - | +0.000 ± 0.200 (2 of 3) |"
    assert row in paired
    assert "absent" not in paired


def test_the_page_of_real_sets_is_written_from_any_mixture_of_cells(folder, tmp_path):
    store = Store(tmp_path / "real.csv")
    cells = RealExperiment().cells(Request(datasets=["nutt_2003_v3", "tr11"]))
    for index, cell in enumerate(cells):
        store.append(_line(cell, "ok" if index % 3 else "failed"))
    RealExperiment().report(store.read(), tmp_path, quick=False)
    text = (tmp_path / "real.md").read_text(encoding="utf-8")
    assert "`python -m benchmarks.collection real --sets nutt_2003_v3 tr11` generates" in text
    assert "ValueError: on purpose" in text
    assert "nan" not in text


def _line(cell, status):
    dataset, method, seed, options = cell.key
    row = dict.fromkeys(COLUMNS, "") | {
        "dataset": dataset, "method": method, "seed": seed, "options": options,
        "python": "3", "pyrocco": "0", "threads": 1, "commit": "abc", "status": status,
    }  # fmt: skip
    if status == "failed":
        return row | {"reason": "ValueError: on purpose"}
    numbers = {"row_clusters": 2, "column_clusters": 1, "row_classes": 3, "cpu_seconds": 0.1}
    return row | {"row_ami": 0.5, "row_ari": 0.4} | numbers


def test_planted_plans_have_no_cell_twice():
    cells = planted.cells(Request())
    assert len({cell.key for cell in cells}) == len(cells) == 30 * len(CASES) + 20 * len(NOISES)
    chosen = planted.cells(Request(datasets=["ratings"], methods=["reference"], seeds=2))
    assert [cell.key[:3] for cell in chosen] == [
        ("ratings", "reference", "0"),
        ("ratings", "reference", "1"),
    ]


def test_true_numbers_of_clusters_are_given_to_both_sides():
    request = Request(datasets=["yes-no-0.1-0.9"], methods=["rocco_true_k"], seeds=1)
    (cell,) = planted.cells(request)
    row = compute(cell)
    assert (row["row_clusters"], row["column_clusters"]) == (4, 3)


def test_references_are_computed_on_the_matrix_of_the_seed():
    request = Request(datasets=["counts-base0.3-x3"], methods=["reference"], seeds=2)
    scores = [compute(cell)["row_ari"] for cell in planted.cells(request)]
    assert all(0.9 < score < 1 for score in scores)
    assert scores[0] != scores[1]


def test_shares_and_noise_are_counted():
    rows = [("ratings", "rocco", 0.3, 6, 4), ("ratings", "rocco", 0.5, 4, 4),
            ("ratings", "reference", 0.8, 4, 4), ("noise: normal", "rocco", 1.0, 1, 1),
            ("noise: normal", "rocco", 0.0, 1, 2)]  # fmt: skip
    names = ["dataset", "method", "row_ari", "row_clusters", "column_clusters"]
    frame = pd.DataFrame(rows, columns=names).assign(status="ok")
    cases = planted.case_table(frame)
    assert "| ratings | 0.400 ± 0.141 | - | 0.800 | 0.50 | - | 5.0 x 4.0 | 4 x 4 |" in cases
    assert "| mean | 0.400 | - | 0.800 | 0.50 | - |" in cases
    assert "| normal | 2 of 2 | 1 of 2 | 1 of 2 |" in planted.noise_table(frame)


def test_the_committed_page_of_planted_matrices_agrees_with_its_results(tmp_path):
    # `python -m benchmarks.collection planted --report-only` updates it.
    planted.report(Store(RESULTS / "planted.csv").read(), tmp_path, quick=False)
    page = (RESULTS / "planted.md").read_text(encoding="utf-8")
    assert (tmp_path / "planted.md").read_text(encoding="utf-8") == page


@pytest.mark.slow
def test_command_line_runs_and_resumes(folder, tmp_path, capsys):
    command = ["real", "--sets", "nutt_2003_v3", "--methods", "hdbscan", "km_silhouette"]
    command += ["--seeds", "1", "--results", str(tmp_path / "results")]
    assert main(command) == 0
    assert "2 cells, 2 to compute" in capsys.readouterr().err
    assert main(command) == 0
    assert "2 cells, 0 to compute" in capsys.readouterr().err
    assert {path.name for path in (tmp_path / "results").iterdir()} == {"real.csv", "real.md"}


def test_unknown_names_are_errors(capsys):
    assert main(["imaginary"]) == 2
    assert main(["real", "--methods", "magic"]) == 2
    assert main(["planted", "--sets", "nowhere"]) == 2
    assert "unknown name 'nowhere'; known: classic3" in capsys.readouterr().err
