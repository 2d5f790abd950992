"""Solvers that use the eigenvectors of one side or of both sides."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from pyrocco._typing import DeviceArray, Floats
from pyrocco.backends import ArrayBackend, Backend, Operator
from pyrocco.model import SylvesterSystem
from pyrocco.solvers.solution import Solution


class SpectralSolver:
    """Direct solution in the eigenvectors of both Laplacians.

    In these coordinates the system is diagonal. The method is exact and takes O(n^3 + p^3)
    operations. Use it for small matrices; other solvers are tested against it.

    References
    ----------
    Simoncini, "Computational methods for linear matrix equations", SIAM Review 58 (2016)
    377-441.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> from pyrocco.solvers import SpectralSolver
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
    >>> ROCCO(solver=SpectralSolver()).fit(X).history_[0]["solver"]
    'spectral'
    """

    name = "spectral"

    def solve(self, system: SylvesterSystem, start: DeviceArray) -> Solution:
        """Solve `system`; `start` is not used."""
        backend = system.backend
        X = np.asarray(backend.to_numpy(system.X), dtype=np.float64)
        row_values, row_vectors = _eigenvectors(system.rows, backend)
        column_values, column_vectors = _eigenvectors(system.columns, backend)
        rotated = row_vectors.T @ X @ column_vectors
        rotated *= system.shift / (system.shift + row_values[:, None] + column_values)
        U = row_vectors @ rotated @ column_vectors.T
        U = backend.asarray(U.astype(backend.dtype(system.X)))
        return Solution(U, 1, 0.0, True, self.name)


class DecoupledSolver:
    """Eigenvectors of the shorter side, then conjugate gradients on each resulting system.

    With Q = V diag(q) V^T the equation decouples into (P + (shift + q_j) I) y_j = shift X v_j,
    one system for each eigenvector. Few q_j are close to zero, so that few systems are
    ill-conditioned. These share one panel of columns; the other panels converge in a few
    iterations. Use it if one side has at most some hundreds of rows or columns.

    Parameters
    ----------
    tol : float
        Relative residual at which to stop; all columns get an equal share of it.
    max_iter : int
        Maximum number of iterations for each panel.

    References
    ----------
    Simoncini, "Computational methods for linear matrix equations", SIAM Review 58 (2016)
    377-441.

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

    def solve(self, system: SylvesterSystem, start: DeviceArray) -> Solution:
        """Solve `system` from `start`."""
        backend = system.backend
        F, Y = system.workspace.like(start, 2, backend)
        X, U, long_side, short_side = system.X, start, system.rows, system.columns
        if X.shape[1] > X.shape[0]:
            X, U, long_side, short_side = X.T, U.T, short_side, long_side
            F, Y = (M.reshape(X.shape) for M in (F, Y))
        values, vectors = _eigenvectors(short_side, backend)
        backend.rotate(X, system.shift * vectors, out=F)
        backend.rotate(U, vectors, out=Y)
        norm = math.sqrt(backend.squared_norm(F))
        target = (self.tol * norm) ** 2 / len(values)
        work = partial(panel_conjugate_gradients, target=target, max_iter=self.max_iter)
        panels = backend.over_panels(work, long_side, system.shift + values, F, Y)
        # F is no longer needed: it holds the solution on its way to the array of the start.
        backend.overwrite(U, backend.rotate(Y, vectors, transposed=True, out=F))
        counts, squares, products = zip(*panels, strict=True)
        residual = math.sqrt(sum(squares)) / norm if norm > 0 else 0.0
        done = residual <= self.tol
        return Solution(start, max(counts), residual, done, self.name, sum(products))


def panel_conjugate_gradients(
    operator: Operator,
    shifts: Floats,
    F: DeviceArray,
    Y: DeviceArray,
    backend: ArrayBackend,
    *,
    target: float,
    max_iter: int,
) -> tuple[int, float, float]:
    """Solve (P + shift_j I) y_j = f_j for all columns of a panel, in place.

    Conjugate gradients with Jacobi preconditioner and a step size for each column. Takes at
    least one step and stops when every squared residual is at most `target`. Returns the
    number of iterations, the sum of the squared residuals, and the sum of <y_j, (P + shift_j) y_j>
    at the start.
    """
    R, products = backend.shifted_residual(operator, shifts, F, Y)
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
    return iterations, float(plain.sum()), float(products.sum())


def _eigenvectors(operator: Operator, backend: Backend) -> tuple[Floats, Floats]:
    """Return the eigenvalues, ascending and at least 0, and eigenvectors of a Laplacian."""
    indptr, indices, values, degrees = (backend.to_numpy(part) for part in operator)
    n = len(degrees)
    dense = np.zeros((n, n))
    ends = np.repeat(np.arange(n), np.diff(indptr))
    dense[ends, indices] = -values.astype(np.float64)
    dense[np.arange(n), np.arange(n)] = degrees
    values, vectors = np.linalg.eigh(dense)
    return np.maximum(values, 0.0), vectors
