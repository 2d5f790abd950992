"""The order in which rows and columns are drawn, and averages over neighbours in it."""

from __future__ import annotations

import numpy as np

from pyrocco._typing import Dense, Floats, Labels, Matrix, stored_values
from pyrocco.fitting.result import block_means

__all__ = ["bins", "cluster_order", "downsample", "order_by_means", "sort_by_cluster"]

COARSEST = 150
# The difference of larger values of opposite sign would be infinite.
_LARGEST = 4e307


def cluster_order(X: Matrix, row_labels: Labels, column_labels: Labels) -> tuple[Labels, Labels]:
    """Order the clusters so that high blocks lie as near the diagonal as possible.

    The clusters of the side with fewer clusters are sorted by size. Each cluster of the
    other side is placed next to the cluster in which it stands out most.
    """
    means = _limited(block_means(X, row_labels, column_labels))
    # A block whose values are all missing does not stand out.
    means = np.where(np.isnan(means), np.nanmean(means), means)
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
