"""Approximate nearest neighbours for many rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco._typing import Labels, Matrix
from pyrocco.backends import kernels
from pyrocco.backends.numpy import slices
from pyrocco.backends.threads import in_threads
from pyrocco.graph.distances import SquaredEuclidean, distances_between_rows
from pyrocco.graph.exact import Neighbors, nearest_first

# Number of rows up to which all pairs are compared. Above, this search takes half the time of the
# exact one or less, and finds more than 95 % of the nearest rows even if they are hard to find
# (see benchmarks/speed/results/neighbors.md).
EXACT_ROWS = 20_000
# Least number of regions that are searched, and their number divided by the root of that of the
# rows: with the same number of regions, fewer neighbours would be found among more rows.
_LEAST_PROBES, _PROBE_SHARE = 64, 1 / 8
# Rows searched together: enough for efficient products, few enough to share between threads.
_BATCH_ROWS = 8192
_SPARE = 5
_LLOYD_ROUNDS = 6
_SAMPLE_PER_REGION = 32


class ApproximateSearch:
    """Compares every row with the rows of the nearest regions of a k-means partition.

    The distances returned are exact, but some nearest rows may not be found. The partition starts
    from rows drawn with a fixed seed, so that the result depends on the data only and not on the
    number of threads. `n_probes` of about ``2 * sqrt(n_rows)`` regions are searched for every row,
    by default 64, or a sixteenth of the regions if these are more.
    For a million rows without structure inside their clusters, 64 probes find 71 % of the nearest
    rows, 128 find 91 % in 1.6 times the time, and 256 find nearly all in 2.7 times the time (see
    benchmarks/speed/results/probes.md).
    """

    name = "approximate"

    def __init__(self, n_probes: int | None = None, n_threads: int | None = None):
        self.n_probes = n_probes
        self.n_threads = n_threads

    def search(self, X: Matrix, n_neighbors: int, metric: str) -> Neighbors:
        """Return `n_neighbors` rows near every row; -1 if the regions have fewer rows."""
        distances = None if sparse.issparse(X) else distances_between_rows(X, metric)
        if not isinstance(distances, SquaredEuclidean):
            raise ValueError(
                "ApproximateSearch accepts dense rows and the metrics euclidean and cosine; "
                "ExactSearch accepts all rows and metrics."
            )
        n_rows = distances.n_rows
        found = Neighbors(
            np.empty((n_rows, n_neighbors), dtype=np.intp), np.empty((n_rows, n_neighbors))
        )

        def look(batch: slice) -> None:
            rows, candidates = partition.candidates(batch, n_probes, n_neighbors)
            lengths = distances.exact(rows, candidates)
            chosen = nearest_first(candidates, lengths, n_neighbors)
            found.indices[rows], found.distances[rows] = chosen.indices, chosen.distances

        n_probes = self.n_probes or max(_LEAST_PROBES, int(_PROBE_SHARE * np.sqrt(n_rows)))
        partition = _Partition(distances.points(), self.n_threads)
        in_threads(look, slices(n_rows, _BATCH_ROWS), self.n_threads)
        return found


class _Partition:
    """Rows sorted by the region of a k-means partition that they belong to."""

    def __init__(self, points: NDArray[np.float32], n_threads: int | None):
        self.centres = region_centres(points, max(1, int(2 * np.sqrt(len(points)))), n_threads)
        regions = _nearest_centres(points, self.centres, n_threads)
        self.order = np.argsort(regions, kind="stable")
        self.ends = np.cumsum(np.bincount(regions, minlength=len(self.centres)))
        self.points = points[self.order]
        self.squares = np.einsum("ij,ij->i", self.points, self.points)
        self._places = np.arange(len(points))

    def candidates(self, batch: slice, n_probes: int, n_neighbors: int) -> tuple[Labels, Labels]:
        """Return the rows at the sorted places of `batch` and the nearest in their regions."""
        size = batch.stop - batch.start
        count = min(n_neighbors + _SPARE, len(self.order))
        indices = np.full((size, count), -1, dtype=np.intp)
        values = np.full((size, count), np.inf, dtype=np.float32)
        for region, queries in self._visits(batch, min(n_probes, len(self.centres))):
            part = slice(self.ends[region - 1] if region else 0, self.ends[region])
            self._visit(part, batch.start + queries, queries, indices, values)
        return self.order[batch], np.where(indices < 0, -1, self.order[indices])

    def _visits(self, batch: slice, n_probes: int) -> list[tuple[int, Labels]]:
        """Return the regions to search, each with the rows that search it."""
        scores = centre_scores(self.points[batch], self.centres)
        probes = np.argpartition(scores, n_probes - 1, axis=1)[:, :n_probes].astype(np.uint16)
        by_region = np.argsort(probes, axis=None, kind="stable")
        counts = np.bincount(probes.ravel(), minlength=len(self.centres))
        queries = np.split(by_region // n_probes, np.cumsum(counts)[:-1])
        return [(int(region), queries[region]) for region in np.flatnonzero(counts)]

    def _visit(
        self,
        part: slice,
        places: Labels,
        queries: Labels,
        indices: Labels,
        values: NDArray[np.float32],
    ) -> None:
        products = self.points[places] @ self.points[part].T
        near, lengths = indices[queries], values[queries]
        kernels.graphs.nearer(
            products, self.squares[places], self.squares[part],
            places, self._places[part], part.start, near, lengths,
        )  # fmt: skip
        indices[queries], values[queries] = near, lengths


def region_centres(
    points: NDArray[np.float32], n_regions: int, n_threads: int | None
) -> NDArray[np.float32]:
    """Compute the centres of regions by a few rounds of k-means (Lloyd) on a sample."""
    rng = np.random.default_rng(0)
    size = min(len(points), n_regions * _SAMPLE_PER_REGION)
    sample = points[np.sort(rng.choice(len(points), size, replace=False))]
    centres = sample[np.sort(rng.choice(size, n_regions, replace=False))]
    for _ in range(_LLOYD_ROUNDS):
        regions = _nearest_centres(sample, centres, n_threads)
        counts = np.bincount(regions, minlength=n_regions)
        members = sparse.csr_array(
            (np.ones(size, dtype=np.float32), (regions, np.arange(size))), shape=(n_regions, size)
        )
        # The centre of a region without rows does not move.
        means = (members @ sample) / np.maximum(counts, 1)[:, None]
        centres = np.where(counts[:, None] > 0, means, centres).astype(np.float32)
    return centres


def _nearest_centres(
    points: NDArray[np.float32], centres: NDArray[np.float32], n_threads: int | None
) -> NDArray[np.uint16]:
    # 16-bit numbers, which NumPy sorts by radix.
    regions = np.empty(len(points), dtype=np.uint16)

    def assign(batch: slice) -> None:
        regions[batch] = centre_scores(points[batch], centres).argmin(axis=1)

    in_threads(assign, slices(len(points), _BATCH_ROWS), n_threads)
    return regions


def centre_scores(
    points: NDArray[np.float32], centres: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Compute scores that sort the centres by distance from each of `points`."""
    scores: NDArray[np.float32] = points @ centres.T
    scores *= -2
    scores += np.einsum("ij,ij->i", centres, centres)
    return scores
