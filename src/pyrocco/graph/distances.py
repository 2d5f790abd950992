"""Distances between the rows of a matrix, dense or CSR, a block of rows at a time."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import normalize

from pyrocco.backends.kernels import search as kernels
from pyrocco.graph.products import DenseRows, SparseRows, row_squares, rows_in_a_block

METRICS = ("euclidean", "manhattan", "cosine")


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
        first: int = 0,
    ) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of `rows`, of other groups.

        Only rows from `first` on are looked at.
        """

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
        self._rows = SparseRows if sparse.issparse(X) else DenseRows
        self._single = self._rows(X, np.float32)
        self._double: DenseRows | SparseRows | None = None
        self.block_rows = self._single.block_rows

    def candidates(
        self,
        rows: NDArray[np.intp],
        groups: NDArray[np.intp],
        n_neighbors: int,
        careful: bool = False,
        first: int = 0,
    ) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of `rows`, of other groups.

        Only rows from `first` on are looked at.
        """
        among = self._doubled() if careful else self._single
        count = _with_spare(n_neighbors, self.n_rows)
        indices = np.full((len(rows), count), -1, dtype=np.intp)
        values = np.full((len(rows), count), np.inf, dtype=among.squares.dtype)
        mine, squares = groups[rows], among.squares
        for part, products in among.tiles(rows, first):
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

    def _doubled(self) -> DenseRows | SparseRows:
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
        empty = np.asarray(row_squares(unit) == 0, dtype=X.dtype)[:, None]
        if empty.any():
            stack = sparse.hstack if sparse.issparse(X) else np.hstack
            unit = stack([unit, empty])
        super().__init__(unit.tocsr() if sparse.issparse(X) else unit)
        if sparse.issparse(X):
            # One to the last bit, so that a row of zeros is equally far from all others.
            self._single.squares = np.ones(self.n_rows)

    def _from_lengths(self, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        return lengths / 2


class BlockDistances:
    """Distances that come by the block: of some rows to all rows at once."""

    def __init__(self, X: Any):
        self.X = X
        self.n_rows = X.shape[0]
        self.block_rows = rows_in_a_block(self.n_rows)

    def candidates(
        self,
        rows: NDArray[np.intp],
        groups: NDArray[np.intp],
        n_neighbors: int,
        careful: bool = False,
        first: int = 0,
    ) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of `rows`, of other groups.

        Only rows from `first` on are looked at.
        """
        shape = (len(rows), _with_spare(n_neighbors, self.n_rows))
        indices, values = np.full(shape, -1, dtype=np.intp), np.full(shape, np.inf)
        block = np.ascontiguousarray(self.block(rows)[:, first:])
        kernels.smallest(block, groups[rows], groups[first:], indices, values)
        indices[indices >= 0] += first
        return Candidates(indices, values, np.ones(len(rows), dtype=bool))

    def exact(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return distances of given pairs."""
        chosen = np.take_along_axis(self.block(rows), np.maximum(others, 0), axis=1)
        return np.where(others < 0, np.inf, chosen)

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances of `rows` to all rows."""
        raise NotImplementedError


class Manhattan(BlockDistances):
    """Sums of absolute differences; there is no product to make them faster."""

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances of `rows` to all rows."""
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


def _with_spare(n_neighbors: int, n_rows: int) -> int:
    """A few spare candidates, so that the exact second look can put near-ties right."""
    return min(n_rows, n_neighbors + max(5, n_neighbors // 2))
