"""Ward's tree, cut at any number of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import pdist


class WardTree:
    """Nested partitions of rows by Ward's merging.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        Rows to merge.

    Examples
    --------
    >>> import numpy as np
    >>> tree = WardTree(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]]))
    >>> [sorted(np.bincount(tree.cut(k)).tolist()) for k in (1, 2, 3)]
    [[6], [3, 3], [1, 2, 3]]
    """

    def __init__(self, features: NDArray[Any]):
        merges = linkage(pdist(features), "ward")
        self._order = leaves_list(merges)
        self._borders = _borders(merges, self._order)

    def cut(self, n_clusters: int) -> NDArray[np.intp]:
        """Labels 0..n_clusters-1 of the rows."""
        marks = np.zeros(len(self._order), dtype=np.intp)
        marks[self._borders[len(self._borders) - (n_clusters - 1) :]] = 1
        labels = np.empty_like(marks)
        labels[self._order] = np.cumsum(marks)
        return labels


def _borders(merges: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where, in the order of the leaves, each merge joins its two parts.

    The rows under any node of the tree stand side by side in that order, so a cut is a set
    of borders: those of the last merges.
    """
    n_rows = len(order)
    stop = np.empty(2 * n_rows - 1, dtype=np.intp)
    stop[order] = np.arange(1, n_rows + 1)
    start = np.empty_like(stop)
    start[order] = np.arange(n_rows)
    borders = np.empty(n_rows - 1, dtype=np.intp)
    for merge, (a, b) in enumerate(merges[:, :2].astype(np.intp)):
        start[n_rows + merge] = min(start[a], start[b])
        stop[n_rows + merge] = max(stop[a], stop[b])
        borders[merge] = max(start[a], start[b])
    return borders
