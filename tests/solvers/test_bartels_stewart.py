import numpy as np
import pytest

from pyrocco import mutual_knn_graph
from pyrocco.backends import NumpyBackend
from pyrocco.model import Side, SylvesterSystem
from pyrocco.solvers import SpectralSolver
from pyrocco.solvers.bartels_stewart import BartelsStewartSolver


def make_system(shape, dtype, shift):
    backend = NumpyBackend()
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    sides = [Side(mutual_knn_graph(M, 4), axis, 50.0) for axis, M in enumerate((X, X.T))]
    operators = [side.operator(backend, X.dtype) for side in sides]
    return SylvesterSystem(X, shift, *operators, backend)


@pytest.mark.parametrize("shape", [(15, 12), (33, 5), (7, 40), (1, 6), (6, 1)])
@pytest.mark.parametrize("shift", [1.0, 2.0])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_equals_spectral(shape, shift, dtype, bound):
    system = make_system(shape, dtype, shift)
    solution = BartelsStewartSolver().solve(system, system.X.copy())
    expected = SpectralSolver().solve(system, system.X.copy()).U
    assert solution.U.dtype == dtype
    assert solution.residual <= 1e-10
    assert np.abs(solution.U - expected).max() <= bound


def test_zero_data():
    system = make_system((6, 5), np.float64, 2.0)
    system.X[:] = 0
    solution = BartelsStewartSolver().solve(system, system.X)
    assert not solution.U.any()
    assert solution.residual == 0.0
