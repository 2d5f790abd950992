"""Combinatorial multigrid, as a solver of linear systems and of the system of one iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pyrocco._typing import DeviceArray, Floats
from pyrocco.backends import kernels
from pyrocco.model import SylvesterSystem
from pyrocco.solvers.multigrid.cycle import apply, conjugate_gradients, cycle
from pyrocco.solvers.multigrid.hierarchy import Hierarchy, build_hierarchy
from pyrocco.solvers.solution import Solution, SylvesterProblem

# Rounding error that a matrix may have, relative to its largest diagonal entry.
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class LinearSolution:
    """Solution of a linear system."""

    x: Floats  # in the shape of the right-hand side
    iterations: int  # of the slowest column
    residual: float  # norm of the residual over that of the right-hand side, over all columns


class CombinatorialMultigrid:
    """Combinatorial multigrid for a graph Laplacian plus a diagonal that is not negative.

    Nodes are aggregated along their heaviest edges, level by level (Koutis, Miller and Tolliver,
    "Combinatorial preconditioners and multilevel solvers for problems in computer vision and image
    processing", CVIU 115 (2011) 1638-1646). One cycle through the levels is the preconditioner of
    conjugate gradients; it takes `smoothing_steps` Jacobi steps before and after the correction
    from each coarser level. The matrix is symmetric, without positive entries off the diagonal and
    without negative row sums. It may be singular if the right-hand side sums to zero over every
    connected component without additional diagonal.
    """

    def __init__(self, matrix: ArrayLike | sparse.sparray, smoothing_steps: int = 1):
        if smoothing_steps < 1:
            raise ValueError(f"smoothing_steps must be at least 1; got {smoothing_steps!r}.")
        self.matrix = _checked(sparse.csr_array(matrix, dtype=np.float64))
        self.smoothing_steps = smoothing_steps
        self.hierarchy: Hierarchy = build_hierarchy(self.matrix)

    def cycle(self, b: ArrayLike, shifts: ArrayLike = 0.0) -> Floats:
        """Approximate the solution by one cycle, with `shifts` added to the diagonal by column."""
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
        """Solve ``(matrix + shift I) x = b`` for each column of `b`, from `start` or from zero.

        Each column may have its own shift; the aggregates are those of the matrix without shift.
        `targets` are the norms of the residual at which to stop instead of `tol` times the norm
        of each column.
        """
        if max_iter < 1:
            raise ValueError(f"max_iter must be at least 1; got {max_iter!r}.")
        shape = np.shape(b)
        B = _as_columns(np.asarray(b, dtype=np.float64))
        sizes = np.linalg.norm(B, axis=0)
        # The solution for a right-hand side of zero is zero: start there.
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


class MultigridSolver:
    """Conjugate gradients preconditioned by combinatorial multigrid, the paper's choice.

    With ``on="kronecker"``, as in the paper, the system is one matrix with a row for every
    cell of U. With ``on="decoupled"`` the eigenvectors of the shorter side split it into
    systems in the graph of the longer side, which differ by a multiple of the identity and
    share one hierarchy of levels. Both ways compute in float64 and return the type of X.

    Parameters
    ----------
    tol : float
        Relative residual at which to stop.
    max_iter : int
        Maximum number of iterations.
    smoothing_steps : int
        Jacobi steps before and after the correction from each coarser level.
    on : {"kronecker", "decoupled"}
        Form of the system.

    References
    ----------
    Koutis, Miller and Tolliver, "Combinatorial preconditioners and multilevel solvers for
    problems in computer vision and image processing", CVIU 115 (2011) 1638-1646.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> from pyrocco.solvers.multigrid import MultigridSolver
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
    >>> model = ROCCO(solver=MultigridSolver(tol=1e-6)).fit(X)
    >>> model.history_[0]["solver"], model.history_[0]["residual"] < 1e-6
    ('multigrid', True)
    """

    name = "multigrid"

    def __init__(
        self,
        tol: float = 1e-4,
        max_iter: int = 1000,
        smoothing_steps: int = 1,
        on: str = "kronecker",
    ):
        self.tol = tol
        self.max_iter = max_iter
        self.smoothing_steps = smoothing_steps
        self.on = on

    def solve(self, system: SylvesterSystem, start: DeviceArray) -> Solution:
        """Solve `system` from `start`, with at least one step."""
        ways = {"kronecker": self._kronecker, "decoupled": self._decoupled}
        if self.on not in ways:
            raise ValueError(f"on must be one of {', '.join(ways)}; got {self.on!r}.")
        backend = system.backend
        guess = backend.to_numpy(start).astype(np.float64)
        solution = ways[self.on](SylvesterProblem.of(system), guess)
        U = backend.asarray(solution.x.astype(backend.to_numpy(start).dtype))
        converged = solution.residual <= self.tol
        return Solution(U, solution.iterations, solution.residual, converged, self.name)

    def _kronecker(self, problem: SylvesterProblem, start: Floats) -> LinearSolution:
        # Eq. 12 with the rows of U stacked: (A (x) I + I (x) B) vec(U) = vec(C).
        multigrid = CombinatorialMultigrid(
            kronecker_sum(problem.A, problem.B), self.smoothing_steps
        )
        solution = multigrid.solve(problem.C.ravel(), self.tol, self.max_iter, start=start.ravel())
        return replace(solution, x=solution.x.reshape(problem.C.shape))

    def _decoupled(self, problem: SylvesterProblem, start: Floats) -> LinearSolution:
        n, p = problem.C.shape
        if n < p:
            solution = self._decoupled(problem.transposed(), start.T)
            return replace(solution, x=solution.x.T)
        # With B = V diag(b) V^T the columns of Y = U V solve (A + b_j I) y_j = C v_j.
        b, V = np.linalg.eigh(problem.B.toarray())
        right = problem.C @ V
        multigrid = CombinatorialMultigrid(problem.A, self.smoothing_steps)
        solution = multigrid.solve(
            right,
            max_iter=self.max_iter,
            shifts=b,
            start=start @ V,
            # All columns get the same absolute target: small columns need less accuracy.
            targets=self.tol * float(np.linalg.norm(right)) / math.sqrt(p),
        )
        return replace(solution, x=solution.x @ V.T)


def kronecker_sum(A: sparse.csr_array, B: sparse.csr_array) -> sparse.csr_array:
    """Return A (x) I + I (x) B, the matrix of the equation for U with its rows stacked.

    Both matrices store their diagonals. It is several times faster than
    `scipy.sparse.kronsum`, which forms both products.
    """
    n, p = A.shape[0], B.shape[0]
    nnz = p * A.nnz + n * B.nnz - n * p
    index: type[np.integer] = np.int32 if max(nnz, n * p) < 2**31 else np.int64
    indptr, indices = np.empty(n * p + 1, dtype=index), np.empty(nnz, dtype=index)
    values = np.empty(nnz)
    kernels.multigrid.kronecker_sum(
        A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, indptr, indices, values
    )
    return sparse.csr_array((values, indices, indptr), shape=(n * p, n * p))


def _as_columns(B: Floats) -> Floats:
    return np.ascontiguousarray(B[:, None] if B.ndim == 1 else B)


def _each(numbers: ArrayLike, columns: Floats) -> Floats:
    return np.array(np.broadcast_to(np.asarray(numbers, np.float64), columns.shape[1:]))


def _checked(matrix: sparse.csr_array) -> sparse.csr_array:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"The matrix must be square; its shape is {matrix.shape}.")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # do not change the caller's arrays
        matrix.sum_duplicates()
    diagonal = matrix.diagonal()
    slack = _TOLERANCE * float(diagonal.max(initial=0.0))
    # Products with one vector detect asymmetry without forming the transpose.
    probe = np.cos(np.arange(len(diagonal)))
    if np.abs(matrix @ probe - matrix.T @ probe).max(initial=0.0) > slack:
        raise ValueError("The matrix must be symmetric.")
    if np.count_nonzero(matrix.data > slack) > np.count_nonzero(diagonal > slack):
        raise ValueError("The matrix has positive entries off its diagonal.")
    if matrix.sum(axis=1).min(initial=0.0) < -slack:
        raise ValueError("The matrix is not diagonally dominant: it has negative row sums.")
    return matrix
