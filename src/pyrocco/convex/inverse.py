"""Solves (I + nu L_rows) U + U nu L_columns = F for U, many times with a few nu."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import NumpyBackend, Workspace
from pyrocco.graph import Graph, Laplacian
from pyrocco.model import SylvesterSystem
from pyrocco.solvers import DecoupledSolver

Matrix = NDArray[np.float64]

# Above this, the eigenvectors of the longer side and products with them cost more than
# conjugate gradients on its graph.
SPECTRAL_NODES = 1500


class Inverse(Protocol):
    """Smooths a matrix along both graphs."""

    def solve(self, F: Matrix, nu: float, start: Matrix) -> Matrix:
        """Return U; iterative methods begin at `start`, which they leave alone."""


class SpectralInverse:
    """Exact, in the eigenvectors of both Laplacians, which are computed once.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex.inverse import SpectralInverse
    >>> from pyrocco.graph import Graph
    >>> pair = Graph(2, np.array([0]), np.array([1]), np.ones(1))
    >>> alone = Graph(1, pair.heads[:0], pair.heads[:0], np.ones(0))
    >>> F = np.array([[0.0], [3.0]])
    >>> SpectralInverse(pair, alone).solve(F, 1.0, F).ravel().round(6).tolist()
    [1.0, 2.0]
    """

    def __init__(self, rows: Graph, columns: Graph):
        self._row_values, self._row_vectors = _eigen(rows)
        self._column_values, self._column_vectors = _eigen(columns)

    def solve(self, F: Matrix, nu: float, start: Matrix) -> Matrix:
        """Return U."""
        rotated = self._row_vectors.T @ F @ self._column_vectors
        rotated /= 1.0 + nu * (self._row_values[:, None] + self._column_values)
        return np.asarray(self._row_vectors @ rotated @ self._column_vectors.T)


class DecoupledInverse:
    """In the eigenvectors of the shorter side, which are computed once; from the last U.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex.inverse import DecoupledInverse
    >>> from pyrocco.graph import Graph
    >>> pair = Graph(2, np.array([0]), np.array([1]), np.ones(1))
    >>> alone = Graph(1, pair.heads[:0], pair.heads[:0], np.ones(0))
    >>> F = np.array([[0.0], [3.0]])
    >>> DecoupledInverse(pair, alone).solve(F, 1.0, F).ravel().round(6).tolist()
    [1.0, 2.0]
    """

    def __init__(self, rows: Graph, columns: Graph, tol: float = 1e-6):
        self._laplacians = _laplacian(rows), _laplacian(columns)
        self._values, self._vectors = _eigen(min(columns, rows, key=lambda side: side.n_nodes))
        self._solver = DecoupledSolver(tol)
        self._backend, self._workspace = NumpyBackend(), Workspace()

    def solve(self, F: Matrix, nu: float, start: Matrix) -> Matrix:
        """Return U."""
        rows, columns = (self._backend.operator(side, nu, np.float64) for side in self._laplacians)
        system = SylvesterSystem(F, 1.0, rows, columns, self._backend, self._workspace)
        found = self._solver.solve_in(system, start.copy(), nu * self._values, self._vectors)
        return np.asarray(found.U)


def make_inverse(rows: Graph, columns: Graph, tol: float = 1e-6) -> Inverse:
    """Pick the method that fits the sizes of the graphs; `tol` is for the one that iterates.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.graph import Graph
    >>> alone = Graph(1, np.empty(0, int), np.empty(0, int), np.ones(0))
    >>> type(make_inverse(alone, alone)).__name__
    'SpectralInverse'
    """
    small = max(rows.n_nodes, columns.n_nodes) <= SPECTRAL_NODES
    return SpectralInverse(rows, columns) if small else DecoupledInverse(rows, columns, tol)


def _laplacian(graph: Graph) -> Laplacian:
    # The splitting V = E U is of the bare differences: edge weights act on V alone.
    return Laplacian(graph).refresh(np.ones(graph.n_edges))


def _eigen(graph: Graph) -> tuple[Matrix, Matrix]:
    values, vectors = np.linalg.eigh(_laplacian(graph).to_scipy().toarray())
    return np.maximum(values, 0.0), vectors
