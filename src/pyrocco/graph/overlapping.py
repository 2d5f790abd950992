"""Approximate neighbours of very many rows: shards that overlap, each searched by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from pyrocco.backends.exchange import exchange
from pyrocco.backends.kernels.bits import MIXER
from pyrocco.backends.rowblocks import RowBlocks, Store
from pyrocco.graph.approximate import ApproximateSearch, cell_centres, centre_scores
from pyrocco.graph.neighbors import ExactSearch, Neighbors, nearest_first

# Rows of a shard at most: one worker searches it.
_SHARD_ROWS = 100_000
# Shards that every row is in. Rows at the border of one lie inside another.
_TIMES = 2
# Arrays of the size of a shard that a search holds at once.
_SEARCH_ARRAYS = 6
# A shard may be this many times as large as they are on average.
_SLACK = 2
_SAMPLE_PER_SHARD = 64


class OverlappingShards:
    """Puts every row into the two shards nearest to it and merges what it finds in both.

    A shard has a bounded number of rows, so that the work grows with the number of rows and
    not faster; one that too many rows are near to is dealt out into parts. Distances of what
    is found are exact.

    Parameters
    ----------
    store : Store
        Where the blocks are.
    shard_rows : int
        Rows of a shard, on average, at most.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends.scratch import ScratchStore
    >>> X = RowBlocks.cut(np.arange(40.0)[:, None] ** 2, [0, 25, 40], ScratchStore())
    >>> OverlappingShards(X.store, shard_rows=10).search(X, 1, "euclidean").indices[:3].tolist()
    [[1], [0], [1]]
    """

    def __init__(self, store: Store, shard_rows: int = _SHARD_ROWS):
        self.store, self.shard_rows = store, shard_rows

    def search(self, X: RowBlocks, n_neighbors: int, metric: str) -> Neighbors:
        """Return `n_neighbors` near rows of every row of `X`, most of them the nearest."""
        if metric == "manhattan" or _is_sparse(X):
            raise ValueError(
                f"{len(X)} rows in blocks are too many to compare all with all, and shards take "
                "dense rows and the metrics euclidean and cosine: choose one of these, or "
                "reduce the columns to some hundreds of dense features first."
            )
        X = X.then(_unit_rows) if metric == "cosine" else X
        found = self.store.fetch(self._searched(X, self._centres(X), n_neighbors))
        near = _gathered(found, len(X), n_neighbors)
        distances = near.distances if metric == "euclidean" else np.square(near.distances) / 2
        return Neighbors(near.indices, distances)

    def _room(self, X: RowBlocks) -> int:
        """Rows that one shard may have, those included that it shares with others."""
        fitting = self.store.memory // (_SEARCH_ARRAYS * X.n_columns * X.dtype.itemsize)
        return max(_TIMES, min(_TIMES * self.shard_rows, fitting))

    def _centres(self, X: RowBlocks) -> NDArray[np.float32]:
        """Means of shards, from a sample."""
        count = -(-_TIMES * len(X) // self._room(X))
        size = min(len(X), count * _SAMPLE_PER_SHARD)
        rows = np.sort(np.random.default_rng(0).choice(len(X), size, replace=False))
        return cell_centres(X[rows].astype(np.float32), count, None)

    def _searched(self, X: RowBlocks, centres: NDArray[np.float32], n_neighbors: int) -> list[Any]:
        """Begin to search every shard."""
        there = self.store.put(centres)
        routes = [X.submit(i, _routes, there) for i in range(len(X.blocks))]
        counts = self.store.fetch([self.store.submit(_counts, r, len(centres)) for r in routes])
        parts = np.array([self._n_parts(count, X) for count in sum(counts)])

        def cut(i: int, wanted: range) -> Any:
            return X.submit(i, _members_of_block, routes[i], parts, int(X.ends[i]), wanted)

        def again(members: Any, _: range, part: int) -> Any:
            return self.store.submit(_members, members, range(part, part + 1))

        shape = len(routes), int(parts.sum())
        shards = exchange(self.store, *shape, cut, _joined, again)
        return [self.store.submit(_search, members, n_neighbors) for members in shards]

    def _n_parts(self, count: int, X: RowBlocks) -> int:
        """Parts of a shard: where rows crowd, one centre draws many."""
        return max(1, -(-int(count) // (_SLACK * self._room(X)))) if count else 0


Members = tuple[NDArray[np.intp], NDArray[Any], NDArray[np.intp]]


def _is_sparse(X: RowBlocks) -> bool:
    return not isinstance(X.store.fetch([X.submit(0, _first_row)])[0], np.ndarray)


def _first_row(block: Any) -> Any:
    return block[:1]


def _unit_rows(block: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(normalize(block))


def _routes(block: NDArray[Any], centres: NDArray[np.float32]) -> NDArray[np.int32]:
    """The shards of every row."""
    times = min(_TIMES, len(centres))
    scores = centre_scores(block.astype(np.float32), centres)
    return np.argpartition(scores, times - 1, axis=1)[:, :times].astype(np.int32)


def _counts(routes: NDArray[np.int32], n_shards: int) -> NDArray[np.intp]:
    return np.bincount(routes.ravel(), minlength=n_shards)


def _members_of_block(
    block: NDArray[Any],
    routes: NDArray[np.int32],
    parts: NDArray[np.intp],
    start: int,
    wanted: range,
) -> Members:
    """Rows of a block that belong to some parts of shards: numbers, values, all their parts."""
    numbers = np.arange(start, start + len(block))
    # Dealt out by their numbers, mixed: neighbours in a file need not be neighbours here.
    mixed = numbers.astype(np.uint64) * np.uint64(MIXER) >> np.uint64(32)
    first = np.cumsum(parts) - parts
    dealt = mixed[:, None] % parts[routes].astype(np.uint64)
    return _members((numbers, block, first[routes] + dealt.astype(np.intp)), wanted)


def _members(members: Members, wanted: range) -> Members:
    """Those that belong to some parts of shards."""
    of_parts = members[2]
    inside = ((of_parts >= wanted.start) & (of_parts < wanted.stop)).any(axis=1)
    numbers, values, of_parts = (each[inside] for each in members)
    return numbers, values, of_parts


def _joined(members: list[Members]) -> Members:
    numbers, values, parts = map(np.concatenate, zip(*members, strict=True))
    return numbers, values, parts


def _search(
    members: list[Members], n_neighbors: int
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.float64]]:
    """Neighbours of the rows of a shard within it: numbers of rows, of neighbours, lengths."""
    rows, points, _ = _joined(members)
    count = min(n_neighbors, len(rows) - 1)
    if count < 1:
        return rows, np.empty((len(rows), 0), dtype=np.int64), np.empty((len(rows), 0))
    few = len(rows) <= _EXACT_SHARD
    search = ExactSearch(n_threads=1) if few else ApproximateSearch(n_threads=1)
    found = search.search(points, count, "euclidean")
    return rows, np.where(found.indices < 0, -1, rows[found.indices]), found.distances


# Rows of a shard up to which comparing all with all takes no longer.
_EXACT_SHARD = 10_000


def _gathered(found: list[Any], n_rows: int, n_neighbors: int) -> Neighbors:
    """The nearest of what every row has found in its shards, nobody twice."""
    width = _TIMES * n_neighbors
    indices = np.full((n_rows, width), -1, dtype=np.intp)
    distances = np.full((n_rows, width), np.inf)
    filled = np.zeros(n_rows, dtype=np.intp)
    for rows, near, lengths in found:
        places = filled[rows][:, None] * n_neighbors + np.arange(near.shape[1])
        indices[rows[:, None], places] = near
        distances[rows[:, None], places] = lengths
        filled[rows] += 1
    order = np.argsort(indices, axis=1, kind="stable")
    indices, distances = (np.take_along_axis(a, order, 1) for a in (indices, distances))
    again = np.zeros_like(indices, dtype=bool)
    again[:, 1:] = indices[:, 1:] == indices[:, :-1]
    indices[again], distances[again] = -1, np.inf
    return nearest_first(indices, distances, n_neighbors)
