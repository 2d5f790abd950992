"""Nested co-clusterings: the clusters of a fit, their parts, and their merges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from pyrocco._typing import Dense, Floats, Labels
from pyrocco.assign.features import sketched_features
from pyrocco.assign.kmeans import SampledRows, lloyd
from pyrocco.assign.labels import cluster_means, compact, relabel
from pyrocco.cells.values import in_safe_range
from pyrocco.deprecation import warn_deprecated

# Number of finest clusters in all, and of each cluster of the fit, if it has enough rows.
FINEST = 60
_PARTS = 4
# Minimum number of rows of a finest cluster.
LEAST_ROWS = 3
# Number of rows of a cluster from which its parts are determined, and iterations of k-means
# that assign all its rows to them.
_SAMPLE = 300
_ITERATIONS = 2


class _Merge(NamedTuple):
    height: float
    first: int
    second: int


@dataclass(frozen=True)
class NestedSide:
    """Nested clusters of one side, which can be cut at any number up to the finest, L.

    A cluster is named by one of its finest clusters: a merged cluster takes the first name of its
    pair. Heights are Ward distances of the features, never less than within the two clusters.
    """

    finest: Labels  # finest cluster of each row (or column), 0..L-1
    merges: Labels  # pairs of merged clusters, in order, of shape (L - 1, 2)
    heights: Floats
    n_fitted: int  # number of clusters of the fit

    @classmethod
    def build(cls, features: Dense, labels: Labels) -> NestedSide:
        """Split the clusters of a fit; merge first the parts of each, then the clusters."""
        finest = split_clusters(features, labels)
        owners = np.empty(finest.max() + 1, dtype=np.intp)
        owners[finest] = labels
        inside = _merges_inside(features, finest, owners)
        left = np.delete(np.arange(len(owners)), [merge.second for merge in inside])
        names = left[owners[left].argsort()]
        merges = _monotone([*inside, *_merges_above(features, labels, names)])
        pairs = np.array([(first, second) for _, first, second in merges], dtype=np.intp)
        heights = np.array([merge.height for merge in merges], dtype=np.float64)
        return cls(finest, pairs.reshape(-1, 2), heights, int(labels.max()) + 1)

    @property
    def n_finest(self) -> int:
        """Largest number of clusters."""
        return len(self.merges) + 1

    @property
    def leaves(self) -> Labels:
        """The finest clusters, by their name before version 0.2."""
        warn_deprecated("leaves", "finest", since="0.2")
        return self.finest

    def cut_finest(self, n_clusters: int) -> Labels:
        """Return the label of each finest cluster in `n_clusters` clusters, as in `cut`."""
        n, merged = self.n_finest, self.merges[: self.n_finest - n_clusters]
        links = sparse.csr_array((np.ones(len(merged)), tuple(merged.T)), shape=(n, n))
        components = connected_components(links, directed=False)[1]
        if n_clusters == self.n_fitted:
            return _numbered_by_first(components)
        labels = np.empty(n, dtype=np.intp)
        labels[self.finest] = relabel(components[self.finest])
        return labels

    def cut(self, n_clusters: int) -> Labels:
        """Return the labels of the rows in `n_clusters` clusters, the largest first.

        The clusters of the fit keep their numbers, also where several are equally large or rows
        have weights.
        """
        return np.asarray(self.cut_finest(n_clusters)[self.finest])


@dataclass(frozen=True)
class NestedClusters:
    """Nested clusters of rows and of columns."""

    rows: NestedSide
    columns: NestedSide

    @classmethod
    def build(cls, U: Dense, row_labels: Labels, column_labels: Labels) -> NestedClusters:
        """Nest the clusters of a fit by the features of its prepared data `U`."""
        U = np.asarray(in_safe_range(U)[0])
        rows = NestedSide.build(sketched_features(U), row_labels)
        return cls(rows, NestedSide.build(sketched_features(U.T), column_labels))


def _numbered_by_first(components: Labels) -> Labels:
    """Number clusters of finest clusters as in the fit: `split_clusters` goes through them."""
    _, first, inverse = np.unique(components, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.intp)


def split_clusters(features: Dense, labels: Labels) -> Labels:
    """Split each cluster into parts of rows with similar features."""
    parts = np.zeros(len(labels), dtype=np.intp)
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    for inside in np.split(order, np.cumsum(sizes)[:-1]):
        own = _parts(features[inside], _number_of_parts(len(inside), len(labels)))
        parts[inside] = own + parts.max() + 1
    return compact(parts)


def _number_of_parts(n_inside: int, n_rows: int) -> int:
    """Return the number of parts, in proportion to the size but at least a few."""
    share = max(_PARTS, round(FINEST * n_inside / n_rows))
    return min(share, n_inside // LEAST_ROWS)


def _parts(features: Dense, k: int) -> Labels:
    if k < 2 or _are_equal(features):
        return np.zeros(len(features), dtype=np.intp)
    rows = SampledRows.draw(features, _SAMPLE, np.random.RandomState(0))
    centres = cluster_means(rows.sample, rows.tree.cut(min(k, len(rows.index))), k)
    return _without_small(features, compact(lloyd(features, centres, max_iter=_ITERATIONS)))


def _are_equal(features: Dense) -> bool:
    """Whether the rows are equal up to rounding."""
    spread = np.abs(features - features.mean(axis=0)).max()
    return bool(spread <= np.sqrt(np.finfo(features.dtype).eps))


def _without_small(features: Dense, parts: Labels) -> Labels:
    """Move the rows of parts that are too small to the nearest of the other parts."""
    sizes = np.bincount(parts)
    large = np.flatnonzero(sizes >= min(LEAST_ROWS, sizes.max()))
    rows = np.flatnonzero(~np.isin(parts, large))
    centres = cluster_means(features, parts, len(sizes))[large]
    parts[rows] = large[cdist(features[rows], centres).argmin(axis=1)]
    return compact(parts)


def _merges_inside(features: Dense, finest: Labels, owners: Labels) -> list[_Merge]:
    """Return the merges inside the clusters of the fit, by height."""
    sizes = np.bincount(finest)
    centres = cluster_means(features, finest, len(sizes))
    merges: list[_Merge] = []
    for owner in range(int(owners.max()) + 1):
        parts = np.flatnonzero(owners == owner)
        merges += _named(_ward(centres[parts], sizes[parts]), parts)
    return _by_height(merges)


def _merges_above(features: Dense, labels: Labels, names: Labels) -> list[_Merge]:
    """Return the merges of the clusters of the fit, each named by one of its parts."""
    sizes = np.bincount(labels)
    return _by_height(_named(_ward(cluster_means(features, labels, len(sizes)), sizes), names))


def _named(merges: list[_Merge], names: Labels) -> list[_Merge]:
    return [_Merge(height, int(names[a]), int(names[b])) for height, a, b in merges]


def _by_height(merges: list[_Merge]) -> list[_Merge]:
    # The sort is stable: with equal heights, parts merge before the clusters they belong to.
    return sorted(_monotone(merges), key=lambda merge: merge.height)


def _monotone(merges: list[_Merge]) -> list[_Merge]:
    """Raise the height of each merge to at least those within its two clusters."""
    tops: dict[int, float] = {}
    raised = []
    for height, first, second in merges:
        tops[first] = max(height, tops.get(first, 0.0), tops.get(second, 0.0))
        raised.append(_Merge(tops[first], first, second))
    return raised


def _ward(centres: Dense, sizes: Labels) -> list[_Merge]:
    """Merge clusters of any size by Ward's method, with nearest-neighbour chains.

    Murtagh, "A survey of recent advances in hierarchical clustering algorithms", The Computer
    Journal 26 (1983). A merged cluster keeps the name of one of its parts.
    """
    centres, weights = centres.astype(np.float64), sizes.astype(np.float64)
    chain: list[int] = []
    merges: list[_Merge] = []
    while len(merges) < len(centres) - 1:
        if not chain:
            chain.append(int(weights.argmax()))
        tip = chain[-1]
        costs = _costs(centres, weights, tip)
        near = int(costs.argmin())
        if len(chain) == 1 or costs[near] < costs[chain[-2]]:
            chain.append(near)
            continue
        near = chain[-2]
        del chain[-2:]
        centres[near] = np.average(centres[[near, tip]], axis=0, weights=weights[[near, tip]])
        weights[near], weights[tip] = weights[near] + weights[tip], 0
        merges.append(_Merge(float(np.sqrt(2 * costs[near])), near, tip))
    return merges


def _costs(centres: Floats, weights: Floats, tip: int) -> Floats:
    """Return the rise of the scatter if `tip` joins each other cluster of non-zero weight."""
    apart = centres - centres[tip]
    squares = np.einsum("ij,ij->i", apart, apart)
    costs = squares * weights * weights[tip] / (weights + weights[tip])
    costs[weights == 0] = costs[tip] = np.inf
    return np.asarray(costs)
