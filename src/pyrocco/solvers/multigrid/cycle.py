"""One multigrid cycle, and conjugate gradients that use it as preconditioner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pyrocco._typing import Floats, Labels
from pyrocco.backends import kernels
from pyrocco.solvers.multigrid.hierarchy import Hierarchy, Level

# Takes vectors as columns, and the indices of these columns among the right-hand sides.
ColumnMap = Callable[[Floats, Labels], Floats]


def cycle(hierarchy: Hierarchy, B: Floats, shifts: Floats, smoothing_steps: int) -> Floats:
    """Approximate the solutions for the columns of `B` by one cycle through the levels.

    `shifts` are added to the diagonal, one for each column. The cycle is linear, symmetric and
    positive definite. Jacobi steps of half weight do not overshoot on a diagonally dominant
    matrix, so that the eigenvalues of the cycle times the matrix are in (0, 1] for any
    aggregates and any number of visits.
    """
    return _visit(hierarchy, 0, B, shifts, smoothing_steps)


def _visit(hierarchy: Hierarchy, depth: int, B: Floats, shifts: Floats, steps: int) -> Floats:
    if depth == len(hierarchy.levels):
        return hierarchy.last.solve(B, shifts)
    level = hierarchy.levels[depth]
    weight = _half_inverse_diagonal(level, shifts)
    X = weight * B  # the first Jacobi step, from zero
    for _ in range(steps - 1):
        _smooth(level, B, X, shifts, weight)
    residual = _residual(level, B, X, shifts)
    coarse = kernels.multigrid.restrict(level.aggregates, level.n_aggregates, residual)
    kernels.multigrid.prolong(
        level.aggregates, _correction(hierarchy, depth, coarse, shifts, steps), X
    )
    for _ in range(steps):
        _smooth(level, B, X, shifts, weight)
    return X


def _correction(hierarchy: Hierarchy, depth: int, B: Floats, shifts: Floats, steps: int) -> Floats:
    X = _visit(hierarchy, depth + 1, B, shifts, steps)
    for _ in range(hierarchy.levels[depth].repeats - 1):
        residual = _residual(hierarchy.levels[depth + 1], B, X, shifts)
        X += _visit(hierarchy, depth + 1, residual, shifts, steps)
    return X


def apply(matrix: sparse.csr_array, mass: Floats, X: Floats, shifts: Floats) -> Floats:
    """Multiply each column of `X` by ``matrix + shift diag(mass)`` with its own shift."""
    if X.shape[1] == 1:
        # SciPy is four times faster than the kernel on a single vector.
        image: Floats = matrix @ X
        image += shifts * mass[:, None] * X
    else:
        image = kernels.multigrid.apply(
            matrix.indptr, matrix.indices, matrix.data, mass, shifts, X
        )
    return image


def _residual(level: Level, B: Floats, X: Floats, shifts: Floats) -> Floats:
    image = apply(level.matrix, level.mass, X, shifts)
    return np.subtract(B, image, out=image)


def _smooth(level: Level, B: Floats, X: Floats, shifts: Floats, weight: Floats) -> None:
    step = _residual(level, B, X, shifts)
    step *= weight
    X += step


def _half_inverse_diagonal(level: Level, shifts: Floats) -> Floats:
    diagonal = level.diagonal[:, None] + level.mass[:, None] * shifts
    # A node without edges and without a diagonal has an empty row and stays at zero.
    return np.divide(0.5, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)


@dataclass
class _Columns:
    """The right-hand sides that have not converged."""

    number: Labels
    X: Floats
    R: Floats
    D: Floats
    weighted: Floats

    def advance(self, apply: ColumnMap) -> Floats:
        """Take one step and return the norms of the residuals."""
        image = apply(self.D, self.number)
        step = _ratio(self.weighted, _inner(self.D, image))
        self.X += step * self.D
        self.R -= step * image
        return np.sqrt(_inner(self.R, self.R))

    def redirect(self, precondition: ColumnMap) -> None:
        """Set the next directions."""
        Z = precondition(self.R, self.number)
        before, self.weighted = self.weighted, _inner(self.R, Z)
        self.D *= _ratio(self.weighted, before)
        self.D += Z

    def keep(self, which: Labels) -> None:
        """Keep some of the columns."""
        self.number, self.weighted = self.number[which], self.weighted[which]
        self.X, self.R, self.D = (M.take(which, axis=1) for M in (self.X, self.R, self.D))


def conjugate_gradients(
    apply: ColumnMap,
    precondition: ColumnMap,
    B: Floats,
    start: Floats,
    targets: Floats,
    max_iter: int,
) -> tuple[Floats, Floats, int]:
    """Solve for several right-hand sides by preconditioned conjugate gradients.

    Each column has its own step sizes and takes at least one step, until the norm of its
    residual is at most its target. Returns the solutions, the norms of the residuals and the
    number of iterations of the slowest column.
    """
    everything = np.arange(B.shape[1])
    X, norms = np.empty_like(B), np.empty(B.shape[1])
    R = B - apply(start, everything)
    D = precondition(R, everything).copy()  # the identity would return R itself
    active = _Columns(everything, start.copy(), R, D, _inner(R, D))
    for iterations in range(1, max_iter + 1):
        norms[active.number] = now = active.advance(apply)
        finished = (now <= targets[active.number]) | (iterations == max_iter)
        if finished.any():
            X[:, active.number[finished]] = active.X[:, finished]
            active.keep(np.flatnonzero(~finished))
        if not len(active.number):
            break
        active.redirect(precondition)
    return X, norms, iterations


def _inner(X: Floats, Y: Floats) -> Floats:
    product: Floats = np.einsum("ij,ij->j", X, Y)
    return product


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    # 0 / 0 in a column that is solved exactly: no step.
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)
