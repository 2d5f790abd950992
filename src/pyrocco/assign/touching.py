"""Clusters that touch in the data are one, however far apart smoothing has drawn them.

Neighbourhoods of a tenth of all rows cut a cluster of most of the rows into parts, and so
does the smoothing along its own grain. Parts of one cluster still are neighbours in the data
itself, seen without the other clusters.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.base import compact
from pyrocco.assign.modularity import NeighborhoodGraph

_LEAST_NEIGHBORS = 3


def unite_touching(
    features: NDArray[Any], labels: NDArray[np.intp], n_clusters: int, contact: float
) -> NDArray[np.intp]:
    """Unite clusters, those in closest contact first, until no two touch.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        Rows of the data, a few thousand at most.
    labels : ndarray of int
        Their clusters.
    n_clusters : int
        How many there are; some may have no row here.
    contact : float
        Clusters touch when there are more links between them than this share of those that
        chance would put there.

    Returns
    -------
    ndarray of shape (n_clusters,)
        United cluster of every cluster, 0..L-1.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).standard_normal((90, 6))
    >>> rows[60:] += 9
    >>> unite_touching(rows, np.repeat([0, 1, 2], 30), 3, 0.5).tolist()
    [0, 0, 1]
    """
    names = np.arange(n_clusters)
    contacts = {
        pair: _contact(features, *(labels == name for name in pair))
        for pair in combinations(names.tolist(), 2)
    }
    while contacts:
        kept, gone = max(contacts, key=contacts.__getitem__)
        if contacts[kept, gone] <= contact:
            break
        names[names == gone] = kept
        contacts = {pair: value for pair, value in contacts.items() if gone not in pair}
        for pair in contacts:
            if kept in pair:
                contacts[pair] = _contact(features, *(names[labels] == name for name in pair))
    return compact(names)


def _contact(features: NDArray[Any], one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Contact of two clusters by themselves, in neighbourhoods smaller than either."""
    both = one | other
    smaller = min(int(np.count_nonzero(one)), int(np.count_nonzero(other)))
    if smaller <= _LEAST_NEIGHBORS:
        return 0.0
    k = max(_LEAST_NEIGHBORS, min(int(np.count_nonzero(both)) // 10, smaller // 2))
    return NeighborhoodGraph(features[both], n_neighbors=k).contact(one[both])
