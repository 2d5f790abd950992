import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyrocco.convex import ConvexProblem, gaussian_knn_graph, groups_of, solve, solve_path
from pyrocco.convex.lagrangian import Lagrangian
from pyrocco.convex.newton import newton_step
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
def test_missing_cells_agree_with_the_literal_method(gamma, small):
    problem = with_missing(small)
    found = solve(problem, gamma, tol=1e-11)
    U = literal_solve_with_missing(problem.X, problem.rows, problem.columns, gamma)
    assert found.converged
    np.testing.assert_allclose(found.U, U, atol=1e-4)


@given(seed=st.integers(0, 10_000), gamma=st.floats(0.01, 50.0))
def test_the_gap_is_a_certificate(seed, gamma):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0, 0] = 1.0
    problem = ConvexProblem(X, gaussian_knn_graph(X, 2), gaussian_knn_graph(X.T, 2))
    rough, exact = (solve(problem, gamma, tol=tol) for tol in (1e-2, 1e-9))
    assert rough.objective - rough.gap <= exact.objective * (1 + 1e-9)
    assert exact.gap <= 1e-9 * problem.energy
    # Nearby matrices are no better.
    nearby = exact.U + 1e-3 * rng.normal(size=X.shape)
    assert problem.objective(nearby, gamma) >= exact.objective - exact.gap


def test_large_gamma_gives_the_means_of_the_components():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [50.0, 50.0], [52.0, 50.0]])
    both = Graph(4, np.array([0, 2]), np.array([1, 3]), np.ones(2))
    none = Graph(2, np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))
    found = solve(ConvexProblem(X, both, none), 1e6)
    np.testing.assert_allclose(found.U, [[1, 2], [1, 2], [51, 50], [51, 50]])
    assert found.groups.rows.tolist() == [0, 0, 1, 1]
    assert found.groups.columns.tolist() == [0, 1]


def test_solutions_come_in_the_order_asked_for(small):
    gammas = [1.0, 100.0, 0.1]
    assert [solution.gamma for solution in solve_path(small, gammas)] == gammas


def test_a_warm_start_changes_nothing(small):
    path = solve_path(small, [3.0, 1.0, 0.3], tol=1e-12)
    for warm in path:
        cold = solve(small, warm.gamma, tol=1e-12)
        np.testing.assert_allclose(warm.U, cold.U, atol=2e-6)
        np.testing.assert_array_equal(warm.groups.rows, cold.groups.rows)


def test_missing_cells_converge_down_to_small_gammas(small):
    problem = with_missing(small)
    found = solve_path(problem, np.logspace(-3, 3, 7))
    assert all(solution.converged for solution in found)
    low, high = np.nanmin(problem.X), np.nanmax(problem.X)
    assert all(low - 1e-6 <= s.U.min() and s.U.max() <= high + 1e-6 for s in found)


def test_stops_when_told(small):
    found = solve(small, 1.0, tol=1e-15, max_iter=3)
    assert found.n_iter == 3
    assert not found.converged
    assert found.gap > 0


def test_constant_data_is_one_group():
    X = np.zeros((5, 4))
    found = solve(ConvexProblem(X, gaussian_knn_graph(X), gaussian_knn_graph(X.T)), 1.0)
    assert found.converged
    assert found.groups.rows.max() == found.groups.columns.max() == 0


@pytest.fixture
def settled(small):
    """The Lagrangian of a problem with missing cells, with multipliers from a few steps."""
    lagrangian = Lagrangian(with_missing(small))
    lagrangian.begin(3.0)
    point = lagrangian.at(lagrangian.problem.filled)
    for _ in range(3):
        point = newton_step(lagrangian, point)
        lagrangian.settle(1.0)
        point = lagrangian.at(point.U)
    return lagrangian, point.U


def numerical(function, U, D, h=1e-6):
    return (function(U + h * D) - function(U - h * D)) / (2 * h)


def test_the_gradient_is_that_of_the_value(settled):
    lagrangian, U = settled
    D = np.random.default_rng(0).normal(size=U.shape)
    expected = numerical(lambda V: lagrangian.at(V).value, U, D)
    assert np.vdot(lagrangian.at(U).gradient, D) == pytest.approx(expected, rel=1e-5)


def test_the_curvature_is_that_of_the_gradient(settled):
    lagrangian, U = settled
    D = np.random.default_rng(0).normal(size=U.shape)
    expected = numerical(lambda V: lagrangian.at(V).gradient, U, D)
    lagrangian.at(U)
    assert lagrangian.rows.closed.any()
    assert not lagrangian.columns.closed.all()
    np.testing.assert_allclose(lagrangian.curvature(D), expected, rtol=1e-4, atol=1e-6)
    # The diagonal is that of the curvature or more: conjugate gradients lean on it.
    unit = np.zeros(U.shape)
    unit[2, 3] = 1.0
    assert lagrangian.curvature(unit)[2, 3] <= lagrangian.diagonal()[2, 3] * (1 + 1e-12)


def test_settling_keeps_the_field_and_the_bound(settled):
    lagrangian, U = settled
    before = lagrangian.at(U)
    lagrangian.settle(1.0)
    lagrangian.begin(3.0)
    for edges in (lagrangian.rows, lagrangian.columns):
        assert (np.linalg.norm(edges.multipliers, axis=1) <= edges.radii * (1 + 1e-12)).all()
    assert lagrangian.at(np.zeros(U.shape)).bound == pytest.approx(before.bound)


def test_a_smaller_gamma_shortens_the_multipliers(settled):
    lagrangian, _ = settled
    lagrangian.begin(0.1)
    for edges in (lagrangian.rows, lagrangian.columns):
        assert (np.linalg.norm(edges.multipliers, axis=1) <= edges.radii * (1 + 1e-12)).all()


def test_edges_without_weight_hold_nothing():
    X = np.array([[0.0, np.nan], [3.0, np.nan]])
    slack = Graph(2, np.array([0]), np.array([1]), np.zeros(1))
    found = solve(ConvexProblem(X, slack, slack), 1.0)
    assert found.converged
    np.testing.assert_allclose(found.U[:, 0], X[:, 0])
    assert found.groups.rows.tolist() == [0, 1]


def test_groups_follow_edges_not_equal_rows():
    X = np.zeros((4, 1))
    graph = Graph(4, np.array([0]), np.array([1]), np.ones(1))
    alone = Graph(1, graph.heads[:0], graph.tails[:0], np.empty(0))
    found = groups_of(ConvexProblem(X, graph, alone), X)
    assert found.rows.tolist() == [0, 0, 1, 2]
