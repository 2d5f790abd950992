"""Distances between the rows of a matrix, dense or CSR, for some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import sklearn  # imports its modules when they are first used
from scipy import sparse

from pyrocco._typing import Dense, Floats, Labels, Mask, Matrix, is_sparse
from pyrocco.backends import kernels
from pyrocco.validation import check_choice

METRICS = ("euclidean", "manhattan", "cosine")

# A tile of products should stay in the second-level cache until it has been read.
TILE_ROWS = 256
TILE_COLUMNS = 1024
# Share of filled cells above which dense products take less time than sparse ones. A dense array
# in single precision then takes about as much memory as two sparse matrices in double precision.
DENSE_SHARE = 0.15
# Sparse products and sums of absolute differences are computed for whole rows of distances.
BATCH_BYTES = 32 * 2**20


class Query(NamedTuple):
    """Rows whose nearest rows in other components are sought, among rows from `first` on."""

    rows: Labels
    components: Labels
    n_neighbors: int
    first: int = 0


class Candidates(NamedTuple):
    """Rows that may be the nearest, their distances, and whether no other row can be nearer."""

    indices: Labels
    distances: Floats
    certain: Mask


class Distances(Protocol):
    """One metric on the rows of one matrix."""

    n_rows: int
    batch_rows: int  # rows to ask for at the same time

    def candidates(self, query: Query, careful: bool = False) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of the rows of a query."""

    def exact(self, rows: Labels, others: Labels) -> Floats:
        """Return the distances of each of `rows` to the rows in its row of `others`."""


class DenseRows:
    """Dense rows and their products, centred and scaled so that squares stay in range."""

    def __init__(self, X: Dense, dtype: type[np.floating[Any]]):
        centre, self._exponent = _centre_and_exponent(X)
        values = X - centre
        np.ldexp(values, -self._exponent, out=values)
        self.values: Dense = values.astype(dtype, copy=False)
        self.squares: Dense = np.einsum("ij,ij->i", self.values, self.values)
        self.batch_rows = TILE_ROWS
        # Rounding errors of a sum of d products grow like sqrt(d) (Higham and Mary 2019).
        self._tolerance = 4 * np.sqrt(X.shape[1] + 4) * float(np.finfo(dtype).eps)

    def tiles(self, rows: Labels, first: int = 0) -> Iterator[tuple[slice, Dense]]:
        """Yield ranges of rows and the products of `rows` with them, in one buffer."""
        left, transposed = _taken(self.values, rows), self.values.T
        n_rows = self.values.shape[0]
        buffer = np.empty(len(rows) * min(TILE_COLUMNS, n_rows), dtype=left.dtype)
        for start in range(first, n_rows, TILE_COLUMNS):
            part = slice(start, min(start + TILE_COLUMNS, n_rows))
            out = buffer[: len(rows) * (part.stop - start)].reshape(len(rows), -1)
            yield part, np.matmul(left, transposed[:, part], out=out)

    def certain(self, lengths: Floats, squares: Dense, bounds: Dense, n_neighbors: int) -> Mask:
        """Whether no row beyond the bound can be among the nearest despite rounding errors.

        A row within distance D of a row of square s has a square of at most 2 (s + D).
        """
        kth = min(n_neighbors, lengths.shape[1]) - 1
        last = np.ldexp(np.partition(lengths, kth, axis=1)[:, kth], -2 * self._exponent)
        with np.errstate(invalid="ignore"):
            sure = bounds - self._tolerance * (3 * squares + 2 * last) > last
        return np.asarray(sure | np.isinf(bounds))


class SparseRows:
    """Rows of a CSR matrix and their products, in float64: most of the cost is in the indices."""

    def __init__(self, X: sparse.csr_array, dtype: type[np.floating[Any]]):
        self.values: sparse.csr_array = X.astype(np.float64, copy=False)
        self.squares = row_squares(self.values)
        self.batch_rows = rows_in_a_batch(X.shape[0])
        self._transposed = self.values.T.tocsr()

    def tiles(self, rows: Labels, first: int = 0) -> Iterator[tuple[slice, Dense]]:
        """Yield the range of all rows from `first` on and the products of `rows` with them."""
        X, Y = self.values, self._transposed
        products = np.empty((len(rows), X.shape[0]))
        kernels.graphs.sparse_products(
            X.data, X.indices, X.indptr, Y.data, Y.indices, Y.indptr, rows, products
        )
        yield slice(first, X.shape[0]), np.ascontiguousarray(products[:, first:])

    def certain(self, lengths: Floats, squares: Dense, bounds: Dense, n_neighbors: int) -> Mask:
        """Return True for all rows."""
        return np.ones(len(lengths), dtype=bool)


class SquaredEuclidean:
    """Euclidean distances: candidates by matrix products, then distances by differences.

    Products are fast but lose digits if rows nearly coincide. Dense products are computed in
    single precision. If that may have missed a neighbour, the search asks again with
    ``careful=True`` for double precision.
    """

    def __init__(self, X: Matrix):
        self.X = X
        self.n_rows = X.shape[0]
        self._rows = SparseRows if sparse.issparse(X) else DenseRows
        self._single = self._rows(X, np.float32)
        self._double: DenseRows | SparseRows | None = None
        self.batch_rows = self._single.batch_rows

    def candidates(self, query: Query, careful: bool = False) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of the rows of a query."""
        rows, components, n_neighbors, first = query
        among = self._doubled() if careful else self._single
        count = _with_spare(n_neighbors, self.n_rows)
        indices = np.full((len(rows), count), -1, dtype=np.intp)
        values = np.full((len(rows), count), np.inf, dtype=among.squares.dtype)
        own, squares = components[rows], among.squares
        for part, products in among.tiles(rows, first):
            kernels.graphs.nearer(
                products, squares[rows], squares[part], own, components[part],
                part.start, indices, values,
            )  # fmt: skip
        lengths = self._lengths(rows, indices)
        certain = among.certain(lengths, squares[rows], values[:, -1], n_neighbors)
        return Candidates(indices, self._from_lengths(lengths), certain | careful)

    def exact(self, rows: Labels, others: Labels) -> Floats:
        """Return distances of given pairs."""
        return self._from_lengths(self._lengths(rows, others))

    def points(self) -> Matrix:
        """Return rows, in single precision if dense, whose Euclidean distances sort the same."""
        return self._single.values

    def _doubled(self) -> DenseRows | SparseRows:
        if self._double is None:
            self._double = self._rows(self.X, np.float64)
        return self._double

    def _lengths(self, rows: Labels, others: Labels) -> Floats:
        out = np.empty(others.shape)
        if isinstance(self.X, np.ndarray):
            kernels.graphs.dense_pair_distances(self.X, rows, others, out)
        else:
            csr = self.X.data, self.X.indices, self.X.indptr
            kernels.graphs.sparse_pair_distances(*csr, rows, others, out)
        return out

    def _from_lengths(self, lengths: Floats) -> Floats:
        return np.sqrt(lengths)


class Cosine(SquaredEuclidean):
    """One minus the cosine: half the squared distance between rows of length one.

    A row of zeros gets a direction of its own, an extra column. Such rows then have distance
    zero to each other and distance one to all other rows.
    """

    def __init__(self, X: Matrix):
        unit = sklearn.preprocessing.normalize(X)
        empty = np.asarray(row_squares(unit) == 0, dtype=X.dtype)[:, None]
        if empty.any():
            stack = sparse.hstack if sparse.issparse(X) else np.hstack
            unit = stack([unit, empty])
        super().__init__(unit.tocsr() if sparse.issparse(X) else unit)
        if sparse.issparse(X):
            # Exactly one, so that a row of zeros is equally far from all others.
            self._single.squares = np.ones(self.n_rows)

    def _from_lengths(self, lengths: Floats) -> Floats:
        return lengths / 2


class RowDistances:
    """Distances that are computed from some rows to all rows at once."""

    def __init__(self, X: Matrix):
        self.X = X
        self.n_rows = X.shape[0]
        self.batch_rows = rows_in_a_batch(self.n_rows)

    def candidates(self, query: Query, careful: bool = False) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of the rows of a query."""
        rows, components, n_neighbors, first = query
        shape = (len(rows), _with_spare(n_neighbors, self.n_rows))
        indices, values = np.full(shape, -1, dtype=np.intp), np.full(shape, np.inf)
        distances = np.ascontiguousarray(self.to_all(rows)[:, first:])
        kernels.graphs.smallest(distances, components[rows], components[first:], indices, values)
        indices[indices >= 0] += first
        return Candidates(indices, values, np.ones(len(rows), dtype=bool))

    def exact(self, rows: Labels, others: Labels) -> Floats:
        """Return distances of given pairs."""
        chosen = np.take_along_axis(self.to_all(rows), np.maximum(others, 0), axis=1)
        return np.where(others < 0, np.inf, chosen)

    def to_all(self, rows: Labels) -> Floats:
        """Return the distances of `rows` to all rows."""
        raise NotImplementedError


class Manhattan(RowDistances):
    """Sums of absolute differences, which no product can speed up."""

    def to_all(self, rows: Labels) -> Floats:
        """Return the distances of `rows` to all rows."""
        distances = sklearn.metrics.pairwise_distances(self.X[rows], self.X, metric="manhattan")
        return np.ascontiguousarray(distances, dtype=np.float64)


_DISTANCES: dict[str, type[SquaredEuclidean] | type[Manhattan]] = {
    "euclidean": SquaredEuclidean,
    "manhattan": Manhattan,
    "cosine": Cosine,
}


def distances_between_rows(X: Matrix, metric: str) -> Distances:
    """Prepare the rows of `X` for repeated distance queries under `metric`.

    A sparse matrix of which more than `DENSE_SHARE` is filled becomes an array.
    """
    check_metric(metric)
    if is_sparse(X):
        filled = X.nnz / (X.shape[0] * X.shape[1])
        return _DISTANCES[metric](X.toarray() if filled > DENSE_SHARE else X)
    # Rows are gathered by the thousand, which is faster if each of them is contiguous.
    return _DISTANCES[metric](np.ascontiguousarray(X))


def check_metric(metric: str) -> None:
    """Raise an error if there is no such metric."""
    check_choice("metric", metric, METRICS)


def without_rounding(lengths: Floats) -> Floats:
    """Round to about ten digits, so that ties are broken by index in every unit of the data."""
    mantissa, exponent = np.frexp(lengths)
    return np.ldexp(np.round(mantissa * 2.0**34) / 2.0**34, exponent)


def row_squares(X: Matrix) -> Dense:
    """Compute the inner product of every row with itself."""
    if isinstance(X, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", X, X))
    return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype)


def rows_in_a_batch(n_rows: int) -> int:
    """Return the number of rows whose distances to `n_rows` others fit into one batch."""
    return max(1, BATCH_BYTES // (8 * max(1, n_rows)))


def _with_spare(n_neighbors: int, n_rows: int) -> int:
    """Add a few candidates, so that exact distances can correct the order of near-ties."""
    return min(n_rows, n_neighbors + max(5, n_neighbors // 2))


def _taken(values: Dense, rows: Labels) -> Dense:
    """Select some rows, without a copy if they are consecutive."""
    if np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return values[rows[0] : rows[0] + len(rows)]
    return values[rows]


def _centre_and_exponent(X: Dense) -> tuple[Dense, int]:
    """Return a centre near the mean with few binary digits, and the exponent of the spread.

    With few digits in the centre, whole numbers remain exact.
    """
    centre = X.mean(axis=0)
    spread = max(float((X.max(axis=0) - centre).max()), float((centre - X.min(axis=0)).max()))
    exponent = int(np.frexp(spread)[1])
    quantum = np.ldexp(1.0, exponent - 6)
    if quantum:
        centre = (np.round(centre.astype(np.float64) / quantum) * quantum).astype(centre.dtype)
    return centre, exponent
