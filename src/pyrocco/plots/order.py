"""The order of clusters that shows the blocks best."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pyrocco.fitting.result import block_means

__all__ = ["averaging", "block_means", "cluster_order", "order_by_means"]

Array = np.ndarray[Any, Any]


def averaging(groups: Array, n_groups: int) -> Any:
    """Sparse matrix that averages rows within groups when multiplied from the left.

    Parameters
    ----------
    groups : ndarray of int
        Group of every row.
    n_groups : int
        Number of groups.

    Returns
    -------
    csr_array of shape (n_groups, n_rows)

    Examples
    --------
    >>> averaging(np.array([0, 1, 1]), 2).toarray()
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0.5]])
    """
    sizes = np.bincount(groups, minlength=n_groups)
    entries = (1.0 / sizes[groups], (groups, np.arange(len(groups))))
    return sparse.csr_array(entries, shape=(n_groups, len(groups)))


def cluster_order(X: Any, row_labels: Array, column_labels: Array) -> tuple[Array, Array]:
    """Order the clusters so that high blocks lie as near the diagonal as possible.

    The side with fewer clusters goes from large to small; each cluster of the other side
    follows the one in which it stands out most.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The numbers.
    row_labels, column_labels : ndarray of int
        Cluster of every row and of every column, counting from 0.

    Returns
    -------
    row_clusters, column_clusters : ndarray of int
        The clusters from top to bottom and from left to right.

    Examples
    --------
    >>> X = np.array([[0.0, 9.0, 0.0], [5.0, 0.0, 5.0], [5.0, 0.0, 5.0]])
    >>> cluster_order(X, np.array([0, 1, 1]), np.array([0, 1, 0]))
    (array([1, 0]), array([0, 1]))
    """
    means = block_means(X, row_labels, column_labels)
    # A block with nothing but missing cells stands out nowhere.
    means = np.where(np.isnan(means), np.nanmean(means), means)
    return order_by_means(means, np.bincount(row_labels), np.bincount(column_labels))


def order_by_means(means: Array, row_sizes: Array, column_sizes: Array) -> tuple[Array, Array]:
    """Order the clusters as `cluster_order` does, where the means of the blocks are known.

    Parameters
    ----------
    means : ndarray of shape (row clusters, column clusters)
        Mean of every block.
    row_sizes, column_sizes : ndarray of int
        Rows, or columns, of every cluster.

    Returns
    -------
    row_clusters, column_clusters : ndarray of int
        The clusters from top to bottom and from left to right.

    Examples
    --------
    >>> order_by_means(np.array([[0.0, 9.0], [5.0, 0.0]]), np.array([1, 2]), np.array([2, 1]))
    (array([1, 0]), array([0, 1]))
    """
    # What is left after row and column effects tells where a cluster stands out; a cluster
    # that is high everywhere would otherwise attract all others.
    means = means - means.mean(axis=0) - means.mean(axis=1, keepdims=True) + means.mean()
    if len(row_sizes) <= len(column_sizes):
        return _lead_and_follow(means, row_sizes, column_sizes)
    columns, rows = _lead_and_follow(means.T, column_sizes, row_sizes)
    return rows, columns


def _lead_and_follow(means: Array, leaders: Array, followers: Array) -> tuple[Array, Array]:
    lead = np.argsort(-leaders, kind="stable")
    best = np.argmax(means[lead], axis=0)
    return lead, np.lexsort((-followers, best))
