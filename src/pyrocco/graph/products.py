"""Inner products of the rows of a matrix, dense or CSR, a tile at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# A tile of products should stay in the second-level cache until it has been read.
TILE_ROWS = 256
TILE_COLUMNS = 1024
# Sparse products and sums of absolute differences come as whole rows of distances.
BLOCK_BYTES = 32 * 2**20


class DenseRows:
    """Rows about their centre, in a unit that keeps squares in range, and their products."""

    def __init__(self, X: NDArray[Any], dtype: type[np.floating[Any]]):
        centre, self._exponent = _centre_and_exponent(X)
        values = X - centre
        np.ldexp(values, -self._exponent, out=values)
        self.values = values.astype(dtype, copy=False)
        self.squares: NDArray[Any] = np.einsum("ij,ij->i", self.values, self.values)
        self.block_rows = TILE_ROWS
        # Rounding errors of a sum of d products grow like sqrt(d) (Higham and Mary 2019).
        self._tolerance = 4 * np.sqrt(X.shape[1] + 4) * float(np.finfo(dtype).eps)

    def tiles(
        self, rows: NDArray[np.intp], first: int = 0
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield ranges of rows and the products of `rows` with them, in one buffer."""
        left, transposed = _taken(self.values, rows), self.values.T
        n_rows = len(self.values)
        buffer = np.empty(len(rows) * min(TILE_COLUMNS, n_rows), dtype=left.dtype)
        for start in range(first, n_rows, TILE_COLUMNS):
            part = slice(start, min(start + TILE_COLUMNS, n_rows))
            out = buffer[: len(rows) * (part.stop - start)].reshape(len(rows), -1)
            yield part, np.matmul(left, transposed[:, part], out=out)

    def certain(
        self,
        lengths: NDArray[np.float64],
        squares: NDArray[Any],
        bounds: NDArray[Any],
        n_neighbors: int,
    ) -> NDArray[np.bool_]:
        """Whether no row beyond the bound can belong to the nearest, whatever the rounding.

        A row within the last length D of a row of square s has a square of 2 (s + D) at most.
        """
        kth = min(n_neighbors, lengths.shape[1]) - 1
        last = np.ldexp(np.partition(lengths, kth, axis=1)[:, kth], -2 * self._exponent)
        with np.errstate(invalid="ignore"):
            sure = bounds - self._tolerance * (3 * squares + 2 * last) > last
        return np.asarray(sure | np.isinf(bounds))


class SparseRows:
    """Rows of a CSR matrix, where they are, and their products.

    Always of double precision: the cost is that of the indices.
    """

    def __init__(self, X: Any, dtype: type[np.floating[Any]]):
        self.values = X.astype(np.float64, copy=False)
        self.squares = row_squares(self.values)
        self.block_rows = rows_in_a_block(X.shape[0])
        self._transposed = self.values.T

    def tiles(
        self, rows: NDArray[np.intp], first: int = 0
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield all rows from `first` on and the products of `rows` with them."""
        others = self.values[first:].T if first else self._transposed
        products = (self.values[rows] @ others).toarray()
        yield slice(first, self.values.shape[0]), np.ascontiguousarray(products)

    def certain(
        self,
        lengths: NDArray[np.float64],
        squares: NDArray[Any],
        bounds: NDArray[Any],
        n_neighbors: int,
    ) -> NDArray[np.bool_]:
        """Take the candidates as they are."""
        return np.ones(len(lengths), dtype=bool)


def row_squares(X: Any) -> NDArray[Any]:
    """Inner product of every row with itself."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def rows_in_a_block(n_rows: int) -> int:
    """Rows of distances to `n_rows` others that fit into one block."""
    return max(1, BLOCK_BYTES // (8 * max(1, n_rows)))


def _taken(values: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[Any]:
    """Some rows; such that lie in one piece are not copied, as few long rows would be whole."""
    if np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return values[rows[0] : rows[0] + len(rows)]
    return values[rows]


def _centre_and_exponent(X: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Near the mean, but of few binary digits, so that whole numbers stay exact; and a unit."""
    centre = X.mean(axis=0)
    spread = max(float((X.max(axis=0) - centre).max()), float((centre - X.min(axis=0)).max()))
    exponent = int(np.frexp(spread)[1])
    quantum = np.ldexp(1.0, exponent - 6)
    if quantum:
        centre = (np.round(centre.astype(np.float64) / quantum) * quantum).astype(centre.dtype)
    return centre, exponent
