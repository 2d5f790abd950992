"""Distances between the rows of a matrix, dense or CSR, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import normalize

from pyrocco.backends.kernels import search as kernels

METRICS = ("euclidean", "manhattan", "cosine")
# A tile of products should stay in the second-level cache until it has been read.
TILE_ROWS = 256
TILE_COLUMNS = 1024
# Sparse products and sums of absolute differences come as whole rows of distances.
BLOCK_BYTES = 32 * 2**20


class Candidates(NamedTuple):
    """Rows that may be the nearest, their distances, and whether none can be missing."""

    indices: NDArray[np.intp]
    distances: NDArray[np.float64]
    certain: NDArray[np.bool_]


class Distances(Protocol):
    """One metric over the rows of one matrix."""

    n_rows: int
    block_rows: int

    def candidates(
        self,
        rows: NDArray[np.intp],
        groups: NDArray[np.intp],
        n_neighbors: int,
        careful: bool = False,
    ) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of `rows`, of other groups."""

    def exact(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances of each of `rows` to its row of `others`."""


class SquaredEuclidean:
    """Distances by one matrix product a tile, then once more by direct differences.

    The product is fast but loses digits where rows nearly coincide; it only picks the
    candidates. Dense products are of single precision, and where that may have missed a
    neighbour, the search asks again, carefully, for double.
    """

    def __init__(self, X: Any):
        self.X = X
        self.n_rows = X.shape[0]
        self._rows = _SparseRows if sparse.issparse(X) else _DenseRows
        self._single = self._rows(X, np.float32)
        self._double: _DenseRows | _SparseRows | None = None
        self.block_rows = self._single.block_rows

    def candidates(
        self,
        rows: NDArray[np.intp],
        groups: NDArray[np.intp],
        n_neighbors: int,
        careful: bool = False,
    ) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of `rows`, of other groups."""
        among = self._doubled() if careful else self._single
        count = _with_spare(n_neighbors, self.n_rows)
        indices = np.full((len(rows), count), -1, dtype=np.intp)
        values = np.full((len(rows), count), np.inf, dtype=among.squares.dtype)
        mine, squares = groups[rows], among.squares
        for part, products in among.tiles(rows):
            kernels.nearer(
                products, squares[rows], squares[part], mine, groups[part],
                part.start, indices, values,
            )  # fmt: skip
        lengths = self._lengths(rows, indices)
        certain = among.certain(lengths, squares[rows], values[:, -1], n_neighbors)
        return Candidates(indices, self._from_lengths(lengths), certain | careful)

    def exact(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return distances of given pairs."""
        return self._from_lengths(self._lengths(rows, others))

    def points(self) -> Any:
        """Rows, in single precision where dense, whose Euclidean distances order as ours."""
        return self._single.values

    def _doubled(self) -> _DenseRows | _SparseRows:
        if self._double is None:
            self._double = self._rows(self.X, np.float64)
        return self._double

    def _lengths(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        out = np.empty(others.shape)
        if sparse.issparse(self.X):
            kernels.sparse_pair_distances(
                self.X.data, self.X.indices, self.X.indptr, rows, others, out
            )
        else:
            kernels.dense_pair_distances(self.X, rows, others, out)
        return out

    def _from_lengths(self, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(lengths)


class Cosine(SquaredEuclidean):
    """One minus the cosine: half the squared distance between rows of length one.

    A row of zeros has no direction. It gets one of its own, an extra column, so that such
    rows are near each other and at distance one from all the rest.
    """

    def __init__(self, X: Any):
        unit = normalize(X)
        empty = np.asarray(_row_squares(unit) == 0, dtype=X.dtype)[:, None]
        if empty.any():
            stack = sparse.hstack if sparse.issparse(X) else np.hstack
            unit = stack([unit, empty])
        super().__init__(unit.tocsr() if sparse.issparse(X) else unit)

    def _from_lengths(self, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        return lengths / 2


class Manhattan:
    """Sums of absolute differences; there is no product to make them faster."""

    def __init__(self, X: Any):
        self.X = X
        self.n_rows = X.shape[0]
        self.block_rows = _rows_in_a_block(self.n_rows)

    def candidates(
        self,
        rows: NDArray[np.intp],
        groups: NDArray[np.intp],
        n_neighbors: int,
        careful: bool = False,
    ) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of `rows`, of other groups."""
        shape = (len(rows), _with_spare(n_neighbors, self.n_rows))
        indices, values = np.full(shape, -1, dtype=np.intp), np.full(shape, np.inf)
        kernels.smallest(self._block(rows), groups[rows], groups, indices, values)
        return Candidates(indices, values, np.ones(len(rows), dtype=bool))

    def exact(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return distances of given pairs."""
        chosen = np.take_along_axis(self._block(rows), np.maximum(others, 0), axis=1)
        return np.where(others < 0, np.inf, chosen)

    def _block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        block = pairwise_distances(self.X[rows], self.X, metric="manhattan")
        return np.ascontiguousarray(block, dtype=np.float64)


_DISTANCES: dict[str, type[SquaredEuclidean] | type[Manhattan]] = {
    "euclidean": SquaredEuclidean,
    "manhattan": Manhattan,
    "cosine": Cosine,
}


def distances_between_rows(X: Any, metric: str) -> Distances:
    """Prepare the rows of `X` for repeated distance queries under `metric`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = distances_between_rows(np.array([[0.0], [1.0], [3.0]]), "euclidean")
    >>> rows.exact(np.array([0]), np.array([[1, 2]])).tolist()
    [[1.0, 3.0]]
    """
    check_metric(metric)
    # Rows are gathered by the thousand: each should lie in one piece.
    return _DISTANCES[metric](X if sparse.issparse(X) else np.ascontiguousarray(X))


def check_metric(metric: str) -> None:
    """Raise where there is no such metric."""
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}.")


class _DenseRows:
    """Rows about their centre, in a unit that keeps squares in range, and their products."""

    def __init__(self, X: NDArray[Any], dtype: type[np.floating[Any]]):
        centre, self._exponent = _centre_and_exponent(X)
        self.values = np.ldexp(X - centre, -self._exponent).astype(dtype, copy=False)
        self.squares: NDArray[Any] = np.einsum("ij,ij->i", self.values, self.values)
        self.block_rows = TILE_ROWS
        # Rounding errors of a sum of d products grow like sqrt(d) (Higham and Mary 2019).
        self._tolerance = 4 * np.sqrt(X.shape[1] + 4) * float(np.finfo(dtype).eps)

    def tiles(self, rows: NDArray[np.intp]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield ranges of rows and the products of `rows` with them, in one buffer."""
        left, transposed = self.values[rows], self.values.T
        n_rows = len(self.values)
        buffer = np.empty(len(rows) * min(TILE_COLUMNS, n_rows), dtype=left.dtype)
        for start in range(0, n_rows, TILE_COLUMNS):
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


class _SparseRows:
    """Rows of a CSR matrix, where they are, and their products.

    Always of double precision: the cost is that of the indices.
    """

    def __init__(self, X: Any, dtype: type[np.floating[Any]]):
        self.values = X.astype(np.float64, copy=False)
        self.squares = _row_squares(self.values)
        self.block_rows = _rows_in_a_block(X.shape[0])
        self._transposed = self.values.T

    def tiles(self, rows: NDArray[np.intp]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield all rows and the products of `rows` with them."""
        products = (self.values[rows] @ self._transposed).toarray()
        yield slice(0, self.values.shape[0]), np.ascontiguousarray(products)

    def certain(
        self,
        lengths: NDArray[np.float64],
        squares: NDArray[Any],
        bounds: NDArray[Any],
        n_neighbors: int,
    ) -> NDArray[np.bool_]:
        """Take the candidates as they are."""
        return np.ones(len(lengths), dtype=bool)


def without_rounding(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keep some ten digits, so that lengths equal but for rounding error tie.

    Ties are then broken by index; in whatever unit the data comes, the same way.

    Examples
    --------
    >>> import numpy as np
    >>> len(set(without_rounding(np.array([0.3, 0.1 + 0.2])).tolist()))
    1
    """
    mantissa, exponent = np.frexp(lengths)
    return np.ldexp(np.round(mantissa * 2.0**34) / 2.0**34, exponent)


def _centre_and_exponent(X: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Near the mean, but of few binary digits, so that whole numbers stay exact; and a unit."""
    centre = X.mean(axis=0)
    spread = max(float((X.max(axis=0) - centre).max()), float((centre - X.min(axis=0)).max()))
    exponent = int(np.frexp(spread)[1])
    quantum = np.ldexp(1.0, exponent - 6)
    if quantum:
        centre = (np.round(centre.astype(np.float64) / quantum) * quantum).astype(centre.dtype)
    return centre, exponent


def _row_squares(X: Any) -> NDArray[Any]:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _with_spare(n_neighbors: int, n_rows: int) -> int:
    """A few spare candidates, so that the exact second look can put near-ties right."""
    return min(n_rows, n_neighbors + max(5, n_neighbors // 2))


def _rows_in_a_block(n_rows: int) -> int:
    return max(1, BLOCK_BYTES // (8 * max(1, n_rows)))
