"""Sources, controls and tables of the robustness benchmark."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.paper.cell import Cell
from benchmarks.paper.compute import compute, with_column_means
from benchmarks.paper.datasets.awkward import Checkerboard, IdleRows, Strangers, Unbalanced
from benchmarks.paper.datasets.base import NOWHERE
from benchmarks.paper.datasets.contaminated import Clean, Missing, Outliers
from benchmarks.paper.datasets.nothing import Gradient
from benchmarks.paper.experiments import EXPERIMENTS, Request, robustness
from benchmarks.paper.methods import METHODS
from benchmarks.paper.methods.trim import trim

SOURCES = (
    robustness.CLEAN,
    *robustness.PLANTED,
    *robustness.UNKNOWN_ONLY,
    *robustness.NOTHING,
    *robustness.MISSING,
)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_every_seed_gives_a_matrix_with_its_clusters(source):
    data, again, other = source.load(0), source.load(0), source.load(1)
    assert data.X.shape == (len(data.row_labels), len(data.column_labels))
    assert np.array_equal(data.X, again.X, equal_nan=True)
    assert not np.array_equal(data.X, other.X, equal_nan=True)


def test_the_requested_share_of_cells_is_replaced():
    clean = Clean(50).load(0).X
    gross = Outliers("gross", 20, 50).load(0).X
    outliers = gross != clean
    assert 0.18 < outliers.mean() < 0.22
    assert np.abs(gross[outliers]).min() >= 300
    assert 0.45 < (gross[outliers] > 0).mean() < 0.55
    assert 0.28 < np.isnan(Missing(30, 50).load(0).X).mean() < 0.32


def test_labels_match_the_planted_clusters():
    data = Unbalanced(0).load(0)
    assert np.bincount(data.row_labels).tolist() == [50, 25, 13, 7, 5]
    same = data.row_labels[:, None] == data.column_labels
    assert ((data.X != 0) == same).all()
    board = Checkerboard((4, 3), 0).load(0)
    blocks = board.row_labels[:, None] * 3 + board.column_labels
    assert len(np.unique(blocks)) == 12
    assert all(np.ptp(board.X[blocks == block]) == 0 for block in range(12))
    stranger = Strangers(1).load(0)
    assert np.abs(stranger.X[stranger.row_labels == NOWHERE]).max() < 10
    idle = IdleRows(50).load(0)
    assert (np.ptp(idle.X, axis=1) == 0).tolist() == (idle.row_labels == NOWHERE).tolist()


def test_a_gradient_has_rank_one():
    values = np.linalg.svd(Gradient("linear", 0.0).load(0).X, compute_uv=False)
    assert values[1] < 1e-10 * values[0]


def test_rows_of_no_cluster_are_not_scored():
    row = compute(Cell(Strangers(1), METHODS["km"], 0, columns=True))
    assert row["row_clusters"] == 5
    assert row["row_ari"] > 0.7
    assert row["n_rows"] == 120


def test_trimming_replaces_outlier_cells_by_the_fit():
    X = np.add.outer(np.arange(8.0), np.arange(9.0))
    noisy = X + 0.1 * np.random.default_rng(0).standard_normal(X.shape)
    contaminated = noisy.copy()
    contaminated[2, 3] = 99.0
    assert np.abs(trim(contaminated) - X).max() < 0.5
    assert (trim(contaminated) == contaminated).mean() > 0.9


def test_missing_values_are_filled_only_for_methods_that_do_not_accept_them():
    X = np.array([[1.0, np.nan], [3.0, 8.0], [np.nan, 4.0]])
    assert with_column_means(X).tolist() == [[1.0, 6.0], [3.0, 8.0], [2.0, 4.0]]
    accepting = [name for name in robustness.LINE_UP if METHODS[name].takes_missing]
    assert accepting == ["rocco+km", "rocco"]
    row = compute(Cell(Missing(10, 1), METHODS["km"], 0, columns=True))
    assert row["status"] == "ok"
    assert row["row_ari"] > 0.7


def test_cases_with_missing_values_have_their_own_table():
    planned = {cell.source.name for cell in EXPERIMENTS["robustness"].cells(Request())}
    assert set(robustness.MISSING_SETS) <= planned
    rows = [
        {"dataset": name, "method": "rocco", "seed": "0", "row_ari": score}
        for name, score in (("missing-30%-noise30", 0.5), ("student-scale40", 0.7))
    ]
    table = robustness.missing_table(pd.DataFrame(rows), robustness.UNKNOWN, "row_ari")
    assert "missing-30%-noise30" in table
    assert "student" not in table
    assert "missing" not in robustness.score_table(
        pd.DataFrame(rows), robustness.UNKNOWN, "row_ari"
    )


def test_gradients_are_one_case_scored_by_correct_answers():
    rows = [
        {"dataset": name, "method": "rocco", "status": "ok", "row_ami": 0.0,
         "row_clusters": 1, "column_clusters": columns}
        for name, columns in (("gradient-linear-noise1", 1), ("gradient-normal-noise1", 2),
                              ("pure-noise", 1))
    ]  # fmt: skip
    rows.append(rows[0] | {"dataset": "student-scale40", "row_ami": 0.7})
    scores = robustness.case_scores(pd.DataFrame(rows))
    assert scores.loc["rocco"].to_dict() == {
        "gradients": 0.5,
        "pure-noise": 1.0,
        "student-scale40": 0.7,
    }
