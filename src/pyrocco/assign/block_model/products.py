"""A matrix on a back end, with its products with memberships."""

from __future__ import annotations

import numpy as np

from pyrocco._typing import Array, Dense, Floats
from pyrocco.backends import Backend

# One array for the rows and one for the columns, or two arrays of the same blocks.
Pair = tuple[Dense, Dense]


def split_missing(X: Array, backend: Backend) -> tuple[Array, Array | None]:
    """Return the values with 0 for missing ones, and which are present; None if all are."""
    if not np.isnan(backend.squared_norm(X)):
        return X, None
    values = backend.to_numpy(X)
    known = ~np.isnan(values)
    filled = backend.asarray(np.where(known, values, values.dtype.type(0)))
    return filled, backend.asarray(known.astype(values.dtype))


class Products:
    """Sums of the values of a matrix, weighted by memberships.

    The last product of each axis is kept, because a round of a fit needs it twice.
    """

    def __init__(self, matrix: Array, backend: Backend):
        self.matrix, self.backend = matrix, backend
        self._last: dict[int, Pair] = {}

    def over(self, axis: int, memberships: Floats) -> Floats:
        """Sum the values over `axis`, weighted by memberships, for each cluster."""
        if axis not in self._last or self._last[axis][0] is not memberships:
            self._last[axis] = memberships, self._multiply(axis, memberships)
        return self._last[axis][1]

    def _multiply(self, axis: int, memberships: Floats) -> Floats:
        backend, matrix = self.backend, self.matrix
        if axis == 1:
            product = backend.to_numpy(backend.rotate(matrix, memberships))
        else:
            there = backend.asarray(memberships.astype(backend.dtype(matrix)))
            product = backend.project(matrix, there)
        return np.asarray(product, dtype=np.float64)


def in_blocks(products: Floats, memberships: Pair, axis: int) -> Floats:
    """Sum products over `axis` within each cluster of the other axis: one number for a block."""
    sums = memberships[1 - axis].T @ products
    return np.asarray(sums if axis == 1 else sums.T)


def varying_first(row_means: Floats, column_means: Floats) -> tuple[int, int]:
    """Return first the axis whose means vary more, so that the transpose gives the same fit."""
    return (0, 1) if np.var(row_means) >= np.var(column_means) else (1, 0)


def as_product(sizes: Floats) -> Pair | None:
    """Return heights and widths whose products the sizes of all blocks are, if there are any."""
    heights = sizes.sum(axis=1)
    widths = sizes.sum(axis=0) / max(heights.sum(), np.finfo(float).tiny)
    is_product = np.allclose(sizes, np.outer(heights, widths), rtol=1e-9, atol=0)
    return (heights, widths) if is_product else None
