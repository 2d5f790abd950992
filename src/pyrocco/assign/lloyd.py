"""Lloyd's iterations of k-means from given centres: nothing random."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import Backend, NumpyBackend, over_rows
from pyrocco.backends.kernels.clusters import sums_by_label


def cluster_means(rows: Any, labels: NDArray[np.intp], k: int) -> NDArray[Any]:
    """Mean of the rows of every label 0..k-1; zeros for a label without rows.

    Examples
    --------
    >>> import numpy as np
    >>> cluster_means(np.array([[1.0], [3.0], [8.0]]), np.array([0, 0, 1]), 2).tolist()
    [[2.0], [8.0]]
    """
    sizes = np.maximum(np.bincount(labels, minlength=k), 1)[:, None]
    sums = sum(over_rows(partial(label_sums, k=k), rows, labels))
    return np.asarray(sums / sizes, dtype=rows.dtype)


def lloyd(
    rows: Any,
    centres: NDArray[Any],
    max_iter: int = 100,
    backend: Backend | None = None,
) -> NDArray[np.intp]:
    """Nearest centre, mean of each cluster, until no row moves.

    A cluster that loses all its rows restarts at the row farthest from its centre; where
    there are fewer distinct rows than centres, some labels stay without rows.

    Parameters
    ----------
    rows : ndarray or ChunkedMatrix of shape (n_rows, n_features)
        Rows to label.
    centres : ndarray of shape (k, n_features)
        Where to start.
    max_iter : int
        Iterations at most.
    backend : Backend, optional
        Where to compute; NumPy unless given.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> import numpy as np
    >>> lloyd(np.array([[0.0], [1.0], [9.0]]), np.array([[0.0], [2.0]])).tolist()
    [0, 0, 1]
    """
    backend = backend or NumpyBackend()
    here = backend.asarray(rows)
    labels = np.full(len(rows), -1, dtype=np.intp)
    for _ in range(max_iter):
        found, sums = backend.nearest_centres(here, centres)
        if np.array_equal(found, labels):
            break
        labels = found
        sizes = np.bincount(labels, minlength=len(centres))
        if sizes.all():
            centres = sums / sizes[:, None]
        else:
            labels = _refill(rows, labels, centres)
            centres = cluster_means(rows, labels, len(centres))
    return labels


def _refill(rows: Any, labels: NDArray[np.intp], centres: NDArray[Any]) -> NDArray[np.intp]:
    empty = np.flatnonzero(np.bincount(labels, minlength=len(centres)) == 0)
    distances = np.concatenate(over_rows(partial(_distances, centres=centres), rows, labels))
    for label in empty:
        farthest = int(distances.argmax())
        alone = np.count_nonzero(labels == labels[farthest]) == 1
        if distances[farthest] <= 0 or alone:
            break
        labels[farthest] = label
        distances[farthest] = 0
    return labels


def label_sums(rows: NDArray[Any], labels: NDArray[np.intp], k: int) -> NDArray[np.float64]:
    """Sum of the rows of every label 0..k-1.

    Examples
    --------
    >>> import numpy as np
    >>> label_sums(np.array([[1.0], [3.0], [8.0]]), np.array([0, 0, 1]), 2).tolist()
    [[4.0], [8.0]]
    """
    return np.asarray(sums_by_label(rows, labels, k))


def _distances(
    rows: NDArray[Any], labels: NDArray[np.intp], centres: NDArray[Any]
) -> NDArray[Any]:
    return np.asarray(np.square(rows - centres[labels]).sum(axis=1))
