import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyrocco.convex import ConvexProblem, clusters_of, gaussian_knn_graph, solve, solve_path
from pyrocco.convex.lagrangian import Lagrangian, newton_step
from pyrocco.graph import Graph

from .literal import literal_solve, literal_solve_with_missing


def with_missing(problem, share=0.15, seed=0):
    hidden = np.random.default_rng(seed).random(problem.X.shape) < share
    return ConvexProblem(np.where(hidden, np.nan, problem.X), problem.rows, problem.columns)


@pytest.mark.parametrize("gamma", [0.05, 0.5, 1.0, 2.0, 20.0])
def test_agrees_with_the_literal_method(gamma, small):
    found = solve(small, gamma, tol=1e-12)
    U = literal_solve(small.X, small.rows, small.columns, gamma)
    np.testing.assert_allclose(found.U, U, atol=2e-6)
    assert found.objective <= small.objective(U, gamma) * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_missing_values_agree_with_the_literal_method(gamma, small):
    problem = with_missing(small)
    found = solve(problem, gamma, tol=1e-11)
    U = literal_solve_with_missing(problem.X, problem.rows, problem.columns, gamma)
    assert found.converged
    np.testing.assert_allclose(found.U, U, atol=1e-4)


@given(seed=st.integers(0, 10_000), gamma=st.floats(0.01, 50.0))
def test_the_gap_bounds_the_error(seed, gamma):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0, 0] = 1.0
    problem = ConvexProblem(X, gaussian_knn_graph(X, 2), gaussian_knn_graph(X.T, 2))
    rough, exact = (solve(problem, gamma, tol=tol) for tol in (1e-2, 1e-9))
    assert rough.objective - rough.gap <= exact.objective * (1 + 1e-9)
    assert exact.gap <= 1e-9 * problem.energy
    # Matrices near the solution are not better.
    nearby = exact.U + 1e-3 * rng.normal(size=X.shape)
    assert problem.objective(nearby, gamma) >= exact.objective - exact.gap


def test_large_gamma_gives_the_means_of_the_components():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [50.0, 50.0], [52.0, 50.0]])
    both = Graph(4, np.array([0, 2]), np.array([1, 3]), np.ones(2))
    none = Graph(2, np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))
    found = solve(ConvexProblem(X, both, none), 1e6)
    np.testing.assert_allclose(found.U, [[1, 2], [1, 2], [51, 50], [51, 50]])
    assert found.clusters.rows.tolist() == [0, 0, 1, 1]
    assert found.clusters.columns.tolist() == [0, 1]


def test_solutions_are_in_the_given_order(small):
    gammas = [1.0, 100.0, 0.1]
    assert [solution.gamma for solution in solve_path(small, gammas)] == gammas


def test_a_warm_start_changes_nothing(small):
    path = solve_path(small, [3.0, 1.0, 0.3], tol=1e-12)
    for warm in path:
        cold = solve(small, warm.gamma, tol=1e-12)
        np.testing.assert_allclose(warm.U, cold.U, atol=2e-6)
        np.testing.assert_array_equal(warm.clusters.rows, cold.clusters.rows)


def test_missing_values_converge_down_to_small_gammas(small):
    problem = with_missing(small)
    found = solve_path(problem, np.logspace(-3, 3, 7))
    assert all(solution.converged for solution in found)
    low, high = np.nanmin(problem.X), np.nanmax(problem.X)
    assert all(low - 1e-6 <= s.U.min() and s.U.max() <= high + 1e-6 for s in found)


def test_stops_after_max_iter(small):
    found = solve(small, 1.0, tol=1e-15, max_iter=3)
    assert found.n_iter == 3
    assert not found.converged
    assert found.gap > 0


def test_constant_data_are_one_cluster():
    X = np.zeros((5, 4))
    found = solve(ConvexProblem(X, gaussian_knn_graph(X), gaussian_knn_graph(X.T)), 1.0)
    assert found.converged
    assert found.clusters.rows.max() == found.clusters.columns.max() == 0


@pytest.fixture
def updated(small):
    """The Lagrangian of a problem with missing values, with multipliers from a few steps."""
    lagrangian = Lagrangian(with_missing(small))
    lagrangian.set_gamma(3.0)
    point = lagrangian.evaluate(lagrangian.problem.filled)
    for _ in range(3):
        point = newton_step(lagrangian, point)
        lagrangian.update_multipliers(1.0)
        point = lagrangian.evaluate(point.U)
    return lagrangian, point.U


def numerical(function, U, D, h=1e-6):
    return (function(U + h * D) - function(U - h * D)) / (2 * h)


def test_the_gradient_is_the_derivative_of_the_value(updated):
    lagrangian, U = updated
    D = np.random.default_rng(0).normal(size=U.shape)
    expected = numerical(lambda V: lagrangian.evaluate(V).value, U, D)
    assert np.vdot(lagrangian.evaluate(U).gradient, D) == pytest.approx(expected, rel=1e-5)


def test_the_hessian_is_the_derivative_of_the_gradient(updated):
    lagrangian, U = updated
    D = np.random.default_rng(0).normal(size=U.shape)
    expected = numerical(lambda V: lagrangian.evaluate(V).gradient, U, D)
    lagrangian.evaluate(U)
    assert lagrangian.rows.closed.any()
    assert not lagrangian.columns.closed.all()
    np.testing.assert_allclose(lagrangian.hessian_product(D), expected, rtol=1e-4, atol=1e-6)
    # The diagonal is an upper bound of that of the Hessian, as the preconditioner needs.
    unit = np.zeros(U.shape)
    unit[2, 3] = 1.0
    assert lagrangian.hessian_product(unit)[2, 3] <= lagrangian.diagonal()[2, 3] * (1 + 1e-12)


def test_updated_multipliers_keep_the_bound(updated):
    lagrangian, U = updated
    before = lagrangian.evaluate(U)
    lagrangian.update_multipliers(1.0)
    lagrangian.set_gamma(3.0)
    for edges in (lagrangian.rows, lagrangian.columns):
        assert (np.linalg.norm(edges.multipliers, axis=1) <= edges.radii * (1 + 1e-12)).all()
    assert lagrangian.evaluate(np.zeros(U.shape)).bound == pytest.approx(before.bound)


def test_a_smaller_gamma_shortens_the_multipliers(updated):
    lagrangian, _ = updated
    lagrangian.set_gamma(0.1)
    for edges in (lagrangian.rows, lagrangian.columns):
        assert (np.linalg.norm(edges.multipliers, axis=1) <= edges.radii * (1 + 1e-12)).all()


def test_edges_of_weight_zero_have_no_effect():
    X = np.array([[0.0, np.nan], [3.0, np.nan]])
    slack = Graph(2, np.array([0]), np.array([1]), np.zeros(1))
    found = solve(ConvexProblem(X, slack, slack), 1.0)
    assert found.converged
    np.testing.assert_allclose(found.U[:, 0], X[:, 0])
    assert found.clusters.rows.tolist() == [0, 1]


def test_clusters_follow_edges_not_equal_rows():
    X = np.zeros((4, 1))
    graph = Graph(4, np.array([0]), np.array([1]), np.ones(1))
    alone = Graph(1, graph.heads[:0], graph.tails[:0], np.empty(0))
    found = clusters_of(ConvexProblem(X, graph, alone), X)
    assert found.rows.tolist() == [0, 0, 1, 2]
