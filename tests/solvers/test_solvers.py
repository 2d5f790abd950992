import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from pyrocco import ROCCO, mutual_knn_graph
from pyrocco.backends import NumpyBackend
from pyrocco.model import Side, SylvesterSystem
from pyrocco.solvers import (
    SOLVERS,
    AutoSolver,
    ConjugateGradientSolver,
    DecoupledSolver,
    SpectralSolver,
    resolve_solver,
)
from tests.reference.literal_rocco import laplacian, solve_kronecker

EXACT = [
    SpectralSolver(),
    ConjugateGradientSolver(tol=1e-10),
    DecoupledSolver(tol=1e-10),
    AutoSolver(tol=1e-10),
]


def make_system(shape, dtype=np.float64, norm=50.0, seed=0):
    backend = NumpyBackend()
    X = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    sides = [Side(mutual_knn_graph(M, 4), axis, norm) for axis, M in enumerate((X, X.T))]
    operators = [side.operator(backend, X.dtype) for side in sides]
    return SylvesterSystem(X, 2.0, *operators, backend), sides


def literal_solution(system, sides):
    A, B = (
        np.eye(side.graph.n_nodes)
        + side.strength
        * laplacian(
            side.graph.n_nodes,
            zip(side.graph.heads, side.graph.tails, strict=True),
            side.graph.weights,
        )
        for side in sides
    )
    return solve_kronecker(A, B, system.X.astype(np.float64))


def relative_error(U, expected):
    return np.linalg.norm(U - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("solver", EXACT, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("shape", [(15, 12), (33, 5), (7, 40), (1, 6), (6, 1)])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-6), (np.float32, 1e-3)])
def test_equals_kronecker_solve(solver, shape, dtype, bound):
    system, sides = make_system(shape, dtype)
    solution = solver.solve(system, system.X.copy())
    assert solution.U.dtype == dtype
    assert relative_error(solution.U, literal_solution(system, sides)) <= bound


def test_conjugate_gradient_reports_true_residual():
    system, _ = make_system((40, 30))
    solution = ConjugateGradientSolver(tol=1e-5).solve(system, system.X.copy())
    image = np.empty_like(system.X)
    system.backend.apply(system, solution.U, image)
    actual = np.linalg.norm(2 * system.X - image) / np.linalg.norm(2 * system.X)
    assert solution.converged
    assert solution.residual == pytest.approx(actual, rel=1e-3)


def test_conjugate_gradient_gives_up_honestly():
    system, _ = make_system((40, 30), norm=1000.0)
    solution = ConjugateGradientSolver(tol=1e-12, max_iter=2).solve(system, system.X.copy())
    assert (solution.iterations, solution.converged) == (2, False)


def test_warm_start_needs_fewer_iterations():
    system, _ = make_system((60, 40), norm=300.0)
    solver = ConjugateGradientSolver(tol=1e-6)
    cold = solver.solve(system, system.X.copy())
    warm = solver.solve(system, cold.U.copy())
    assert warm.iterations == 1
    assert cold.iterations > 5


def test_zero_matrix():
    system, _ = make_system((8, 6))
    zero = replace(system, X=np.zeros((8, 6)))
    for solver in EXACT:
        assert not solver.solve(zero, np.zeros((8, 6))).U.any()


def test_auto_picks_by_size():
    small, _ = make_system((20, 20))
    assert AutoSolver().solve(small, small.X.copy()).solver == "spectral"
    for shape, expected in [
        ((200, 20), "decoupled"),
        ((20, 200), "decoupled"),
        ((520, 510), "conjugate-gradient"),
    ]:
        system, _ = make_system(shape)
        assert AutoSolver().solve(system, system.X.copy()).solver == expected


def test_names_and_objects_give_the_same_labels(planted):
    X, _, _ = planted
    expected = ROCCO().fit(X).row_labels_
    for solver in (*SOLVERS, ConjugateGradientSolver(tol=1e-8)):
        np.testing.assert_array_equal(ROCCO(solver=solver).fit(X).row_labels_, expected)


@pytest.mark.parametrize("solver", ["direct", 3])
def test_unknown_solver_is_an_error(solver):
    with pytest.raises(ValueError, match="solver must"):
        resolve_solver(solver)


@pytest.mark.parametrize("solver", [ConjugateGradientSolver(1e-9), DecoupledSolver(1e-9)])
@pytest.mark.parametrize("shape", [(2000, 160), (160, 2000)])
def test_later_solves_of_a_fit_make_no_array_of_the_size_of_x(solver, shape):
    system, _ = make_system(shape)
    expected = solver.solve(system, system.X.copy()).U.copy()
    start = system.X.copy()
    tracemalloc.start()
    solution = solver.solve(system, start)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < system.X.nbytes
    np.testing.assert_array_equal(solution.U, expected)
