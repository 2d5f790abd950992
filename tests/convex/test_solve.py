import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyrocco.convex import ConvexProblem, gaussian_knn_graph, groups_of, solve, solve_path
from pyrocco.convex import inverse as inverses
from pyrocco.convex.anderson import AndersonMixer
from pyrocco.convex.inverse import DecoupledInverse, SpectralInverse
from pyrocco.convex.splitting import Splitting
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


def test_conjugate_gradients_agree_with_eigenvectors(small, monkeypatch):
    F = np.random.default_rng(0).normal(size=small.X.shape)
    graphs = small.rows, small.columns
    exact = SpectralInverse(*graphs).solve(F, 3.0, F)
    found = DecoupledInverse(*graphs, tol=1e-8).solve(F, 3.0, F)
    np.testing.assert_allclose(found, exact, atol=1e-6)
    turned = DecoupledInverse(*graphs[::-1], tol=1e-8).solve(np.ascontiguousarray(F.T), 3.0, F.T)
    np.testing.assert_allclose(turned.T, exact, atol=1e-6)
    expected = solve(small, 1.0, tol=1e-10).U
    monkeypatch.setattr(inverses, "SPECTRAL_NODES", 0)
    found = solve(small, 1.0, tol=1e-10)
    assert found.converged
    np.testing.assert_allclose(found.U, expected, atol=1e-5)


def test_changing_the_penalty_keeps_the_multipliers(small):
    state = Splitting(small, SpectralInverse(small.rows, small.columns))
    state.begin(1.0)
    for _ in range(5):
        state.z = state.z + state.residual()
        state.shrink()
    before = state.field()
    state.change_penalty(7.0)
    np.testing.assert_allclose(state.field(), before, atol=1e-12)


def test_the_mixer_takes_back_a_step_that_harms():
    mixer = AndersonMixer(1, memory=2, interval=2)
    assert mixer.step(np.array([1.0]), np.array([-0.1])).tolist() == [0.9]
    extrapolated = mixer.step(np.array([0.9]), np.array([-0.09]))
    assert abs(extrapolated[0]) < 1e-6
    # The residual turns out larger than before: back to the plain step 0.9 - 0.09.
    assert mixer.step(extrapolated, np.array([5.0])).tolist() == pytest.approx([0.81])


def test_no_memory_is_the_plain_iteration():
    mixer = AndersonMixer(1, memory=0)
    assert mixer.step(np.array([1.0]), np.array([-0.5])).tolist() == [0.5]


def test_groups_follow_edges_not_equal_rows():
    X = np.zeros((4, 1))
    graph = Graph(4, np.array([0]), np.array([1]), np.ones(1))
    alone = Graph(1, graph.heads[:0], graph.tails[:0], np.empty(0))
    found = groups_of(ConvexProblem(X, graph, alone), X)
    assert found.rows.tolist() == [0, 0, 1, 2]
