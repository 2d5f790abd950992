"""The finest clusters: each cluster of a fit split into parts by the rows' features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from pyrocco.assign.base import compact
from pyrocco.assign.lloyd import cluster_means, lloyd
from pyrocco.assign.sampled import SampledRows

# Finest clusters in all, and parts of each cluster, where it has the rows.
FINEST = 60
_PARTS = 4
# Rows of a finest cluster at least.
LEAST_ROWS = 3
# Rows of a cluster among which its parts are found.
_SAMPLE = 300
# Iterations of k-means in which all its rows join them.
_ITERATIONS = 2


def split_clusters(features: NDArray[Any], labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Split every cluster into parts of rows with like features.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        The rows.
    labels : ndarray of int
        Their clusters, 0..K-1.

    Returns
    -------
    ndarray of int
        The part of every row, without gaps; rows of one part have one label.

    Examples
    --------
    >>> import numpy as np
    >>> features = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [9.0], [9.1]])
    >>> split_clusters(features, np.array([0, 0, 0, 0, 0, 0, 1, 1])).tolist()
    [0, 0, 0, 1, 1, 1, 2, 2]
    """
    parts = np.zeros(len(labels), dtype=np.intp)
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    for inside in np.split(order, np.cumsum(sizes)[:-1]):
        found = _parts(features[inside], _number_of_parts(len(inside), len(labels)))
        parts[inside] = found + parts.max() + 1
    return compact(parts)


def _number_of_parts(n_inside: int, n_rows: int) -> int:
    """A share of the finest clusters by size, a few for a small cluster too."""
    share = max(_PARTS, round(FINEST * n_inside / n_rows))
    return min(share, n_inside // LEAST_ROWS)


def _parts(features: NDArray[Any], k: int) -> NDArray[np.intp]:
    if k < 2 or _is_one_place(features):
        return np.zeros(len(features), dtype=np.intp)
    rows = SampledRows.draw(features, _SAMPLE, np.random.RandomState(0))
    centres = cluster_means(rows.sample, rows.tree.cut(min(k, len(rows.index))), k)
    return _large_enough(features, compact(lloyd(features, centres, max_iter=_ITERATIONS)))


def _is_one_place(features: NDArray[Any]) -> bool:
    """Whether nothing but rounding tells the rows apart."""
    spread = np.abs(features - features.mean(axis=0)).max()
    return bool(spread <= np.sqrt(np.finfo(features.dtype).eps))


def _large_enough(features: NDArray[Any], parts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Give the rows of parts that are too small to the nearest of the others."""
    sizes = np.bincount(parts)
    kept = np.flatnonzero(sizes >= min(LEAST_ROWS, sizes.max()))
    lost = np.flatnonzero(~np.isin(parts, kept))
    centres = cluster_means(features, parts, len(sizes))[kept]
    parts[lost] = kept[cdist(features[lost], centres).argmin(axis=1)]
    return compact(parts)
