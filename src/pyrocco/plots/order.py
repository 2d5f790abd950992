"""The order in which rows and columns are drawn, and averages over neighbours in it.

All plots and the report use the same order. `member_order` computes it for a fitted model; it
keeps the nested clusters of the model together, so that their tree fits on the margin. Labels
without a model are ordered by `cluster_order`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pyrocco._typing import Dense, FittedCoClustering, Floats, Labels, Matrix, stored_values
from pyrocco.assign.nested import NestedClusters, NestedSide
from pyrocco.fitting.result import block_means
from pyrocco.validation import check_labels

__all__ = [
    "Arrangement",
    "bins",
    "cluster_order",
    "clusters_in_order",
    "display_order",
    "downsample",
    "member_order",
    "order_by_means",
    "sort_by_cluster",
    "tree_of",
]

COARSEST = 150
# Rounds in which rows are moved towards the columns where they are high, and columns to rows.
_ROUNDS = 5
# The difference of larger values of opposite sign would be infinite.
_LARGEST = 4e307


def display_order(model: FittedCoClustering, X: Matrix | None = None) -> tuple[Labels, Labels]:
    """Order the row clusters and the column clusters of a model as all plots draw them.

    Parameters
    ----------
    model : estimator
        A fitted `ROCCO`, a cut of it, or another model with row labels and column labels.
    X : ndarray or CSR matrix, optional
        The matrix it was fitted to. A `ROCCO` and its cuts know their order without it.

    Returns
    -------
    pair of ndarray of int
        The numbers of the row clusters, from top to bottom, and of the column clusters, from
        left to right. Clusters that merge in the tree of the model are neighbours, and high
        blocks are as near the diagonal as the tree allows.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((100, 80), 4, noise=10, random_state=0).X
    >>> rows, columns = display_order(ROCCO().fit(X))
    >>> sorted(rows.tolist()), sorted(columns.tolist())
    ([0, 1, 2, 3], [0, 1, 2, 3])
    """
    rows, columns = member_order(model, X)
    return (
        clusters_in_order(np.asarray(model.row_labels_), rows),
        clusters_in_order(np.asarray(model.column_labels_), columns),
    )


def member_order(model: FittedCoClustering, X: Matrix | None = None) -> tuple[Labels, Labels]:
    """Order the rows and the columns so that all nested clusters of a model are contiguous.

    Parameters
    ----------
    model : estimator
        A fitted `ROCCO`, a cut of it, or another model with row labels and column labels.
    X : ndarray or CSR matrix, optional
        The matrix it was fitted to. A `ROCCO` and its cuts know their order without it.

    Returns
    -------
    pair of ndarray of int
        The positions of the rows, from top to bottom, and of the columns, from left to right.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((100, 80), 4, noise=10, random_state=0).X
    >>> model = ROCCO().fit(X)
    >>> rows, columns = member_order(model)
    >>> int(np.count_nonzero(np.diff(model.at(3, 3).row_labels_[rows])))
    2
    """
    tree = tree_of(model)
    if tree is None:
        if X is None:
            raise TypeError(
                f"the matrix is needed to order the clusters of {type(model).__name__}"
            )
        labels = np.asarray(model.row_labels_), np.asarray(model.column_labels_)
        clusters = cluster_order(X, *labels)
        return sort_by_cluster(labels[0], clusters[0]), sort_by_cluster(labels[1], clusters[1])
    rows, columns = _order_trees(_finest_means(model, tree), tree)
    return sort_by_cluster(tree.rows.finest, rows), sort_by_cluster(tree.columns.finest, columns)


@dataclass(frozen=True)
class Arrangement:
    """Labels of rows and columns, and the order in which clusters and members are drawn."""

    labels: tuple[Labels, Labels]
    clusters: tuple[Labels, Labels]
    members: tuple[Labels, Labels]

    @classmethod
    def of(
        cls, X: Matrix, row_labels: ArrayLike | None, column_labels: ArrayLike | None, model: Any
    ) -> Arrangement:
        """Arrange the clusters of a model, or those of labels."""
        given = row_labels is not None, column_labels is not None
        if model is None and not all(given):
            raise TypeError("give row_labels and column_labels, or model=, a fitted model.")
        if model is not None and any(given):
            raise TypeError("give row_labels and column_labels, or model=, not both.")
        found = (row_labels, column_labels)
        if model is not None:
            found = (model.row_labels_, model.column_labels_)
        labels = (
            check_labels("row_labels", found[0], X.shape[0], "row"),
            check_labels("column_labels", found[1], X.shape[1], "column"),
        )
        if model is not None and tree_of(model) is not None:
            members = member_order(model)
            clusters = [clusters_in_order(*side) for side in zip(labels, members, strict=True)]
            return cls(labels, (clusters[0], clusters[1]), members)
        rows, columns = cluster_order(X, *labels)
        members = sort_by_cluster(labels[0], rows), sort_by_cluster(labels[1], columns)
        return cls(labels, (rows, columns), members)


def tree_of(model: object) -> NestedClusters | None:
    """Return the nested clusters of a fitted model, or of a cut, if it has any."""
    tree = getattr(model, "tree_", None)
    tree = getattr(model, "tree", None) if tree is None else tree
    return tree if isinstance(tree, NestedClusters) else None


def clusters_in_order(labels: Labels, order: Labels) -> Labels:
    """Return the clusters in the order in which their first members are drawn.

    Examples
    --------
    >>> clusters_in_order(np.array([0, 1, 0, 2]), np.array([3, 0, 2, 1])).tolist()
    [2, 0, 1]
    """
    first = np.full(int(labels.max()) + 1, len(labels))
    np.minimum.at(first, labels[order], np.arange(len(order)))
    return np.argsort(first, kind="stable")


def _finest_means(model: Any, tree: NestedClusters) -> Floats:
    """Return the means over the finest clusters of rows and of columns; NaN without values."""
    # A cut has its own as `statistics`.
    statistics = model.statistics_ if hasattr(model, "statistics_") else model.statistics
    blocks = statistics.blocks(np.arange(tree.rows.n_finest), tree.columns.finest)
    return np.asarray(np.where(blocks.counts > 0, blocks.means, np.nan))


def _order_trees(means: Floats, tree: NestedClusters) -> tuple[Labels, Labels]:
    """Order the finest clusters of both sides, so that high blocks lie near the diagonal.

    The side with fewer clusters begins with its largest clusters; then each side follows the
    other in turn (reciprocal averaging), as far as its tree allows.
    """
    weights = _standing_out(means)
    sizes = np.bincount(tree.rows.finest), np.bincount(tree.columns.finest)
    if tree.rows.n_fitted > tree.columns.n_fitted:
        columns, rows = _follow_in_turn(weights.T, (tree.columns, tree.rows), (sizes[1], sizes[0]))
        return rows, columns
    return _follow_in_turn(weights, (tree.rows, tree.columns), sizes)


def _follow_in_turn(
    weights: Floats, sides: tuple[NestedSide, NestedSide], sizes: tuple[Labels, Labels]
) -> tuple[Labels, Labels]:
    lead_tree, follow_tree = sides
    largest_first = lead_tree.cut_finest(lead_tree.n_fitted).astype(float)
    lead = _order_tree(lead_tree.merges, largest_first, sizes[0])
    follow = np.arange(len(sizes[1]))
    for _ in range(_ROUNDS):
        follow = _order_tree(follow_tree.merges, _centroids(weights, lead, sizes[0]), sizes[1])
        before = lead
        lead = _order_tree(lead_tree.merges, _centroids(weights.T, follow, sizes[1]), sizes[0])
        if np.array_equal(before, lead):
            break
    return lead, follow


def _standing_out(means: Floats) -> Floats:
    """Return by how much each block is higher than its row and its column; 0 if it is not.

    Medians, so that a block with an outlier cell does not change all others.
    """
    means = _limited(means)
    known = ~np.isnan(means)
    means = np.where(known, means, np.median(means[known]) if known.any() else 0.0)
    means = means / (np.abs(means).max() or 1.0)
    means = means - np.median(means, axis=1, keepdims=True)
    return np.asarray(np.maximum(means - np.median(means, axis=0), 0.0))


def _centroids(weights: Floats, order: Labels, sizes: Labels) -> Floats:
    """Return, for every column of `weights`, where along an order of the rows it is high."""
    ends = np.cumsum(sizes[order])
    places = np.empty(len(order))
    places[order] = (ends - sizes[order] / 2) / ends[-1]
    shares = weights * sizes[:, None]
    totals = shares.sum(axis=0)
    middle = np.full(len(totals), 0.5)
    np.divide(places @ shares, totals, out=middle, where=totals > 0)
    return middle


def _order_tree(merges: Labels, places: Floats, sizes: Labels) -> Labels:
    """Order the leaves of a tree: of two branches, that of the lower mean place comes first."""
    leaves = {leaf: [leaf] for leaf in range(len(places))}
    sums = {
        leaf: float(place * n) for leaf, (place, n) in enumerate(zip(places, sizes, strict=True))
    }
    totals = {leaf: float(n) for leaf, n in enumerate(sizes)}
    for first, second in merges.tolist():
        own, other = leaves[first], leaves.pop(second)
        swap = sums[second] / totals[second] < sums[first] / totals[first]
        leaves[first] = other + own if swap else own + other
        sums[first] += sums.pop(second)
        totals[first] += totals.pop(second)
    (order,) = leaves.values()
    return np.array(order, dtype=np.intp)


def cluster_order(X: Matrix, row_labels: Labels, column_labels: Labels) -> tuple[Labels, Labels]:
    """Order the clusters so that high blocks lie as near the diagonal as possible.

    The clusters of the side with fewer clusters are sorted by size. Each cluster of the
    other side is placed next to the cluster in which it stands out most.
    """
    means = _limited(block_means(X, row_labels, column_labels))
    # A block whose values are all missing does not stand out.
    known = means[~np.isnan(means)]
    means = np.where(np.isnan(means), known.mean() if known.size else 0.0, means)
    return order_by_means(means, np.bincount(row_labels), np.bincount(column_labels))


def order_by_means(
    means: Floats, row_sizes: Labels, column_sizes: Labels
) -> tuple[Labels, Labels]:
    """Order the clusters as `cluster_order` does, given block means and sizes of clusters."""
    # In units of the largest, whose sums are finite.
    means = means / (np.abs(means).max() or 1.0)
    # Without row and column effects: otherwise a cluster that is high everywhere would
    # attract all others.
    means = means - means.mean(axis=0) - means.mean(axis=1, keepdims=True) + means.mean()
    if len(row_sizes) <= len(column_sizes):
        return _lead_and_follow(means, row_sizes, column_sizes)
    columns, rows = _lead_and_follow(means.T, column_sizes, row_sizes)
    return rows, columns


def _lead_and_follow(means: Floats, leaders: Labels, followers: Labels) -> tuple[Labels, Labels]:
    lead = np.argsort(-leaders, kind="stable")
    best = np.argmax(means[lead], axis=0)
    return lead, np.lexsort((-followers, best))


def sort_by_cluster(labels: Labels, clusters: Labels) -> Labels:
    """Return the order of the rows when their clusters are drawn in the order `clusters`."""
    rank = np.empty_like(clusters)
    rank[clusters] = np.arange(len(clusters))
    return np.argsort(rank[labels], kind="stable")


def downsample(X: Matrix, row_order: Labels, column_order: Labels, most: int = 600) -> Dense:
    """Reorder a matrix and average neighbours until it has at most `most` rows and columns.

    A sparse matrix is never made dense at its full size.
    """
    if max(X.shape) > most:
        # The fewer nonzero values there are, the larger the pixels: a pixel that holds
        # hardly any is noise.
        nonzero = np.count_nonzero(stored_values(X))
        most = int(np.clip(np.sqrt(nonzero), min(most, COARSEST), most))
    return _limited(block_means(X, bins(row_order, most), bins(column_order, most)))


def _limited(means: Floats) -> Floats:
    """Limit means to values with which matplotlib can compute; NaN stays NaN."""
    return np.asarray(np.clip(means, -_LARGEST, _LARGEST))


def bins(order: Labels, most: int) -> Labels:
    """Divide an order into at most `most` bins of neighbours.

    Returns the bin of every row or column, counting from 0 along the order.
    """
    bin_of = np.empty(len(order), dtype=np.intp)
    bin_of[order] = np.arange(len(order)) * min(most, len(order)) // len(order)
    return bin_of
