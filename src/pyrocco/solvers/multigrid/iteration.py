"""Preconditioned conjugate gradients on several right-hand sides at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyrocco.solvers.multigrid.hierarchy import Array

# Takes vectors as columns, and the numbers of those columns among all the right-hand sides.
ColumnMap = Callable[[Array, NDArray[np.intp]], Array]


@dataclass
class _Columns:
    # The right-hand sides still being worked on.
    number: NDArray[np.intp]
    X: Array
    R: Array
    D: Array
    weighted: Array

    def advance(self, apply: ColumnMap) -> Array:
        image = apply(self.D, self.number)
        step = _ratio(self.weighted, _inner(self.D, image))
        self.X += step * self.D
        self.R -= step * image
        return np.sqrt(_inner(self.R, self.R))

    def turn(self, precondition: ColumnMap) -> None:
        Z = precondition(self.R, self.number)
        before, self.weighted = self.weighted, _inner(self.R, Z)
        self.D *= _ratio(self.weighted, before)
        self.D += Z

    def keep(self, which: NDArray[np.intp]) -> None:
        self.number, self.weighted = self.number[which], self.weighted[which]
        self.X, self.R, self.D = (M.take(which, axis=1) for M in (self.X, self.R, self.D))


def conjugate_gradients(
    apply: ColumnMap,
    precondition: ColumnMap,
    B: Array,
    start: Array,
    targets: Array,
    max_iter: int,
) -> tuple[Array, Array, int]:
    """Reduce the residual norm of every column below its target.

    Every column has step sizes of its own. A first step is taken whatever the start is.

    Parameters
    ----------
    apply, precondition : callable
        The matrix and its approximate inverse, on some of the columns.
    B, start : ndarray of shape (n, k)
        Right-hand sides and first guesses.
    targets : ndarray of shape (k,)
        Norms to reach.
    max_iter : int
        Iterations at most.

    Returns
    -------
    X : ndarray of shape (n, k)
    norms : ndarray of shape (k,)
        Norms of the residuals.
    iterations : int
        Of the slowest column.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> X, norms, iterations = conjugate_gradients(
    ...     lambda X, _: A @ X, lambda R, _: R, np.eye(2), np.zeros((2, 2)), np.full(2, 1e-9), 9
    ... )
    >>> X.round(3).tolist(), iterations
    ([[0.667, 0.333], [0.333, 0.667]], 2)
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
        active.turn(precondition)
    return X, norms, iterations


def _inner(X: Array, Y: Array) -> Array:
    product: Array = np.einsum("ij,ij->j", X, Y)
    return product


def _ratio(numerator: Array, denominator: Array) -> Array:
    # Zero over zero in a column that is solved exactly: no step.
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)
