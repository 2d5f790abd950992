"""Clusters of rows by their features: k-means along a path of merges, K by modularity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.lloyd import cluster_means, lloyd
from pyrocco.assign.modularity import NeighborhoodGraph
from pyrocco.assign.sampled import FEW, SampledRows
from pyrocco.backends import Backend

# Clusters the path starts from.
_FINEST = 60


class _Step(NamedTuple):
    modularity: float
    labels: NDArray[np.intp]


def community_labels(
    rows: SampledRows, n_clusters: int | None, backend: Backend
) -> NDArray[np.intp]:
    """Label all rows; with K not given, the partition of most modularity on the path.

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
    n_rows, size = len(rows.features), len(rows.index)
    if n_clusters == 1 or size < 3:
        return np.zeros(n_rows, dtype=np.intp)
    path = _merge_path(rows, min(max(_FINEST, n_clusters or 0), max(2, size // 3)))
    if n_clusters is None:
        found = max(path, key=lambda step: step.modularity).labels
    else:
        found = next(
            (step.labels for step in path if step.labels.max() + 1 == n_clusters),
            rows.partition(n_clusters),
        )
    k = int(found.max()) + 1
    if k == 1:
        return np.zeros(n_rows, dtype=np.intp)
    return lloyd(rows.features, cluster_means(rows.sample, found, k), backend=backend)


def _merge_path(rows: SampledRows, finest: int) -> list[_Step]:
    """Merge, from fine clusters to one, the two whose merging leaves most modularity."""
    graph = NeighborhoodGraph(rows.sample)
    labels = np.unique(rows.partition(finest), return_inverse=True)[1]
    path = []
    while True:
        links = graph.links(labels)
        path.append(_Step(graph.modularity(links), labels))
        if len(links) == 1:
            return path
        kept, gone = graph.best_merge(links)
        labels = np.where(labels == gone, kept, labels)
        labels = np.unique(labels, return_inverse=True)[1]
        k = int(labels.max()) + 1
        if k > 1:
            moved = lloyd(rows.sample, cluster_means(rows.sample, labels, k), max_iter=FEW)
            labels = np.unique(moved, return_inverse=True)[1]
