"""Eigenvectors of the short side, then one sparse system for each of them."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import ArrayBackend, Backend, Operator
from pyrocco.model import SylvesterSystem
from pyrocco.solvers.base import Solution
from pyrocco.solvers.spectral import eigen


class DecoupledSolver:
    """For a side up to some hundreds and a system of any conditioning.

    With Q = V diag(q) V^T the equation falls apart into (P + (shift + q_j) I) y_j =
    shift X v_j, one for each eigenvector. Few q_j are near zero, so few of the systems are
    hard; they stand together in one panel, and the other panels are done in a few
    iterations of conjugate gradients.

    Parameters
    ----------
    tol : float
        Residual over right-hand side at which to stop; every column gets an equal share.
    max_iter : int
        Iterations a panel at most.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> from pyrocco.solvers import DecoupledSolver
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
    >>> ROCCO(variant="paper", solver=DecoupledSolver()).fit(X).n_row_clusters_
    3
    """

    name = "decoupled"

    def __init__(self, tol: float = 1e-3, max_iter: int = 1000):
        self.tol = tol
        self.max_iter = max_iter

    def solve(self, system: SylvesterSystem, start: Any) -> Solution:
        """Solve `system` from `start`."""
        backend = system.backend
        F, Y = system.workspace.like(start, 2, backend)
        X, U, long_side, short_side = system.X, start, system.rows, system.columns
        if X.shape[1] > X.shape[0]:
            X, U, long_side, short_side = X.T, U.T, short_side, long_side
            F, Y = (M.reshape(X.shape) for M in (F, Y))
        values, vectors = eigen(short_side, backend)
        backend.rotate(X, system.shift * vectors, out=F)
        backend.rotate(U, vectors, out=Y)
        norm = math.sqrt(backend.squared_norm(F))
        iterations, squared = self._columns(long_side, system.shift + values, F, Y, norm, backend)
        # F has done its work: the solution passes through it into the place of the start.
        backend.overwrite(U, backend.rotate(Y, vectors, transposed=True, out=F))
        residual = math.sqrt(squared) / norm if norm > 0 else 0.0
        return Solution(start, iterations, residual, residual <= self.tol, self.name)

    def _columns(
        self,
        operator: Operator,
        shifts: NDArray[np.float64],
        F: Any,
        Y: Any,
        norm: float,
        backend: Backend,
    ) -> tuple[int, float]:
        """Solve all columns in place; returns most iterations and the squared residual."""
        target = (self.tol * norm) ** 2 / len(shifts)
        work = partial(conjugate_gradients, target=target, max_iter=self.max_iter)
        outcomes = backend.over_panels(work, operator, shifts, F, Y)
        return max(count for count, _ in outcomes), sum(squared for _, squared in outcomes)


def conjugate_gradients(
    operator: Operator,
    shifts: NDArray[np.float64],
    F: Any,
    Y: Any,
    backend: ArrayBackend,
    *,
    target: float,
    max_iter: int,
) -> tuple[int, float]:
    """Jacobi-CG on (P + shift_j I) y_j = f_j, all columns of a panel at once, in place.

    Stops when every column's squared residual is at most `target`. At least one step is
    taken. Returns the iterations and the sum of the squared residuals.
    """
    R = backend.shifted_residual(operator, shifts, F, Y)
    D, image = backend.zeros_like(Y), backend.zeros_like(Y)
    nothing = np.zeros(len(shifts))
    arrays = (Y, R, D, image)
    weighted, plain = backend.panel_advance(operator, shifts, arrays, nothing)
    backend.panel_direction(operator, shifts, R, D, nothing)
    iterations = 0
    while plain.max() > 0 and iterations < max_iter:
        energy = backend.shifted_apply(operator, shifts, D, image)
        steps = np.divide(weighted, energy, out=np.zeros_like(energy), where=energy > 0)
        before = weighted
        weighted, plain = backend.panel_advance(operator, shifts, arrays, steps)
        iterations += 1
        if plain.max() <= target:
            break
        momenta = np.divide(weighted, before, out=np.zeros_like(before), where=before > 0)
        backend.panel_direction(operator, shifts, R, D, momenta)
    return iterations, float(plain.sum())
