"""Exact nearest neighbours by blocks: dense or CSR, memory of one block of distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import normalize

from pyrocco.backends.kernels import search as kernels

METRICS = ("euclidean", "manhattan", "cosine")
# One block of distances should stay in the cache between its making and its reading.
BLOCK_BYTES = 8 * 2**20


@dataclass(frozen=True)
class Neighbors:
    """Neighbours of every row, nearest first; index -1 and distance inf where there is none."""

    indices: NDArray[np.intp]
    distances: NDArray[np.float64]


class Distances(Protocol):
    """One metric over the rows of one matrix."""

    n_rows: int
    dtype: np.dtype[Any]

    def block(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return values that order the distances from `rows` to every row."""

    def exact(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances of each of `rows` to its row of `others`."""


class SquaredEuclidean:
    """Distances by one matrix product a block, then once more by direct differences.

    The product is fast but loses digits where rows nearly coincide; it only picks the
    candidates.
    """

    def __init__(self, X: Any):
        self.X: Any = X if sparse.issparse(X) else np.ascontiguousarray(X - X.mean(axis=0))
        self.n_rows = X.shape[0]
        self.dtype = X.dtype
        self._transposed: Any = self.X.T
        self._squares = _row_squares(self.X)

    def block(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return squared distances from `rows` to every row."""
        products = self.X[rows] @ self._transposed
        if sparse.issparse(products):
            products = products.toarray()
        kernels.products_to_squared_distances(products, self._squares[rows], self._squares)
        return np.asarray(products)

    def exact(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return distances of given pairs."""
        out = np.empty(others.shape)
        if sparse.issparse(self.X):
            kernels.sparse_pair_distances(
                self.X.data, self.X.indices, self.X.indptr, rows, others, out
            )
        else:
            kernels.dense_pair_distances(self.X, rows, others, out)
        return np.sqrt(out, out=out)


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

    def exact(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return distances of given pairs."""
        return super().exact(rows, others) ** 2 / 2


class Manhattan:
    """Sums of absolute differences; there is no product to make them faster."""

    def __init__(self, X: Any):
        self.X = X
        self.n_rows = X.shape[0]
        self.dtype = np.dtype(np.float64)

    def block(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return distances from `rows` to every row."""
        return np.asarray(pairwise_distances(self.X[rows], self.X, metric="manhattan"))

    def exact(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return distances of given pairs."""
        block = self.block(rows)
        chosen = np.take_along_axis(block, np.maximum(others, 0), axis=1)
        return np.where(others < 0, np.inf, chosen)


_DISTANCES: dict[str, type[SquaredEuclidean] | type[Manhattan]] = {
    "euclidean": SquaredEuclidean,
    "manhattan": Manhattan,
    "cosine": Cosine,
}


def distances_between_rows(X: Any, metric: str) -> Distances:
    """Prepare the rows of `X` for repeated distance queries under `metric`."""
    if metric not in _DISTANCES:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}.")
    return _DISTANCES[metric](X)


def nearest(distances: Distances, n_neighbors: int) -> Neighbors:
    """Find the `n_neighbors` nearest other rows of every row.

    Examples
    --------
    >>> import numpy as np
    >>> rows = distances_between_rows(np.array([[0.0], [1.0], [3.0]]), "euclidean")
    >>> nearest(rows, 1).indices.ravel().tolist()
    [1, 0, 1]
    """
    everyone = np.arange(distances.n_rows)
    return nearest_outside(distances, everyone, everyone, n_neighbors)


def nearest_outside(
    distances: Distances,
    rows: NDArray[np.intp],
    groups: NDArray[np.intp],
    n_neighbors: int,
) -> Neighbors:
    """Find, for each of `rows`, the nearest rows that belong to another group."""
    k = min(n_neighbors, distances.n_rows)
    # A few spare candidates, so that the exact second look can put near-ties right.
    spare = min(distances.n_rows, k + max(5, k // 2))
    indices = np.full((len(rows), k), -1, dtype=np.intp)
    lengths = np.full((len(rows), k), np.inf)
    for part in _blocks(len(rows), distances.n_rows * distances.dtype.itemsize):
        candidates = _candidates(distances, rows[part], groups, spare)
        exact = distances.exact(rows[part], candidates)
        order = np.lexsort((candidates, without_rounding(exact)), axis=1)[:, :k]
        indices[part] = np.take_along_axis(candidates, order, axis=1)
        lengths[part] = np.take_along_axis(exact, order, axis=1)
    return Neighbors(indices, lengths)


def _candidates(
    distances: Distances, rows: NDArray[np.intp], groups: NDArray[np.intp], count: int
) -> NDArray[np.intp]:
    block = distances.block(rows)
    indices = np.full((len(rows), count), -1, dtype=np.intp)
    values = np.full((len(rows), count), np.inf, dtype=block.dtype)
    kernels.smallest(block, groups[rows], groups, indices, values)
    return indices


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


def _row_squares(X: Any) -> NDArray[Any]:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _blocks(n_rows: int, row_bytes: int) -> Iterator[slice]:
    size = max(1, BLOCK_BYTES // max(1, row_bytes))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
