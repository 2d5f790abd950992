"""Combinatorial multigrid, against dense solves and against the authors' program.

`reference/cmg.npz` holds numbers only: for three systems the edges they are made of, one
right-hand side b, the direct solution x, and the iterations that the authors' program needed
to relative residuals of 1e-2, 1e-6 and 1e-10.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pyrocco.backends import NumpyBackend
from pyrocco.graph import Graph, Laplacian
from pyrocco.model import Side, SylvesterSystem
from pyrocco.solvers import SpectralSolver
from pyrocco.solvers.multigrid import CombinatorialMultigrid, MultigridSolver
from pyrocco.solvers.multigrid.hierarchy import build_hierarchy
from pyrocco.solvers.multigrid.solver import kronecker_sum
from pyrocco.solvers.solution import SylvesterProblem
from tests.conftest import REFERENCE

WAYS = ("kronecker", "decoupled")


def graph(n, edges, weights=None):
    heads, tails = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    return Graph(n, heads, tails, np.ones(len(heads)) if weights is None else weights)


def path(n):
    return graph(n, [(i, i + 1) for i in range(n - 1)])


def star(n):
    return graph(n, [(0, i) for i in range(1, n)])


def halves(n):
    return graph(n, [(i, i + 2) for i in range(n - 2)])


def no_edges(n):
    return graph(n, [])


def complete(n):
    return graph(n, list(zip(*np.triu_indices(n, 1), strict=True)))


def random_weights(n):
    # A tree plus chords, weights over six orders of magnitude: aggregates of very uneven trees.
    rng = np.random.default_rng(n)
    edges = {(int(rng.integers(i)), i) for i in range(1, n)}
    edges |= {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(n)}
    return graph(n, sorted(edges), 10.0 ** rng.uniform(-3, 3, len(edges)))


GRAPHS = (path, star, halves, no_edges, complete, random_weights)


def laplacian(made):
    return Laplacian(made).to_scipy()


def system(rows, columns, dtype=np.float64, norm=30.0, shift=2.0):
    backend = NumpyBackend()
    shape = (rows.n_nodes, columns.n_nodes)
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    sides = [Side(made, axis, norm) for axis, made in enumerate((rows, columns))]
    operators = [side.operator(backend, X.dtype) for side in sides]
    return SylvesterSystem(X, shift, *operators, backend)


def relative_error(x, expected):
    return np.linalg.norm(x - expected) / np.linalg.norm(expected)


# --- the authors' program ------------------------------------------------------------------


def knn2000(reference):
    heads, tails = (reference[f"knn2000_{end}"].astype(np.intp) for end in ("heads", "tails"))
    made = Graph(2000, heads, tails, np.full(len(heads), 10.0))
    return laplacian(made) + sparse.eye_array(2000)


def grid64(_):
    line = laplacian(path(64))
    return sparse.kronsum(line, line) + 1e-4 * sparse.eye_array(4096)


def kron60x50(reference):
    sides = []
    for side, n in (("rows", 60), ("columns", 50)):
        parts = (reference[f"kron60x50_{side}_{part}"] for part in ("heads", "tails", "weights"))
        sides.append(laplacian(Graph(n, *(np.asarray(part) for part in parts))))
    return sparse.kronsum(sides[1], sides[0]) + sparse.eye_array(3000)


@pytest.mark.parametrize("make", [knn2000, grid64, kron60x50], ids=lambda make: make.__name__)
def test_as_good_as_the_authors_program(make):
    with np.load(REFERENCE / "cmg.npz") as file:
        reference = dict(file)
    name = make.__name__
    b, x = reference[f"{name}_b"], reference[f"{name}_x"]
    multigrid = CombinatorialMultigrid(make(reference))
    for tol, iterations in zip((1e-2, 1e-6, 1e-10), reference[f"{name}_iterations"], strict=True):
        found = multigrid.solve(b, tol)
        assert found.residual <= tol
        assert found.iterations <= 1.25 * iterations
    assert relative_error(found.x, x) <= 1e-8


# --- the solver ----------------------------------------------------------------------------


@pytest.mark.parametrize("on", WAYS)
@pytest.mark.parametrize("rows", GRAPHS)
@pytest.mark.parametrize("columns", [path, star, no_edges])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-6), (np.float32, 1e-3)])
def test_equals_spectral(on, rows, columns, dtype, bound):
    made = system(rows(40), columns(13), dtype)
    solution = MultigridSolver(tol=1e-9, on=on).solve(made, made.X.copy())
    assert solution.U.dtype == dtype
    assert solution.converged
    assert relative_error(solution.U, SpectralSolver().solve(made, made.X).U) <= bound


@pytest.mark.parametrize("on", WAYS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (5, 290), (290, 5)])
def test_thin_matrices(on, shape):
    made = system(path(shape[0]), path(shape[1]))
    solution = MultigridSolver(tol=1e-9, on=on).solve(made, made.X.copy())
    assert relative_error(solution.U, SpectralSolver().solve(made, made.X).U) <= 1e-6


@pytest.mark.parametrize("on", WAYS)
@pytest.mark.parametrize(("norm", "shift"), [(0.1, 1.0), (1e4, 2.0)])
def test_weak_and_strong_smoothing(on, norm, shift):
    made = system(random_weights(270), path(12), norm=norm, shift=shift)
    solution = MultigridSolver(tol=1e-9, on=on).solve(made, made.X.copy())
    assert relative_error(solution.U, SpectralSolver().solve(made, made.X).U) <= 1e-6


@pytest.mark.parametrize("on", WAYS)
def test_reports_true_residual(on):
    made = system(path(300), star(20))
    solution = MultigridSolver(tol=1e-5, on=on).solve(made, made.X.copy())
    assert solution.residual == pytest.approx(
        SylvesterProblem.of(made).relative_residual(solution.U), rel=1e-6
    )


@pytest.mark.parametrize("on", WAYS)
def test_start_at_the_solution_takes_one_step(on):
    made = system(path(300), path(12))
    exact = SpectralSolver().solve(made, made.X).U
    solution = MultigridSolver(tol=1e-6, on=on).solve(made, exact.copy())
    assert solution.iterations == 1
    assert relative_error(solution.U, exact) <= 1e-12


def test_says_when_it_has_not_converged():
    made = system(path(300), path(12))
    solution = MultigridSolver(tol=1e-12, max_iter=2).solve(made, np.zeros_like(made.X))
    assert solution.iterations == 2
    assert not solution.converged


@pytest.mark.parametrize("on", WAYS)
def test_zero_data(on):
    made = system(path(30), path(12))
    made.X[:] = 0
    solution = MultigridSolver(on=on).solve(made, np.ones_like(made.X))
    assert not solution.U.any()
    assert (solution.iterations, solution.residual, solution.converged) == (1, 0.0, True)


def test_unknown_way_is_an_error():
    made = system(path(3), path(3))
    with pytest.raises(ValueError, match="on must be one of kronecker, decoupled; got 'both'"):
        MultigridSolver(on="both").solve(made, made.X)


# --- the preconditioner --------------------------------------------------------------------


@pytest.mark.parametrize("made", [g(400) for g in GRAPHS], ids=[g.__name__ for g in GRAPHS])
@pytest.mark.parametrize("steps", [1, 3])
def test_cycle_is_symmetric_and_never_overshoots(made, steps):
    matrix = laplacian(made) + 0.01 * sparse.eye_array(400)
    inverse = CombinatorialMultigrid(matrix, steps).cycle(np.eye(400))
    assert np.abs(inverse - inverse.T).max() <= 1e-10 * np.abs(inverse).max()
    root = np.linalg.cholesky(matrix.toarray())
    values = np.linalg.eigvalsh(root.T @ inverse @ root)
    assert values[0] > 0.01
    assert values[-1] <= 1 + 1e-6


@pytest.mark.parametrize("made", [g(3000) for g in (path, star, halves, no_edges, random_weights)])
def test_levels_shrink_at_least_by_half(made):
    sizes = build_hierarchy((laplacian(made) + 1e-3 * sparse.eye_array(3000)).tocsr()).sizes
    assert all(2 * after <= before for before, after in pairwise(sizes))


def test_more_smoothing_needs_no_more_iterations():
    matrix = laplacian(path(2000)) + 1e-4 * sparse.eye_array(2000)
    b = np.random.default_rng(0).normal(size=2000)
    one, three = (CombinatorialMultigrid(matrix, steps).solve(b).iterations for steps in (1, 3))
    assert three < one


def test_shifts_of_columns():
    matrix = laplacian(random_weights(300)) + 0.1 * sparse.eye_array(300)
    B = np.random.default_rng(0).normal(size=(300, 4))
    shifts = np.array([0.0, 0.1, 10.0, 1e4])
    found = CombinatorialMultigrid(matrix).solve(B, tol=1e-11, shifts=shifts)
    for j, shift in enumerate(shifts):
        expected = np.linalg.solve(matrix.toarray() + shift * np.eye(300), B[:, j])
        assert relative_error(found.x[:, j], expected) <= 1e-7


@pytest.mark.parametrize("made", [g(n) for g in (path, star, halves) for n in (50, 600)])
def test_singular_laplacian(made):
    L = laplacian(made)
    b = L @ np.random.default_rng(0).normal(size=made.n_nodes)
    found = CombinatorialMultigrid(L).solve(b, tol=1e-9)
    assert relative_error(L @ found.x, b) <= 1e-8


def test_equal_weights_that_differ_by_rounding_open_their_cycles():
    # A triangle whose entries disagree in the last bits sends each node to the next one.
    less = 1 - 1e-15
    triangle = np.array([[2.5, -1, -less], [-less, 2.5, -1], [-1, -less, 2.5]])
    triangles = [sparse.csr_array(triangle)] * 100
    hierarchy = build_hierarchy(sparse.csr_array(sparse.block_diag(triangles)))
    assert hierarchy.sizes == (300, 100)


@given(st.integers(1, 400), st.floats(0.3, 3.0), st.floats(-6, 3), st.integers(0, 1000))
def test_any_graph_with_any_diagonal(n, density, exponent, seed):
    rng = np.random.default_rng(seed)
    ends = rng.integers(n, size=(2, int(density * n)))
    weights = np.exp(rng.normal(size=ends.shape[1])) * (ends[0] != ends[1])
    adjacency = sparse.coo_array((weights, tuple(ends)), shape=(n, n)).toarray()
    adjacency += adjacency.T
    excess = 10.0**exponent * rng.uniform(0.5, 2, n)
    matrix = np.diag(adjacency.sum(axis=1) + excess) - adjacency
    x = rng.normal(size=n)
    found = CombinatorialMultigrid(matrix).solve(matrix @ x, tol=1e-12)
    assert relative_error(matrix @ found.x, matrix @ x) <= 1e-10


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "square"),
        ([[2.0, -1.0], [0.0, 2.0]], "symmetric"),
        ([[2.0, 1.0], [1.0, 2.0]], "positive entries off its diagonal"),
        ([[1.0, -2.0], [-2.0, 1.0]], "not diagonally dominant"),
    ],
)
def test_other_matrices_are_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        CombinatorialMultigrid(np.array(matrix))


def test_callers_matrix_is_left_alone():
    entries = (np.array([-1.0, 1.0, 1.0, 2.0, -1.0]), np.array([1, 0, 0, 1, 0]))
    matrix = sparse.csr_array((*entries, np.array([0, 3, 5])), shape=(2, 2))
    before = matrix.copy()
    found = CombinatorialMultigrid(matrix).solve(np.array([3.0, 0.0]))
    assert found.x == pytest.approx([2.0, 1.0])
    assert np.array_equal(matrix.data, before.data)
    assert np.array_equal(matrix.indices, before.indices)


def test_numbers_of_steps_are_checked():
    with pytest.raises(ValueError, match="smoothing_steps must be at least 1"):
        CombinatorialMultigrid(np.eye(2), smoothing_steps=0)
    with pytest.raises(ValueError, match="max_iter must be at least 1"):
        CombinatorialMultigrid(np.eye(2)).solve(np.ones(2), max_iter=0)


@pytest.mark.parametrize(("rows", "columns"), [(path, star), (no_edges, path)])
def test_kronecker_sum(rows, columns):
    problem = SylvesterProblem.of(system(rows(6), columns(5)))
    assert (kronecker_sum(problem.A, problem.B) - sparse.kronsum(problem.B, problem.A)).nnz == 0
