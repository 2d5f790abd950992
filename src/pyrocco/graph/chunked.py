"""Nearest neighbours of the rows, and of the columns, of a matrix in chunks of rows."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from operator import getitem
from typing import Any, TypeAlias

import numpy as np
import sklearn  # imports its modules when they are first used
from numpy.typing import NDArray
from scipy import sparse

from pyrocco._typing import Dense, Floats, Labels, Mask, Matrix
from pyrocco.backends import Chunked, ChunkedBackend, ChunkedMatrix, ChunkedTranspose
from pyrocco.backends.chunked.engine import gram
from pyrocco.backends.chunked.matrix import Store, dense
from pyrocco.backends.chunked.rechunk import exchange
from pyrocco.backends.hashing import MIXER
from pyrocco.graph.approximate import ApproximateSearch, centre_scores, region_centres
from pyrocco.graph.distances import RowDistances, distances_between_rows
from pyrocco.graph.exact import (
    ExactSearch,
    FindOutside,
    Neighbors,
    nearest,
    nearest_first,
    nearest_outside,
)

# Indices of neighbours and their distances.
Found: TypeAlias = tuple[Labels, Floats]
# Rows of a region: their numbers, their values, and all regions that each belongs to.
Members: TypeAlias = tuple[Labels, Dense, Labels]

# Nearest columns of each column whose distances are computed again without rounding errors.
_EXACT_COLUMNS = 30
# Average number of rows of a region at most. One worker searches it.
_REGION_ROWS = 100_000
# Regions that every row belongs to. Rows at the border of one lie inside another.
_TIMES = 2
# Arrays of the size of a region that a search needs at the same time.
_SEARCH_ARRAYS = 6
# A region may be this many times as large as the average.
_SLACK = 2
_SAMPLE_PER_REGION = 64
# Number of rows up to which all pairs are compared: regions of more rows are sent to workers.
_EXACT_ROWS = 100_000
# Rows of a region up to which comparing all pairs is as fast.
_EXACT_REGION = 10_000


class ChunkedSearch:
    """Exact for columns and for up to `exact_rows` rows, approximate for more rows.

    The exact search compares every two chunks and merges the results. It gives the result of
    `ExactSearch` on the whole matrix.
    """

    def __init__(self, backend: ChunkedBackend, exact_rows: int = _EXACT_ROWS):
        self.backend, self.exact_rows = backend, exact_rows
        self.name = "exact"
        self._columns: KnownDistances | None = None

    def search(self, X: Dense | Chunked, n_neighbors: int, metric: str) -> Neighbors:
        """Return the `n_neighbors` nearest other rows of every row of `X`."""
        if isinstance(X, ChunkedTranspose):
            self.name, self._columns = "exact", _column_distances(X.matrix, metric, self.backend)
            return nearest(self._columns, n_neighbors)
        if not isinstance(X, ChunkedMatrix):
            return nearest(distances_between_rows(X, metric), n_neighbors)
        if len(X) > self.exact_rows:
            self.name = "approximate"
            return OverlappingRegions(self.backend.store).search(X, n_neighbors, metric)
        return _of_all_pairs(X, n_neighbors, metric)

    def outside(self, X: Dense | Chunked, metric: str) -> FindOutside:
        """Return a function that finds the nearest rows of other components."""
        if isinstance(X, ChunkedTranspose):
            columns = self._columns or _column_distances(X.matrix, metric, self.backend)
            return partial(nearest_outside, columns)
        if not isinstance(X, ChunkedMatrix):
            return partial(nearest_outside, distances_between_rows(X, metric))

        def find(rows: Labels, components: Labels, count: int) -> Neighbors:
            return _of_some_rows(X, rows, components, count, metric)

        return find


def _of_all_pairs(X: ChunkedMatrix, n_neighbors: int, metric: str) -> Neighbors:
    """Search every chunk for every chunk, and merge the results of each."""
    X = X.persist()
    chunks, store = range(len(X.chunks)), X.store
    merged = []
    for i in chunks:
        found = [
            X.submit(i, _in_chunk, X.chunks[j], n_neighbors, metric, int(X.ends[j]), i == j)
            for j in chunks
        ]
        merged.append(store.submit(_best, found, n_neighbors))
    return Neighbors(*map(np.concatenate, zip(*store.fetch(merged), strict=True)))


def _of_some_rows(
    X: ChunkedMatrix, rows: Labels, components: Labels, count: int, metric: str
) -> Neighbors:
    """Search all chunks for a few rows."""
    if not len(rows):
        return Neighbors(np.empty((0, count), dtype=np.intp), np.empty((0, count)))
    queries, own = X.gather(rows), components[rows]
    found = [
        X.submit(i, _outside_in_chunk, queries, own, components[a:b], count, metric, int(a))
        for i, (a, b) in enumerate(pairwise(X.ends))
    ]
    return Neighbors(*X.store.fetch([X.store.submit(_best, found, count)])[0])


def _in_chunk(
    queries: Matrix, chunk: Matrix, n_neighbors: int, metric: str, start: int, same: bool
) -> Found:
    """Find the nearest rows of a chunk for the rows of another chunk, or of the same."""
    if same:
        found = nearest(distances_between_rows(_as_rows(chunk), metric), n_neighbors, 1)
        return np.where(found.indices < 0, -1, found.indices + start), found.distances
    own, others = np.zeros(queries.shape[0], np.intp), np.ones(chunk.shape[0], np.intp)
    return _outside_in_chunk(chunk, queries, own, others, n_neighbors, metric, start)


def _outside_in_chunk(
    chunk: Matrix,
    queries: Matrix,
    own: Labels,
    components: Labels,
    count: int,
    metric: str,
    start: int,
) -> Found:
    """Find the nearest rows of a chunk, of other components, for each query."""
    if sparse.issparse(chunk) and sparse.issparse(queries):
        both = sparse.vstack([queries, chunk])
    else:
        both = np.vstack([dense(queries), dense(chunk)])
    n_queries = queries.shape[0]
    found = nearest_outside(
        distances_between_rows(_as_rows(both), metric),
        np.arange(n_queries),
        np.r_[own, components],
        count,
        n_threads=1,
        first=n_queries,
    )
    return np.where(found.indices < 0, -1, found.indices - n_queries + start), found.distances


def _best(found: list[Found], count: int) -> Found:
    indices, distances = map(np.hstack, zip(*found, strict=True))
    best = nearest_first(indices, distances, count)
    return best.indices, best.distances


def _as_rows(X: Matrix) -> Matrix:
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X.tocsr()


class KnownDistances(RowDistances):
    """Distances between all pairs, which are computed already."""

    def to_all(self, rows: Labels) -> Floats:
        """Return the distances of `rows` to all rows."""
        return np.ascontiguousarray(self.X[rows])


def _column_distances(X: ChunkedMatrix, metric: str, backend: ChunkedBackend) -> KnownDistances:
    """Compute distances between columns as sums over chunks, small ones from differences."""
    if metric == "manhattan":
        return KnownDistances(X.total(_manhattan_part))
    if metric == "cosine":
        X, empty = _unit_columns(X)
    products = X.total(gram)
    squares = np.diag(products)
    lengths = np.maximum(squares[:, None] + squares - 2 * products, 0)
    _correct_nearest(lengths, X, backend)
    if metric == "euclidean":
        return KnownDistances(np.sqrt(lengths))
    # Columns of zeros have distance zero to each other and distance one to all others.
    distances = lengths / 2
    distances[empty] = distances[:, empty] = 1.0
    distances[np.ix_(empty, empty)] = 0.0
    return KnownDistances(distances)


def _correct_nearest(lengths: Floats, X: ChunkedMatrix, backend: ChunkedBackend) -> None:
    """Compute the squared distances of the nearest columns again from differences."""
    n_columns = len(lengths)
    count = min(n_columns, _EXACT_COLUMNS)
    near = np.argpartition(lengths, count - 1, axis=1)[:, :count]
    ends = np.repeat(np.arange(n_columns), count), near.ravel()
    heads, tails = np.minimum(*ends), np.maximum(*ends)
    keys = np.unique((heads * n_columns + tails)[heads < tails])
    heads, tails = np.divmod(keys, n_columns)
    exact = backend.edge_lengths(X, heads, tails, 1)
    lengths[heads, tails] = lengths[tails, heads] = exact


def _unit_columns(X: ChunkedMatrix) -> tuple[ChunkedMatrix, Mask]:
    squares = X.total(_column_squares)
    empty = squares == 0
    factors = 1 / np.sqrt(np.where(empty, 1.0, squares))
    return X.then(partial(_scaled_columns, factors=factors)), empty


def _column_squares(chunk: Matrix) -> Floats:
    squares = np.square(chunk) if isinstance(chunk, np.ndarray) else chunk.multiply(chunk)
    return np.asarray(squares.sum(axis=0, dtype=np.float64)).ravel()


def _scaled_columns(chunk: Matrix, factors: Floats) -> Matrix:
    factors = factors.astype(chunk.dtype)
    if isinstance(chunk, np.ndarray):
        return np.asarray(chunk * factors)
    return chunk.multiply(factors).tocsr()


def _manhattan_part(chunk: Matrix) -> Floats:
    columns = _as_rows(chunk.T)
    return np.asarray(
        sklearn.metrics.pairwise_distances(columns, metric="manhattan"), dtype=np.float64
    )


class OverlappingRegions:
    """Approximate search that puts every row into the two regions nearest to it.

    Every region is searched by itself, and the results of the two regions are merged. Regions have
    at most `region_rows` rows on average, so that the work grows linearly with the number of rows;
    a region with too many rows is split at random. The distances returned are exact.
    """

    def __init__(self, store: Store, region_rows: int = _REGION_ROWS):
        self.store, self.region_rows = store, region_rows

    def search(self, X: ChunkedMatrix, n_neighbors: int, metric: str) -> Neighbors:
        """Return `n_neighbors` rows near every row of `X`, most of them the nearest."""
        if metric == "manhattan" or _is_sparse(X):
            raise ValueError(
                f"{len(X)} rows in chunks are too many to compare all pairs, and the approximate "
                "search accepts dense rows and the metrics euclidean and cosine only. Choose one "
                "of these, or first reduce the columns to some hundreds of dense features."
            )
        X = X.then(_unit_rows) if metric == "cosine" else X
        found = self.store.fetch(self._searched(X, self._centres(X), n_neighbors))
        near = _merged(found, len(X), n_neighbors)
        distances = near.distances if metric == "euclidean" else np.square(near.distances) / 2
        return Neighbors(near.indices, distances)

    def _largest(self, X: ChunkedMatrix) -> int:
        """Return the number of rows that one region may have."""
        fitting = self.store.memory // (_SEARCH_ARRAYS * X.n_columns * X.dtype.itemsize)
        return max(_TIMES, min(_TIMES * self.region_rows, fitting))

    def _centres(self, X: ChunkedMatrix) -> NDArray[np.float32]:
        """Compute the centres of regions from a sample."""
        count = -(-_TIMES * len(X) // self._largest(X))
        size = min(len(X), count * _SAMPLE_PER_REGION)
        rows = np.sort(np.random.default_rng(0).choice(len(X), size, replace=False))
        return region_centres(X[rows].astype(np.float32), count, None)

    def _searched(
        self, X: ChunkedMatrix, centres: NDArray[np.float32], n_neighbors: int
    ) -> list[Any]:
        """Start to search every region."""
        stored = self.store.put(centres)
        regions = [X.submit(i, _regions, stored) for i in range(len(X.chunks))]
        counts = self.store.fetch([self.store.submit(_counts, r, len(centres)) for r in regions])
        n_parts = np.array([self._n_parts(count, X) for count in sum(counts)])

        def cut(i: int, wanted: range) -> Any:
            return X.submit(i, _members_of_chunk, regions[i], n_parts, int(X.ends[i]), wanted)

        def cut_again(members: object, _: range, part: int) -> Any:
            return self.store.submit(_members, members, range(part, part + 1))

        shape = len(regions), int(n_parts.sum())
        pieces = exchange(self.store, *shape, cut, _joined, cut_again)
        return [self.store.submit(_search, members, n_neighbors) for members in pieces]

    def _n_parts(self, count: int, X: ChunkedMatrix) -> int:
        """Return the number of parts to split a region of `count` rows into."""
        return max(1, -(-int(count) // (_SLACK * self._largest(X)))) if count else 0


def _is_sparse(X: ChunkedMatrix) -> bool:
    return not isinstance(X.store.fetch([X.submit(0, getitem, slice(1))])[0], np.ndarray)


def _unit_rows(chunk: Dense) -> Dense:
    return np.asarray(sklearn.preprocessing.normalize(chunk))


def _regions(chunk: Dense, centres: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the regions of every row."""
    times = min(_TIMES, len(centres))
    scores = centre_scores(chunk.astype(np.float32), centres)
    return np.argpartition(scores, times - 1, axis=1)[:, :times].astype(np.int32)


def _counts(regions: NDArray[np.int32], n_regions: int) -> Labels:
    return np.bincount(regions.ravel(), minlength=n_regions)


def _members_of_chunk(
    chunk: Dense, regions: NDArray[np.int32], n_parts: Labels, start: int, wanted: range
) -> Members:
    """Return the rows of a chunk that belong to some parts of regions."""
    numbers = np.arange(start, start + len(chunk))
    # The part depends on the hashed number of a row, since rows nearby in a file may be alike.
    mixed = numbers.astype(np.uint64) * np.uint64(MIXER) >> np.uint64(32)
    first = np.cumsum(n_parts) - n_parts
    part = mixed[:, None] % n_parts[regions].astype(np.uint64)
    return _members((numbers, chunk, first[regions] + part.astype(np.intp)), wanted)


def _members(members: Members, wanted: range) -> Members:
    """Select the rows that belong to some parts of regions."""
    inside = ((members[2] >= wanted.start) & (members[2] < wanted.stop)).any(axis=1)
    numbers, values, parts = (each[inside] for each in members)
    return numbers, values, parts


def _joined(members: list[Members]) -> Members:
    numbers, values, parts = map(np.concatenate, zip(*members, strict=True))
    return numbers, values, parts


def _search(members: list[Members], n_neighbors: int) -> tuple[Labels, Labels, Floats]:
    """Search a region; return the numbers of its rows, their neighbours and the distances."""
    rows, points, _ = _joined(members)
    count = min(n_neighbors, len(rows) - 1)
    if count < 1:
        return rows, np.empty((len(rows), 0), dtype=np.intp), np.empty((len(rows), 0))
    few = len(rows) <= _EXACT_REGION
    search = ExactSearch(n_threads=1) if few else ApproximateSearch(n_threads=1)
    found = search.search(points, count, "euclidean")
    return rows, np.where(found.indices < 0, -1, rows[found.indices]), found.distances


def _merged(
    found: list[tuple[Labels, Labels, Floats]], n_rows: int, n_neighbors: int
) -> Neighbors:
    """Merge the neighbours of every row in all its regions, without repetition."""
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
    repeated = np.zeros_like(indices, dtype=bool)
    repeated[:, 1:] = indices[:, 1:] == indices[:, :-1]
    indices[repeated], distances[repeated] = -1, np.inf
    return nearest_first(indices, distances, n_neighbors)
