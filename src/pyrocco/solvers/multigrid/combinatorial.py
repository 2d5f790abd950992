"""Combinatorial multigrid for any symmetric diagonally dominant M-matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pyrocco.solvers.multigrid.cycle import apply, cycle
from pyrocco.solvers.multigrid.hierarchy import Array, Hierarchy, build_hierarchy
from pyrocco.solvers.multigrid.iteration import conjugate_gradients

# Rounding that a matrix may carry, relative to its largest diagonal entry.
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class LinearSolution:
    """The solution of a linear system and how it was reached.

    Parameters
    ----------
    x : ndarray
        In the shape of the right-hand side.
    iterations : int
        Iterations taken; of the slowest column where there are several.
    residual : float
        Norm of the residual over the norm of the right-hand side, over all columns.
    """

    x: Array
    iterations: int
    residual: float


class CombinatorialMultigrid:
    """Solves systems in the Laplacian of a graph plus a diagonal that is not negative.

    Nodes are grouped along their heaviest edges, groups of groups likewise; one cycle
    through these levels preconditions conjugate gradients. Singular matrices are fine as
    long as the right-hand side sums to zero over every connected part that has no diagonal
    of its own.

    Parameters
    ----------
    matrix : sparse or dense matrix
        Symmetric, no positive entry off the diagonal, no negative row sum.
    smoothing_steps : int
        Jacobi steps before and after the correction from each coarser level.

    Attributes
    ----------
    hierarchy : Hierarchy
        The levels.

    References
    ----------
    Koutis, Miller and Tolliver, "Combinatorial preconditioners and multilevel solvers for
    problems in computer vision and image processing", CVIU 115 (2011) 1638-1646.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from pyrocco.solvers.multigrid import CombinatorialMultigrid
    >>> path = sparse.diags_array([[-1.0] * 999, [2.0] * 1000, [-1.0] * 999], offsets=[-1, 0, 1])
    >>> multigrid = CombinatorialMultigrid(path)
    >>> multigrid.hierarchy.sizes
    (1000, 333, 111)
    >>> b = np.ones(1000)
    >>> solution = multigrid.solve(b, tol=1e-8)
    >>> solution.iterations < 30, bool(np.abs(path @ solution.x - b).max() < 1e-6)
    (True, True)
    """

    def __init__(self, matrix: Any, smoothing_steps: int = 1):
        if smoothing_steps < 1:
            raise ValueError(f"smoothing_steps must be at least 1; got {smoothing_steps!r}.")
        self.matrix = _checked(sparse.csr_array(matrix, dtype=np.float64))
        self.smoothing_steps = smoothing_steps
        self.hierarchy: Hierarchy = build_hierarchy(self.matrix)

    def cycle(self, b: ArrayLike, shifts: ArrayLike = 0.0) -> Array:
        """Approximate the solution by one pass through the levels.

        Parameters
        ----------
        b : array of shape (n,) or (n, k)
            Right-hand sides.
        shifts : float or array of shape (k,)
            Added to the diagonal of the matrix, for each column of `b`.

        Returns
        -------
        ndarray in the shape of `b`
        """
        B = np.asarray(b, dtype=np.float64)
        columns = _as_columns(B)
        each = _each(shifts, columns)
        return cycle(self.hierarchy, columns, each, self.smoothing_steps).reshape(B.shape)

    def solve(
        self,
        b: ArrayLike,
        tol: float = 1e-8,
        max_iter: int = 1000,
        *,
        shifts: ArrayLike = 0.0,
        start: ArrayLike | None = None,
        targets: ArrayLike | None = None,
    ) -> LinearSolution:
        """Solve ``(matrix + shift I) x = b`` for every column of `b`.

        Parameters
        ----------
        b : array of shape (n,) or (n, k)
            Right-hand sides.
        tol : float
            Norm of the residual over the norm of the right-hand side at which to stop.
        max_iter : int
            Iterations at most.
        shifts : float or array of shape (k,)
            Added to the diagonal of the matrix, for each column of `b`. The groups stay
            those of the matrix; everything else takes the shift into account.
        start : array in the shape of `b`, optional
            Where to begin; zero by default.
        targets : float or array of shape (k,), optional
            Norms of the residual to reach, in place of `tol` times the norm of each column.

        Returns
        -------
        LinearSolution
        """
        if max_iter < 1:
            raise ValueError(f"max_iter must be at least 1; got {max_iter!r}.")
        shape = np.shape(b)
        B = _as_columns(np.asarray(b, dtype=np.float64))
        sizes = np.linalg.norm(B, axis=0)
        # Nothing but zero is small beside a right-hand side of zero: start at the solution.
        first = 0.0 if start is None else _as_columns(np.asarray(start, np.float64))
        X = np.where(sizes > 0, first, np.zeros_like(B))
        wanted = tol * sizes if targets is None else _each(targets, B)
        each, ones = _each(shifts, B), np.ones(len(B))
        X, norms, iterations = conjugate_gradients(
            lambda Y, j: apply(self.matrix, ones, Y, each[j]),
            lambda R, j: cycle(self.hierarchy, R, each[j], self.smoothing_steps),
            B,
            X,
            wanted,
            max_iter,
        )
        total = float(np.linalg.norm(sizes))
        residual = float(np.linalg.norm(norms)) / total if total > 0 else 0.0
        return LinearSolution(X.reshape(shape), iterations, residual)


def _as_columns(B: Array) -> Array:
    return np.ascontiguousarray(B[:, None] if B.ndim == 1 else B)


def _each(numbers: ArrayLike, columns: Array) -> Array:
    return np.array(np.broadcast_to(np.asarray(numbers, np.float64), columns.shape[1:]))


def _checked(matrix: sparse.csr_array) -> sparse.csr_array:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"The matrix must be square; its shape is {matrix.shape}.")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # the arrays may be the caller's
        matrix.sum_duplicates()
    diagonal = matrix.diagonal()
    slack = _TOLERANCE * float(diagonal.max(initial=0.0))
    # A product with one uneven vector each way tells, without the transpose in memory.
    probe = np.cos(np.arange(len(diagonal)))
    if np.abs(matrix @ probe - matrix.T @ probe).max(initial=0.0) > slack:
        raise ValueError("The matrix must be symmetric.")
    if np.count_nonzero(matrix.data > slack) > np.count_nonzero(diagonal > slack):
        raise ValueError("The matrix has positive entries off its diagonal.")
    if matrix.sum(axis=1).min(initial=0.0) < -slack:
        raise ValueError("The matrix is not diagonally dominant: it has negative row sums.")
    return matrix
