"""Lloyd's iterations of k-means from given centres: nothing random."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def cluster_means(rows: NDArray[Any], labels: NDArray[np.intp], k: int) -> NDArray[Any]:
    """Mean of the rows of every label 0..k-1; zeros for a label without rows.

    Examples
    --------
    >>> import numpy as np
    >>> cluster_means(np.array([[1.0], [3.0], [8.0]]), np.array([0, 0, 1]), 2).tolist()
    [[2.0], [8.0]]
    """
    n = len(labels)
    members = sparse.csr_array((np.ones(n, rows.dtype), labels, np.arange(n + 1)), shape=(n, k))
    sizes = np.maximum(np.bincount(labels, minlength=k), 1)[:, None]
    return np.asarray((members.T @ rows) / sizes.astype(rows.dtype))


def lloyd(rows: NDArray[Any], centres: NDArray[Any], max_iter: int = 100) -> NDArray[np.intp]:
    """Nearest centre, mean of each cluster, until no row moves.

    A cluster that loses all its rows restarts at the row farthest from its centre; where
    there are fewer distinct rows than centres, some labels stay without rows.

    Examples
    --------
    >>> import numpy as np
    >>> lloyd(np.array([[0.0], [1.0], [9.0]]), np.array([[0.0], [2.0]])).tolist()
    [0, 0, 1]
    """
    labels = np.full(len(rows), -1, dtype=np.intp)
    for _ in range(max_iter):
        # Half the squared distance, less the row's own square, which moves no argmin.
        cost = 0.5 * np.einsum("ij,ij->i", centres, centres) - rows @ centres.T
        nearest = cost.argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = _refill(rows, nearest, centres)
        centres = cluster_means(rows, labels, len(centres))
    return labels


def _refill(
    rows: NDArray[Any], labels: NDArray[np.intp], centres: NDArray[Any]
) -> NDArray[np.intp]:
    empty = np.flatnonzero(np.bincount(labels, minlength=len(centres)) == 0)
    if not len(empty):
        return labels
    distances = np.square(rows - centres[labels]).sum(axis=1)
    for label in empty:
        farthest = int(distances.argmax())
        alone = np.count_nonzero(labels == labels[farthest]) == 1
        if distances[farthest] <= 0 or alone:
            break
        labels[farthest] = label
        distances[farthest] = 0
    return labels
