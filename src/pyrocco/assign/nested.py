"""Nested co-clusterings: parts of the clusters of a fit, the fit, and its clusters merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from pyrocco.assign.base import relabel
from pyrocco.assign.leaves import split_clusters
from pyrocco.assign.lloyd import cluster_means
from pyrocco.assign.sketch import sketched_features


class _Merge(NamedTuple):
    height: float
    kept: int
    gone: int


@dataclass(frozen=True)
class NestedSide:
    """Nested clusters of one side, cut at any number up to the finest.

    Parameters
    ----------
    leaves : ndarray of int
        Finest cluster of every row (or column), 0..L-1.
    merges : ndarray of shape (L - 1, 2)
        Two clusters merged, in order. A cluster goes by one of its finest clusters; the
        merged one goes by the first of the pair, and the second is not seen again.
    heights : ndarray of shape (L - 1,)
        How far apart the two are, by Ward's distance of their features; never less than
        within them.
    n_fitted : int
        Number of clusters of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> merges, heights = np.array([[0, 1], [0, 2]]), np.array([1.0, 3.0])
    >>> side = NestedSide(np.array([0, 0, 1, 2, 2, 2]), merges, heights, 2)
    >>> side.cut(2).tolist(), side.cut(3).tolist()
    ([0, 0, 0, 1, 1, 1], [1, 1, 2, 0, 0, 0])
    """

    leaves: NDArray[np.intp]
    merges: NDArray[np.intp]
    heights: NDArray[np.float64]
    n_fitted: int

    @classmethod
    def build(cls, features: NDArray[Any], labels: NDArray[np.intp]) -> NestedSide:
        """Split the clusters of a fit, and merge the parts until one cluster is left.

        All parts of a cluster of the fit are merged before any two such clusters are.

        Parameters
        ----------
        features : ndarray of shape (n_rows, n_features)
            What tells rows apart.
        labels : ndarray of int
            The fit's clusters, 0..K-1, without gaps.

        Returns
        -------
        NestedSide
        """
        leaves = split_clusters(features, labels)
        owners = np.empty(leaves.max() + 1, dtype=np.intp)
        owners[leaves] = labels
        inside = _merges_inside(features, leaves, owners)
        left = np.delete(np.arange(len(owners)), [merge.gone for merge in inside])
        names = left[owners[left].argsort()]
        merges = _never_falling([*inside, *_merges_above(features, labels, names)])
        pairs = np.array([(kept, gone) for _, kept, gone in merges], dtype=np.intp)
        heights = np.array([merge.height for merge in merges], dtype=np.float64)
        return cls(leaves, pairs.reshape(-1, 2), heights, int(labels.max()) + 1)

    @property
    def n_finest(self) -> int:
        """Largest number of clusters."""
        return len(self.merges) + 1

    def groups(self, n_clusters: int) -> NDArray[np.intp]:
        """Cluster of every finest cluster, numbered as by `cut`."""
        n, merged = self.n_finest, self.merges[: self.n_finest - n_clusters]
        links = sparse.csr_array((np.ones(len(merged)), tuple(merged.T)), shape=(n, n))
        found = connected_components(links, directed=False)[1]
        groups = np.empty(n, dtype=np.intp)
        groups[self.leaves] = relabel(found[self.leaves])
        return groups

    def cut(self, n_clusters: int) -> NDArray[np.intp]:
        """Labels of the rows in `n_clusters` clusters, largest 0."""
        return np.asarray(self.groups(n_clusters)[self.leaves])


@dataclass(frozen=True)
class NestedClusters:
    """Nested clusters of rows and of columns.

    Parameters
    ----------
    rows, columns : NestedSide
        Either side: its finest clusters and how they merge.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron(np.eye(3), np.full((6, 8), 9.0)) + np.random.default_rng(0).random((18, 24))
    >>> tree = NestedClusters.build(X, np.repeat([0, 1, 2], 6), np.repeat([0, 1, 2], 8))
    >>> np.bincount(tree.rows.cut(2)).tolist(), tree.rows.n_finest, tree.columns.n_finest
    ([12, 6], 4, 6)
    """

    rows: NestedSide
    columns: NestedSide

    @classmethod
    def build(
        cls, U: NDArray[Any], row_labels: NDArray[np.intp], column_labels: NDArray[np.intp]
    ) -> NestedClusters:
        """Nest the clusters of a fit by the features of its representation `U`."""
        rows = NestedSide.build(sketched_features(U), row_labels)
        return cls(rows, NestedSide.build(sketched_features(U.T), column_labels))


def _merges_inside(
    features: NDArray[Any], leaves: NDArray[np.intp], owners: NDArray[np.intp]
) -> list[_Merge]:
    """Merges of the parts within the clusters of the fit, the nearest parts first."""
    sizes = np.bincount(leaves)
    centres = cluster_means(features, leaves, len(sizes))
    merges: list[_Merge] = []
    for owner in range(int(owners.max()) + 1):
        parts = np.flatnonzero(owners == owner)
        merges += _named(_ward(centres[parts], sizes[parts]), parts)
    return _nearest_first(merges)


def _merges_above(
    features: NDArray[Any], labels: NDArray[np.intp], names: NDArray[np.intp]
) -> list[_Merge]:
    """Merges of the clusters of the fit, each under the name of one of its parts."""
    sizes = np.bincount(labels)
    return _nearest_first(_named(_ward(cluster_means(features, labels, len(sizes)), sizes), names))


def _named(merges: list[_Merge], names: NDArray[np.intp]) -> list[_Merge]:
    return [_Merge(height, int(names[kept]), int(names[gone])) for height, kept, gone in merges]


def _nearest_first(merges: list[_Merge]) -> list[_Merge]:
    # Equal ones stay in order: parts before what they are parts of, in spite of rounding.
    return sorted(_never_falling(merges), key=lambda merge: merge.height)


def _never_falling(merges: list[_Merge]) -> list[_Merge]:
    """Raise every merge to the highest within the two clusters that it merges."""
    tops: dict[int, float] = {}
    raised = []
    for height, kept, gone in merges:
        tops[kept] = max(height, tops.get(kept, 0.0), tops.get(gone, 0.0))
        raised.append(_Merge(tops[kept], kept, gone))
    return raised


def _ward(centres: NDArray[Any], sizes: NDArray[np.intp]) -> list[_Merge]:
    """Ward's merges of clusters of any size, by chains of nearest neighbours (Murtagh 1983).

    A merged cluster keeps the name of one of its parts.
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


def _costs(
    centres: NDArray[np.float64], weights: NDArray[np.float64], tip: int
) -> NDArray[np.float64]:
    """Rise of the scatter within clusters when `tip` is merged with each of the others.

    Clusters without weight have been merged and are out of reach.
    """
    apart = centres - centres[tip]
    squares = np.einsum("ij,ij->i", apart, apart)
    costs = squares * weights * weights[tip] / (weights + weights[tip])
    costs[weights == 0] = costs[tip] = np.inf
    return np.asarray(costs)
