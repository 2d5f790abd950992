"""Solves (I + nu L_rows) U + U nu L_columns = F for U, many times with a few nu."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg

from pyrocco.backends import NumpyBackend, Operator
from pyrocco.graph import Graph, Laplacian

Matrix = NDArray[np.float64]

# Above this, two dense eigenvalue problems and products with their vectors cost more than
# conjugate gradients on the graphs.
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


class _LeftHandSide(NamedTuple):
    """What a back end needs to apply shift U + P U + U Q; X gives the type of the numbers."""

    X: Matrix
    shift: float
    rows: Operator
    columns: Operator


class IterativeInverse:
    """Conjugate gradients, from the last U.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex.inverse import IterativeInverse
    >>> from pyrocco.graph import Graph
    >>> pair = Graph(2, np.array([0]), np.array([1]), np.ones(1))
    >>> alone = Graph(1, pair.heads[:0], pair.heads[:0], np.ones(0))
    >>> F = np.array([[0.0], [3.0]])
    >>> IterativeInverse(pair, alone).solve(F, 1.0, F).ravel().round(6).tolist()
    [1.0, 2.0]
    """

    def __init__(self, rows: Graph, columns: Graph, tol: float = 1e-6):
        self._laplacians = _laplacian(rows), _laplacian(columns)
        self._degrees = np.add.outer(rows.degrees, columns.degrees).astype(np.float64)
        self._tol = tol

    def solve(self, F: Matrix, nu: float, start: Matrix) -> Matrix:
        """Return U."""
        backend = NumpyBackend()
        rows, columns = (backend.operator(side, nu, np.float64) for side in self._laplacians)
        left_hand_side = _LeftHandSide(F, 1.0, rows, columns)

        def smooth(v: Matrix) -> Matrix:
            out = np.empty_like(F)
            backend.apply(left_hand_side, v.reshape(F.shape), out)
            return out.ravel()

        diagonal = (1.0 + nu * self._degrees).ravel()
        size = (F.size, F.size)
        system = LinearOperator(size, matvec=smooth, dtype=np.float64)
        jacobi = LinearOperator(size, matvec=lambda v: v / diagonal, dtype=np.float64)
        U, _ = cg(system, F.ravel(), x0=start.ravel(), rtol=self._tol, atol=0.0, M=jacobi)
        return np.asarray(U.reshape(F.shape))


def make_inverse(rows: Graph, columns: Graph, tol: float = 1e-6) -> Inverse:
    """Pick the method that fits the sizes of the graphs; `tol` is for the iterative one.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.graph import Graph
    >>> alone = Graph(1, np.empty(0, int), np.empty(0, int), np.ones(0))
    >>> type(make_inverse(alone, alone)).__name__
    'SpectralInverse'
    """
    small = max(rows.n_nodes, columns.n_nodes) <= SPECTRAL_NODES
    return SpectralInverse(rows, columns) if small else IterativeInverse(rows, columns, tol)


def _laplacian(graph: Graph) -> Laplacian:
    # The splitting V = E U is of the bare differences: edge weights act on V alone.
    return Laplacian(graph).refresh(np.ones(graph.n_edges))


def _eigen(graph: Graph) -> tuple[Matrix, Matrix]:
    values, vectors = np.linalg.eigh(_laplacian(graph).to_scipy().toarray())
    return np.maximum(values, 0.0), vectors
