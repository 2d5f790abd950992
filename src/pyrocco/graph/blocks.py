"""Nearest neighbours among the rows, and among the columns, of a matrix in blocks of rows."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances

from pyrocco.backends import blockwork
from pyrocco.backends.blocks import BlockBackend
from pyrocco.backends.rowblocks import RowBlocks, Turned, dense
from pyrocco.graph.approximate import EXACT_ROWS
from pyrocco.graph.distances import BlockDistances, distances_between_rows
from pyrocco.graph.join import Outside
from pyrocco.graph.neighbors import Neighbors, nearest, nearest_first, nearest_outside
from pyrocco.graph.overlapping import OverlappingShards


class BlockSearch:
    """Exact for columns and for rows up to as many as that is quick for, approximate above.

    Blocks are compared two and two, and what each row has found is merged: the result is that
    of `ExactSearch` on the whole.

    Parameters
    ----------
    backend : BlockBackend
        Where the blocks are.
    exact_rows : int
        Rows up to which all are compared with all.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends.scratch import ScratchStore
    >>> backend = BlockBackend(ScratchStore())
    >>> X = RowBlocks.cut(np.array([[0.0], [1.0], [3.0]]), [0, 2, 3], backend.store)
    >>> BlockSearch(backend).search(X, 1, "euclidean").indices.ravel().tolist()
    [1, 0, 1]
    """

    def __init__(self, backend: BlockBackend, exact_rows: int = EXACT_ROWS):
        self.backend, self.exact_rows = backend, exact_rows
        self.name = "exact"
        self._columns: GivenDistances | None = None

    def search(self, X: Any, n_neighbors: int, metric: str) -> Neighbors:
        """Return the `n_neighbors` nearest other rows of every row of `X`."""
        if isinstance(X, Turned):
            self.name, self._columns = "exact", _column_distances(X.blocks, metric, self.backend)
            return nearest(self._columns, n_neighbors)
        if not isinstance(X, RowBlocks):
            return nearest(distances_between_rows(X, metric), n_neighbors)
        if len(X) > self.exact_rows:
            self.name = "approximate"
            return OverlappingShards(self.backend.store).search(X, n_neighbors, metric)
        return _of_all_pairs(X, n_neighbors, metric)

    def outside(self, X: Any, metric: str) -> Outside:
        """Return a function that finds the nearest rows of other groups (see `Outside`)."""
        if isinstance(X, Turned):
            columns = self._columns or _column_distances(X.blocks, metric, self.backend)
            return partial(nearest_outside, columns)
        if not isinstance(X, RowBlocks):
            return partial(nearest_outside, distances_between_rows(X, metric))

        def find(rows: NDArray[np.intp], groups: NDArray[np.intp], count: int) -> Neighbors:
            return _of_some_rows(X, rows, groups, count, metric)

        return find


def _of_all_pairs(X: RowBlocks, n_neighbors: int, metric: str) -> Neighbors:
    """Every block asks every block; each keeps the best of what it was told."""
    blocks, store = range(len(X.blocks)), X.store
    settled = X.settled()
    merged = []
    for i in blocks:
        told = [
            settled.submit(
                i, _told, settled.blocks[j], n_neighbors, metric, int(X.ends[j]), i == j
            )
            for j in blocks
        ]
        merged.append(store.submit(_best, told, n_neighbors))
    found = store.fetch(merged)
    return Neighbors(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _of_some_rows(
    X: RowBlocks, rows: NDArray[np.intp], groups: NDArray[np.intp], count: int, metric: str
) -> Neighbors:
    """A few rows go round to all blocks."""
    if not len(rows):
        return Neighbors(np.empty((0, count), dtype=np.intp), np.empty((0, count)))
    asking, own = X.gathered(rows), groups[rows]
    told = [
        X.submit(i, _told_of_groups, asking, own, groups[a:b], count, metric, int(a))
        for i, (a, b) in enumerate(pairwise(X.ends))
    ]
    return Neighbors(*X.store.fetch([X.store.submit(_best, told, count)])[0])


def _told(
    mine: Any, theirs: Any, n_neighbors: int, metric: str, start: int, same: bool
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Nearest rows of one block for every row of another, or of the same."""
    if same:
        found = nearest(distances_between_rows(_as_floats(mine), metric), n_neighbors, 1)
        return np.where(found.indices < 0, -1, found.indices + start), found.distances
    groups = np.zeros(mine.shape[0], dtype=np.intp), np.ones(theirs.shape[0], dtype=np.intp)
    return _told_of_groups(theirs, mine, *groups, n_neighbors, metric, start)


def _told_of_groups(
    block: Any,
    asking: Any,
    own: NDArray[np.intp],
    groups: NDArray[np.intp],
    count: int,
    metric: str,
    start: int,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Nearest rows of a block, of other groups, for each of the rows that ask."""
    stack = sparse.vstack if sparse.issparse(block) and sparse.issparse(asking) else np.vstack
    if stack is np.vstack:
        block, asking = dense(block), dense(asking)
    both = _as_floats(stack([asking, block]))
    n_asking = asking.shape[0]
    found = nearest_outside(
        distances_between_rows(both, metric),
        np.arange(n_asking),
        np.r_[own, groups],
        count,
        n_threads=1,
        first=n_asking,
    )
    return np.where(found.indices < 0, -1, found.indices - n_asking + start), found.distances


def _best(
    told: list[tuple[NDArray[np.intp], NDArray[np.float64]]], count: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    found = nearest_first(
        np.hstack([indices for indices, _ in told]),
        np.hstack([distances for _, distances in told]),
        count,
    )
    return found.indices, found.distances


def _as_floats(X: Any) -> Any:
    return X.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X)


class GivenDistances(BlockDistances):
    """Distances that are all known already."""

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances of `rows` to all rows."""
        return np.ascontiguousarray(self.X[rows])


# Columns nearest to each that are looked at once more, without the rounding errors of products.
_AGAIN = 30


def _column_distances(X: RowBlocks, metric: str, backend: BlockBackend) -> GivenDistances:
    """Distances between columns: sums over blocks; the small ones by differences of cells."""
    if metric == "manhattan":
        return GivenDistances(X.total(_manhattan_part))
    if metric == "cosine":
        X, empty = _unit_columns(X)
    gram = X.total(blockwork.gram)
    squares = np.diag(gram)
    lengths = np.maximum(squares[:, None] + squares - 2 * gram, 0)
    _look_again(lengths, X, backend)
    if metric == "euclidean":
        return GivenDistances(np.sqrt(lengths))
    # An empty column is like others of its kind and unlike all the rest.
    distances = lengths / 2
    distances[empty] = distances[:, empty] = 1.0
    distances[np.ix_(empty, empty)] = 0.0
    return GivenDistances(distances)


def _look_again(lengths: NDArray[np.float64], X: RowBlocks, backend: BlockBackend) -> None:
    """Differences of cells in place of differences of products, for the nearest columns."""
    n_columns = len(lengths)
    count = min(n_columns, _AGAIN)
    near = np.argpartition(lengths, count - 1, axis=1)[:, :count]
    ends = np.repeat(np.arange(n_columns), count), near.ravel()
    heads, tails = np.minimum(*ends), np.maximum(*ends)
    keys = np.unique((heads * n_columns + tails)[heads < tails])
    heads, tails = np.divmod(keys, n_columns)
    exact = backend.edge_lengths(X, heads, tails, 1)
    lengths[heads, tails] = lengths[tails, heads] = exact


def _unit_columns(X: RowBlocks) -> tuple[RowBlocks, NDArray[np.bool_]]:
    squares = X.total(_column_squares)
    empty = squares == 0
    factors = 1 / np.sqrt(np.where(empty, 1.0, squares))
    return X.then(partial(_scaled_columns, factors=factors)), empty


def _column_squares(block: Any) -> NDArray[np.float64]:
    squares = block.multiply(block) if sparse.issparse(block) else np.square(block)
    return np.asarray(squares.sum(axis=0, dtype=np.float64)).ravel()


def _scaled_columns(block: Any, factors: NDArray[np.float64]) -> Any:
    factors = factors.astype(block.dtype)
    if sparse.issparse(block):
        return block.multiply(factors).tocsr()
    return block * factors


def _manhattan_part(block: Any) -> NDArray[np.float64]:
    turned = block.T.tocsr() if sparse.issparse(block) else np.ascontiguousarray(block.T)
    return np.asarray(pairwise_distances(turned, metric="manhattan"), dtype=np.float64)
