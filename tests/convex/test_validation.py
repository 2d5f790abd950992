import numpy as np
import pytest

from pyrocco.convex import (
    ConvexProblem,
    Groups,
    Validation,
    gaussian_knn_graph,
    hold_out,
    validate,
)
from pyrocco.convex.validation import seen_block_means


def test_planted_groups_foretell_best(small):
    hidden = hold_out(small, 0.1, np.random.RandomState(0))
    gammas = np.logspace(-1, 2, 7)
    found = validate(small, gammas[::-1], hidden)
    np.testing.assert_allclose(found.gammas, gammas)
    assert found.converged
    # Before anything joins, every held-out cell is a block of its own, foretold as 0.
    assert found.errors[0] == pytest.approx(np.linalg.norm(small.X[hidden]))
    assert found.errors[found.best] < 0.6 * found.errors[0]


def test_held_out_cells_are_seen_cells(small):
    X = small.X.copy()
    X[:, 0] = np.nan
    problem = ConvexProblem(X, small.rows, small.columns)
    hidden = hold_out(problem, 0.5, np.random.RandomState(1))
    assert hidden.sum() == round(0.5 * 12 * 8)
    assert not hidden[:, 0].any()


def test_at_least_one_cell_is_seen_and_one_held_out():
    X = np.array([[1.0, 2.0]])
    problem = ConvexProblem(X, gaussian_knn_graph(X), gaussian_knn_graph(X.T))
    for share in (0.01, 0.99):
        assert hold_out(problem, share, np.random.RandomState(0)).sum() == 1


@pytest.mark.parametrize(
    ("errors", "best"),
    [([3, 1, 2], 1), ([1, 1, 1, 2], 1), ([2, 1, 3, 1, 1], 1), ([4, 3, 2, 2], 2), ([5], 0)],
)
def test_best_is_the_middle_of_the_first_run(errors, best):
    values = np.array(errors, dtype=float)
    assert Validation(np.arange(len(errors), dtype=float), values, True).best == best


def test_block_means_match_a_loop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 5))
    X[rng.random(X.shape) < 0.2] = np.nan
    groups = Groups(rng.permutation([0, 0, 0, 1, 1, 2, 2]), rng.permutation([0, 0, 1, 1, 2]))
    means = seen_block_means(X, groups)
    for r in range(3):
        for c in range(3):
            block = X[np.ix_(groups.rows == r, groups.columns == c)]
            assert means[r, c] == pytest.approx(np.nanmean(block))
