import numpy as np
import pytest

from pyrocco.convex import (
    Clusters,
    ConvexProblem,
    Validation,
    check_gammas,
    gaussian_knn_graph,
    hold_out,
    scaled_problem,
    solve,
    validate,
)
from pyrocco.validation import check_positive


def test_planted_clusters_have_the_smallest_error(small):
    cells = hold_out(small, 0.1, np.random.RandomState(0))
    gammas = np.logspace(-1, 2, 7)
    found = validate(small, gammas[::-1], cells)
    np.testing.assert_allclose(found.gammas, gammas)
    assert found.converged
    # Without any clusters each held-out cell is a block of its own, predicted as 0.
    assert found.errors[0] == pytest.approx(np.linalg.norm(small.X[cells]))
    assert found.errors[found.best] < 0.6 * found.errors[0]


def test_held_out_cells_are_not_missing(small):
    X = small.X.copy()
    X[:, 0] = np.nan
    problem = ConvexProblem(X, small.rows, small.columns)
    cells = hold_out(problem, 0.5, np.random.RandomState(1))
    assert cells.sum() == round(0.5 * 12 * 8)
    assert not cells[:, 0].any()


def test_at_least_one_cell_remains_and_one_is_held_out():
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
    clusters = Clusters(rng.permutation([0, 0, 0, 1, 1, 2, 2]), rng.permutation([0, 0, 1, 1, 2]))
    means = clusters.block_means(X)
    for r in range(3):
        for c in range(3):
            block = X[np.ix_(clusters.rows == r, clusters.columns == c)]
            assert means[r, c] == pytest.approx(np.nanmean(block))


def test_the_old_name_of_the_clusters_still_works(small):
    solution = solve(small, 1.0)
    with pytest.warns(FutureWarning, match="Use clusters instead"):
        assert solution.groups is solution.clusters


def test_gammas_become_a_list():
    assert check_gammas(None, (1, 10)) == [1.0, 10.0]
    assert check_gammas(2.0, None) == [2.0]
    assert len(check_gammas(None, None)) == 13


@pytest.mark.parametrize("value", [-1.0, 0, np.inf, np.nan, True, "1"])
def test_only_positive_finite_numbers_are_accepted(value):
    with pytest.raises(ValueError, match="tol must be a finite number above 0"):
        check_positive("tol", value)


def test_block_means_skip_missing_values():
    clusters = Clusters(np.array([0, 0, 1]), np.array([0, 1]))
    flat = clusters.flatten(np.array([[1.0, 5.0], [3.0, 7.0], [0.0, 0.0]]))
    assert flat.tolist() == [[2.0, 6.0], [2.0, 6.0], [0.0, 0.0]]
    means = clusters.block_means(np.array([[1.0, np.nan], [3.0, np.nan], [0.0, 7.0]]))
    np.testing.assert_array_equal(means, [[2.0, np.nan], [0.0, 7.0]])


def test_a_standardised_problem_has_mean_zero_and_norm_one():
    X = np.array([[1.0, 1.0], [7.0, 7.0]])
    options = {"n_neighbors": 1, "phi": 0.5, "metric": "euclidean"}
    scaled = scaled_problem(X, standardize=True, **options)
    assert (scaled.mean, scaled.scale) == (4.0, 6.0)
    np.testing.assert_allclose(scaled.problem.X, [[-0.5, -0.5], [0.5, 0.5]])
    np.testing.assert_allclose(scaled.restore(scaled.problem.X), X)
