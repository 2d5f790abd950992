"""Clusters of rows by modularity on a neighbour graph of their features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, pdist

from pyrocco._typing import Dense, Labels, Mask
from pyrocco.assign.consensus import consensus, mean_agreement
from pyrocco.assign.features import at_unit_scale, directions, shortened
from pyrocco.assign.kmeans import FEW_ITERATIONS, SampledRows, lloyd, random_kmeans
from pyrocco.assign.labels import cluster_means, compact
from pyrocco.backends import kernels
from pyrocco.backends.hashing import odd_multipliers, weighted_sums
from pyrocco.backends.threads import in_threads

# Maximum number of clusters at the start, and minimum number of rows of each: in the whole
# sample, and inside a cluster.
_FINEST = 40
_FINE_ROWS, _FINE_ROWS_INSIDE = 3, 10
# Weight of the links expected by chance. With 1, Newman's modularity, round clusters are split
# too easily. Chosen on data sets that are not in the tables of docs/labels.md.
_RESOLUTION = 0.8
# Each cluster is examined again with neighbourhoods of its own size: parts with hardly any
# links between them were merged only because they are small.
_RESOLUTION_INSIDE = 0.05
_LEAST_ROWS = 30
_DEEPEST = 4
# Contact above which two clusters are merged, for dense data and for data that are mostly
# zero. Chosen on matrices that are in none of the paper's tables (docs/labels.md).
_CONTACT, _CONTACT_SPARSE = 0.4, 0.5
# One in how many rows is a neighbour, in wide and in narrow neighbourhoods.
_WIDE, _NARROW = 10, 20
# Clusterings after a second preparation count if they agree with those after the first at least
# this share of what the latter agree among themselves. On text it was 0.7 to 1, on cells, where
# tf-idf is not suitable, mostly 0.3 to 0.5.
_LEAST_AGREEMENT = 0.6
# Directions that differ by less than this, in radians, are equal.
_SAME = 0.01
# Digits of the features that copies of a row have in common.
_DIGITS = 6
# Number of random starts of k-means if K is given.
_STARTS = 8
# Minimum number of neighbours in a graph of all rows.
_FEWEST = 5
# Minimum number of neighbours when two clusters are compared.
_LEAST_NEIGHBORS = 3


class View(NamedTuple):
    """How rows are clustered once: features used, one in how many is a neighbour, lengths."""

    rank: int
    share: int
    scale: Callable[[Dense], Dense]


# Clusterings whose consensus is taken. More clusterings, or other numbers of features from 10 to
# 100, were no better.
MOST_FEATURES = 50
_BY_DIRECTION = (
    View(30, _WIDE, directions),
    View(30, _WIDE, shortened),
    View(MOST_FEATURES, _NARROW, directions),
    View(MOST_FEATURES, _NARROW, shortened),
)
_BY_LENGTH = (
    View(30, _WIDE, shortened),
    View(30, _WIDE, at_unit_scale),
    View(MOST_FEATURES, _NARROW, shortened),
    View(MOST_FEATURES, _NARROW, at_unit_scale),
)


class Step(NamedTuple):
    """A partition and its modularity."""

    modularity: float
    labels: Labels


class NeighborhoodGraph:
    """Symmetrised nearest-neighbour graph without weights, by default with a tenth of the rows.

    Such wide neighbourhoods show clusters rather than the fine structure inside them. Modularity
    is that of Newman, "Fast algorithm for detecting community structure in networks", Physical
    Review E 69 (2004) 066133. `resolution`, the weight of the links expected by chance, is that of
    Reichardt and Bornholdt, "Statistical mechanics of community detection", Physical Review E 74
    (2006) 016110.
    """

    def __init__(self, features: Dense, resolution: float = 1.0, n_neighbors: int | None = None):
        self.resolution = resolution
        self._rows = np.ascontiguousarray(features, dtype=np.float64)
        n_rows = len(features)
        k = min(n_neighbors or max(_FEWEST, n_rows // _WIDE), n_rows - 1)
        squares = np.einsum("ij,ij->i", features, features)
        distances = squares - 2 * (features @ features.T)
        np.fill_diagonal(distances, np.inf)
        near = np.argpartition(distances, k - 1, axis=1)[:, :k]
        self._indptr, self._indices = kernels.clusters.symmetric_links(near)

    def contact(self, part: Mask) -> float:
        """Return the links between `part` and the other rows, relative to random links.

        Random links have the same degrees. The ratio is 0 without any link between the two
        and about 1 if they are mixed.
        """
        between, one = map(float, kernels.clusters.links_out(self._indptr, self._indices, part))
        both = float(len(self._indices))
        return between * both / (one * (both - one))

    def merge_path(self, labels: Labels, rounds: int = 5) -> list[Step]:
        """Merge the two clusters that give the highest modularity until one is left.

        k-means runs for some rounds after each merge. The path begins with `labels`, 0..K-1.
        Clusters keep their number until the end; `alive` marks those that still exist. Only the
        costs of centres that moved are computed again, and only the links of rows that moved.
        """
        k, labels = int(labels.max()) + 1, labels.copy()
        graph = self._indptr, self._indices
        links = kernels.clusters.links_between(*graph, labels, k)
        alive, moved = np.ones(k, dtype=bool), np.ones(k, dtype=bool)
        costs = np.empty((k, len(labels)))
        # Every pair of clusters that still exist has its gain above the diagonal.
        excluded = np.where(np.tri(k, dtype=bool), np.inf, 0.0)
        path: list[Step] = []
        while True:
            shares = links / len(self._indices)
            degrees = shares.sum(axis=0)
            gains = shares - self.resolution * np.outer(degrees, degrees)
            path.append(Step(float(np.trace(gains)), compact(labels)))
            excluded[~alive], excluded[:, ~alive] = np.inf, np.inf
            gains -= excluded
            first, second = divmod(int(gains.argmax()), k)
            if gains[first, second] == -np.inf:
                return path
            labels[labels == second] = first
            for side in (links, links.T):
                side[first] += side[second]
                side[second] = 0
            alive[second], moved[first] = False, True
            kernels.clusters.settle(self._rows, *graph, labels, links, alive, moved, costs, rounds)


def consensus_labels(scores: Dense, by_length: bool, weighted: Dense | None = None) -> Labels:
    """Label rows by the consensus of clusterings with several numbers and lengths of features.

    One clustering depends on details that say nothing about the rows: a few features more or
    less, or a slightly different weight of short rows, may merge or split clusters. What
    several clusterings agree on is more stable. `scores` are in the order of their singular
    values; `by_length` says whether the length of a row counts in addition to its direction.
    `weighted` are scores of the same rows after a second preparation, with which half of the
    clusterings are made, unless the two preparations disagree much more than clusterings after
    the first one do.
    """
    views = _BY_LENGTH if by_length else _BY_DIRECTION
    contact = _CONTACT if by_length else _CONTACT_SPARSE
    sources = [scores] * len(views)
    if weighted is not None:
        sources[1:3] = [weighted, weighted]
    found = _clusterings(sources, views, contact)
    if weighted is not None:
        own, others = [found[0], found[3]], found[1:3]
        if mean_agreement(own, others) < _LEAST_AGREEMENT * mean_agreement(own, own):
            found = own + _clusterings([scores, scores], views[1:3], contact)
    return consensus(found)


def _clusterings(sources: Sequence[Dense], views: Sequence[View], contact: float) -> list[Labels]:
    """Cluster the rows once for each view of some scores."""
    pairs = list(zip(sources, views, strict=True))
    return in_threads(partial(_separate_clusters, contact=contact), pairs)


def _separate_clusters(pair: tuple[Dense, View], contact: float) -> Labels:
    """Cluster rows by their scaled scores and merge clusters that are adjacent."""
    scores, view = pair
    scores = np.ascontiguousarray(scores[:, : view.rank])
    labels = compact(community_labels(view.scale(scores), None, view.share))
    near = directions(scores)
    return merge_adjacent_clusters(near, labels, int(labels.max()) + 1, contact)[labels]


def community_labels(features: Dense, n_clusters: int | None, share: int = _WIDE) -> Labels:
    """Cluster rows by their features; modularity chooses K if it is not given.

    One in `share` rows is a neighbour of a row.
    """
    if n_clusters == 1 or len(features) < 3:
        return np.zeros(len(features), dtype=np.intp)
    rows = SampledRows.all_of(features)
    if n_clusters is not None:
        return _best_partition(rows, n_clusters)
    labels = _communities(rows, share)
    return lloyd(rows.sample, cluster_means(rows.sample, labels, int(labels.max()) + 1))


def _communities(
    rows: SampledRows, share: int, resolution: float = _RESOLUTION, depth: int = 0
) -> Labels:
    """Partition the sample by modularity, then each cluster by itself in the same way."""
    path = _merge_path(rows, share, resolution, _FINE_ROWS_INSIDE if depth else _FINE_ROWS)
    labels = max(path, key=lambda step: step.modularity).labels
    if labels.max() == 0 or depth == _DEEPEST:
        return labels
    finer = np.zeros_like(labels)
    for label in range(int(labels.max()) + 1):
        inside = np.flatnonzero(labels == label)
        parts = np.zeros(len(inside), dtype=np.intp)
        if len(inside) >= _LEAST_ROWS and _width(rows.sample[inside]) > _SAME:
            cluster = SampledRows.all_of(rows.sample[inside])
            parts = _communities(cluster, share, _RESOLUTION_INSIDE, depth + 1)
        finer[inside] = parts + finer.max() + 1
    return finer - 1


def _merge_path(
    rows: SampledRows,
    share: int = _WIDE,
    resolution: float = _RESOLUTION,
    fine_rows: int = _FINE_ROWS,
) -> list[Step]:
    """Return the path of merges from a fine partition of the sample to one cluster."""
    labels = compact(rows.partition(min(_FINEST, max(2, len(rows.index) // fine_rows))))
    labels = _merge_equal(rows.sample, labels)
    graph = NeighborhoodGraph(rows.sample, resolution, _n_neighbors(rows.sample, share))
    return graph.merge_path(labels, FEW_ITERATIONS)


def _n_neighbors(sample: Dense, share: int) -> int:
    """Return one in `share` rows; more if most neighbours of a row would be its own copies."""
    n_rows = len(sample)
    copies = n_rows / _n_distinct(sample.round(_DIGITS))
    fewest = min(_FEWEST * copies, max(_FEWEST, n_rows // _WIDE))
    return max(int(fewest), n_rows // share)


def _n_distinct(sample: Dense) -> int:
    bits = (sample + 0.0).view(f"u{sample.itemsize}")  # minus zero is zero
    return len(np.unique(weighted_sums(bits, odd_multipliers(bits.shape[1]))))


def _merge_equal(sample: Dense, labels: Labels) -> Labels:
    """Merge clusters with equal centres: rows with more copies than they have neighbours."""
    centres = cluster_means(sample, labels, int(labels.max()) + 1)
    if (pdist(centres) >= _SAME).all():
        return labels
    places = connected_components(cdist(centres, centres) < _SAME, directed=False)[1]
    return compact(places[labels])


def _best_partition(rows: SampledRows, k: int) -> Labels:
    """Return the partition into `k` clusters with the least scatter, of several k-means."""
    starts = [rows.partition(k)]
    starts += [step.labels for step in _merge_path(rows) if step.labels.max() == k - 1]
    results = [lloyd(rows.sample, cluster_means(rows.sample, start, k)) for start in starts]
    if k < len(np.unique(rows.sample, axis=0)):
        results.append(random_kmeans(rows.sample, k, _STARTS, 0))
    return min(results, key=lambda labels: _scatter(rows.sample, labels, k))


def _width(sample: Dense) -> float:
    """Return the root mean square distance to the mean."""
    return float(np.sqrt(sample.var(axis=0).sum()))


def _scatter(sample: Dense, labels: Labels, k: int) -> float:
    return float(np.square(sample - cluster_means(sample, labels, k)[labels]).sum())


def merge_adjacent_clusters(
    features: Dense, labels: Labels, n_clusters: int, contact: float
) -> Labels:
    """Merge clusters that are adjacent in the data, the closest ones first.

    A cluster with most of the rows may be split by neighbourhoods of a tenth of all rows. Its
    parts are still neighbours when they are compared without the other clusters. Two clusters
    are adjacent if the links between them exceed the share `contact` of the number expected by
    chance. Returns the merged cluster of each cluster.
    """
    names = np.arange(n_clusters)
    contacts = {
        pair: _contact(features, *(labels == name for name in pair))
        for pair in combinations(names.tolist(), 2)
    }
    while contacts:
        first, second = max(contacts, key=contacts.__getitem__)
        if contacts[first, second] <= contact:
            break
        names[names == second] = first
        contacts = {pair: value for pair, value in contacts.items() if second not in pair}
        for pair in contacts:
            if first in pair:
                contacts[pair] = _contact(features, *(names[labels] == name for name in pair))
    return compact(names)


def _contact(features: Dense, one: Mask, other: Mask) -> float:
    """Return the contact of two clusters, with neighbourhoods smaller than both."""
    both = one | other
    smaller = min(int(np.count_nonzero(one)), int(np.count_nonzero(other)))
    if smaller <= _LEAST_NEIGHBORS:
        return 0.0
    k = max(_LEAST_NEIGHBORS, min(int(np.count_nonzero(both)) // 10, smaller // 2))
    return NeighborhoodGraph(features[both], n_neighbors=k).contact(one[both])
