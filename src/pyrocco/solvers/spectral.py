"""Exact solution in the eigenvectors of both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import Backend, Operator
from pyrocco.model import SylvesterSystem
from pyrocco.solvers.base import Solution


class SpectralSolver:
    """Exact, O(n^3 + p^3): small matrices, and the standard the others are held to.

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

    def solve(self, system: SylvesterSystem, start: Any) -> Solution:
        """Solve `system`; `start` is not needed."""
        backend = system.backend
        X = np.asarray(backend.to_numpy(system.X), dtype=np.float64)
        row_values, row_vectors = eigen(system.rows, backend)
        column_values, column_vectors = eigen(system.columns, backend)
        rotated = row_vectors.T @ X @ column_vectors
        rotated *= system.shift / (system.shift + row_values[:, None] + column_values)
        U = row_vectors @ rotated @ column_vectors.T
        U = backend.asarray(U.astype(backend.dtype(system.X)))
        return Solution(U, 1, 0.0, True, self.name)


def eigen(operator: Operator, backend: Backend) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues, ascending and not below zero, and eigenvectors of a Laplacian operator."""
    indptr, indices, values, degrees = (backend.to_numpy(part) for part in operator)
    n = len(degrees)
    dense = np.zeros((n, n))
    ends = np.repeat(np.arange(n), np.diff(indptr))
    dense[ends, indices] = -values.astype(np.float64)
    dense[np.arange(n), np.arange(n)] = degrees
    values, vectors = np.linalg.eigh(dense)
    return np.maximum(values, 0.0), vectors
