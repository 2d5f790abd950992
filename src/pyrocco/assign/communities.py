"""Clusters of rows by their features: k-means along a path of merges, K by modularity."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from pyrocco.assign.base import compact
from pyrocco.assign.lloyd import cluster_means, lloyd
from pyrocco.assign.modularity import NeighborhoodGraph, Step
from pyrocco.assign.sampled import FEW, SampledRows
from pyrocco.backends import Backend

# Clusters the path starts from, at most, and rows to each at least.
_FINEST = 60
_FINE_ROWS, _FINE_ROWS_INSIDE = 3, 10
# Weight of the links expected by chance. One is Newman's modularity, which splits round
# clusters a little too readily; this was chosen on sets that are in none of our tables.
_RESOLUTION = 0.8
# A cluster is looked at again by itself, with neighbourhoods of its own size: parts that
# hardly touch there were merged only because they are small.
_HARDLY = 0.05
_LEAST_ROWS = 30
# Directions that differ by less than this, in radians, are the same row over again.
_SAME = 0.01
_DEEPEST = 4
# Random starts of k-means beside the path's, where K is given.
_STARTS = 8


def community_labels(
    rows: SampledRows, n_clusters: int | None, backend: Backend
) -> NDArray[np.intp]:
    """Label all rows by clusters found in the sample.

    Parameters
    ----------
    rows : SampledRows
        Features of the rows and the sample on which the path is walked.
    n_clusters : int or None
        K, if it is given.
    backend : Backend
        Where the last k-means runs.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends import NumpyBackend
    >>> features = np.repeat(np.eye(3), 8, axis=0) + np.random.default_rng(0).random((24, 3)) / 9
    >>> rows = SampledRows.draw(features, 24, np.random.RandomState(0))
    >>> np.bincount(community_labels(rows, None, NumpyBackend())).tolist()
    [8, 8, 8]
    """
    if n_clusters == 1 or len(rows.index) < 3:
        return np.zeros(len(rows.features), dtype=np.intp)
    found = _communities(rows) if n_clusters is None else _tightest(rows, n_clusters)
    k = int(found.max()) + 1
    if k == 1:
        return np.zeros(len(rows.features), dtype=np.intp)
    return lloyd(rows.features, cluster_means(rows.sample, found, k), backend=backend)


def _communities(
    rows: SampledRows, resolution: float = _RESOLUTION, depth: int = 0
) -> NDArray[np.intp]:
    """Partition of the sample of most modularity; its parts looked at again by themselves."""
    fine_rows = _FINE_ROWS_INSIDE if depth else _FINE_ROWS
    path = _merge_path(rows, resolution, fine_rows)
    labels = max(path, key=lambda step: step.modularity).labels
    if labels.max() == 0 or depth == _DEEPEST:
        return labels
    finer = np.zeros_like(labels)
    for label in range(int(labels.max()) + 1):
        inside = np.flatnonzero(labels == label)
        parts = np.zeros(len(inside), dtype=np.intp)
        if len(inside) >= _LEAST_ROWS and _width(rows.sample[inside]) > _SAME:
            part = SampledRows(rows.sample[inside], np.arange(len(inside)))
            parts = _communities(part, _HARDLY, depth + 1)
        finer[inside] = parts + finer.max() + 1
    return finer - 1


def _merge_path(
    rows: SampledRows, resolution: float = _RESOLUTION, fine_rows: int = _FINE_ROWS
) -> list[Step]:
    """Merge, from fine clusters to one, the two whose merging leaves most modularity."""
    labels = compact(rows.partition(min(_FINEST, max(2, len(rows.index) // fine_rows))))
    labels = _same_united(rows.sample, labels)
    return NeighborhoodGraph(rows.sample, resolution).merge_path(labels, FEW)


def _random_starts(sample: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    with warnings.catch_warnings():
        # Rows that hardly differ: fewer clusters is the right answer.
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        labels = KMeans(k, n_init=_STARTS, random_state=0).fit_predict(sample)
    return np.asarray(labels, dtype=np.intp)


def _same_united(sample: NDArray[np.float64], labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Unite clusters at the same place: a row repeated more often than it has neighbours."""
    centres = cluster_means(sample, labels, int(labels.max()) + 1)
    places = connected_components(cdist(centres, centres) < _SAME, directed=False)[1]
    return compact(places[labels])


def _tightest(rows: SampledRows, k: int) -> NDArray[np.intp]:
    """Of several partitions into `k` clusters, the one with the least scatter."""
    starts = [rows.partition(k)]
    starts += [step.labels for step in _merge_path(rows) if step.labels.max() == k - 1]
    found = [lloyd(rows.sample, cluster_means(rows.sample, start, k)) for start in starts]
    if k < len(np.unique(rows.sample, axis=0)):
        found.append(_random_starts(rows.sample, k))
    return min(found, key=lambda labels: _scatter(rows.sample, labels, k))


def _width(sample: NDArray[np.float64]) -> float:
    """Root mean square distance from the mean."""
    return float(np.sqrt(sample.var(axis=0).sum()))


def _scatter(sample: NDArray[np.float64], labels: NDArray[np.intp], k: int) -> float:
    return float(np.square(sample - cluster_means(sample, labels, k)[labels]).sum())
