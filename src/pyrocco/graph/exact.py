"""The exact searches of nearest neighbours, and what all searches share."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from pyrocco._typing import Dense, Floats, Labels, Mask, Matrix
from pyrocco.backends import TorchBackend
from pyrocco.backends.threads import in_threads
from pyrocco.graph.distances import Distances, Query, distances_between_rows, without_rounding

# Number of rows up to which a GPU compares all pairs in the precision of the rows.
EXACT_ROWS_ON_GPU = 50_000


@dataclass(frozen=True)
class Neighbors:
    """Neighbours of every row, nearest first. Index -1 and distance inf fill missing ones."""

    indices: Labels
    distances: Floats


class NeighborSearch(Protocol):
    """A search of the nearest other rows of every row."""

    name: str

    def search(self, X: Any, n_neighbors: int, metric: str) -> Neighbors:
        """Return the `n_neighbors` nearest other rows of every row of `X`."""


class FindOutside(Protocol):
    """A function that finds the nearest rows that belong to another component."""

    def __call__(self, rows: Labels, components: Labels, count: int, /) -> Neighbors:
        """Find `count` rows for each of `rows`."""


class ExactSearch:
    """Compares all pairs of rows, in tiles that fit into the cache, with any number of threads."""

    name = "exact"

    def __init__(self, n_threads: int | None = None):
        self.n_threads = n_threads

    def search(self, X: Matrix, n_neighbors: int, metric: str) -> Neighbors:
        """Return the `n_neighbors` nearest other rows of every row of `X`, ties by index."""
        return nearest(distances_between_rows(X, metric), n_neighbors, self.n_threads)


def nearest(distances: Distances, n_neighbors: int, n_threads: int | None = None) -> Neighbors:
    """Find the `n_neighbors` nearest other rows of every row."""
    everyone = np.arange(distances.n_rows)
    return nearest_outside(distances, everyone, everyone, n_neighbors, n_threads)


def nearest_outside(
    distances: Distances,
    rows: Labels,
    components: Labels,
    n_neighbors: int,
    n_threads: int | None = None,
    first: int = 0,
) -> Neighbors:
    """Find the nearest rows of other components for each of `rows`, among rows from `first` on."""
    k = min(n_neighbors, distances.n_rows)
    found = Neighbors(np.full((len(rows), k), -1, dtype=np.intp), np.full((len(rows), k), np.inf))
    certain: Mask = np.zeros(len(rows), dtype=bool)

    def look(places: Labels, careful: bool = False) -> None:
        candidates = distances.candidates(Query(rows[places], components, k, first), careful)
        chosen = nearest_first(candidates.indices, candidates.distances, k)
        found.indices[places], found.distances[places] = chosen.indices, chosen.distances
        certain[places] = candidates.certain

    in_threads(look, _batches(np.arange(len(rows)), distances), n_threads)
    uncertain = _batches(np.flatnonzero(~certain), distances)
    in_threads(partial(look, careful=True), uncertain, n_threads)
    return found


def _batches(places: Labels, distances: Distances) -> list[Labels]:
    size = distances.batch_rows
    return [places[start : start + size] for start in range(0, len(places), size)]


def nearest_first(indices: Labels, distances: Floats, n_neighbors: int) -> Neighbors:
    """Sort candidates by distance, ties by index, and return the first `n_neighbors`."""
    order = np.lexsort((indices, without_rounding(distances)), axis=1)[:, :n_neighbors]
    return Neighbors(
        np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1)
    )


class DeviceSearch:
    """Search by PyTorch: exact, or on a GPU with more than `exact_rows` rows nearly so.

    Above, rows are compared after rounding (see `RoundedNeighbors`), unless a sample shows that
    more than a hundredth of the neighbours would be missed.
    """

    def __init__(self, backend: TorchBackend, exact_rows: int | None = None):
        self.backend = backend
        # On the CPU, rounded products take as long as others.
        on_gpu = backend.device.type == "cuda"
        self.exact_rows = exact_rows or (EXACT_ROWS_ON_GPU if on_gpu else sys.maxsize)
        self.name = "exact on device"

    def search(self, X: Matrix, n_neighbors: int, metric: str) -> Neighbors:
        """Return the nearest other rows of every row, ties by index."""
        rows, self.name = self.backend.prepare(X, metric), "exact on device"
        if len(rows) > self.exact_rows and metric != "manhattan":
            found = self.backend.nearest_of_many(rows, n_neighbors, metric)
            if found is not None:
                self.name = "approximate on device"
                return Neighbors(*found)
        everyone = np.arange(len(rows))
        return Neighbors(*self.backend.nearest(rows, everyone, everyone, n_neighbors, metric))

    def argsort(self, values: Dense) -> Labels:
        """Return the order that sorts the values; equal values keep their order."""
        return self.backend.argsort(values)

    def outside(self, X: Matrix, metric: str) -> FindOutside:
        """Return a function that finds the nearest rows of other components."""
        prepared = self.backend.prepare(X, metric)

        def find(rows: Labels, components: Labels, count: int) -> Neighbors:
            return Neighbors(*self.backend.nearest(prepared, rows, components, count, metric))

        return find
