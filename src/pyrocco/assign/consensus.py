"""The partition that several partitions of the same rows have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import squareform

from pyrocco._typing import Floats, Labels
from pyrocco.assign.kmeans import MergeTree
from pyrocco.assign.labels import compact, hard_memberships

# The consensus may have this many more clusters than the finest of the partitions.
_MORE_CLUSTERS = 3
# Differences in agreement that do not count: a few rows on which the partitions differ are no
# cluster.
_TOLERANCE = 0.01
# Among this many rows, a cluster has at least three.
_MANY_ROWS, _LEAST_ROWS = 30, 3


def consensus(partitions: Sequence[Labels]) -> Labels:
    """Find the partition that agrees best with several partitions of the same rows.

    Rows that often share a cluster are merged first (average linkage of the share of partitions
    that separate two rows; Fred and Jain, "Combining multiple clusterings using evidence
    accumulation", IEEE Transactions on Pattern Analysis and Machine Intelligence 27 (2005)
    835-850). Each cut of this tree is compared with the partitions by the mean of the adjusted
    Rand index. The coarsest of the cuts that hardly differ from the best one is returned.

    Parameters
    ----------
    partitions : sequence of arrays of shape (n_rows,)
        Labels 0..K-1 of each partition. K may differ.

    Returns
    -------
    array of shape (n_rows,)
        Labels from 0 without unused numbers.

    Examples
    --------
    >>> import numpy as np
    >>> one, other = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 2, 2, 2])
    >>> labels = consensus([one, one, other])
    >>> bool(labels[0] == labels[2] != labels[3])
    True
    """
    n_rows = len(partitions[0])
    most = min(n_rows, max(int(labels.max()) for labels in partitions) + 1 + _MORE_CLUSTERS)
    if n_rows < 2 or not any(labels.any() for labels in partitions):
        return np.zeros(n_rows, dtype=np.intp)
    separation = _separation(partitions)
    tree = MergeTree(squareform(separation, checks=False), "average")
    cuts = [tree.cut(k) for k in range(1, most + 1)]
    agreement = np.array([mean_agreement([cut], partitions) for cut in cuts])
    best = cuts[int(np.argmax(agreement >= agreement.max() - _TOLERANCE))]
    return _without_single_rows(compact(best), separation)


def _without_single_rows(labels: Labels, separation: Floats) -> Labels:
    """Move clusters of a row or two to the cluster from which they are separated least often.

    A few rows on which the partitions differ are no cluster. Few rows have small clusters.
    """
    sizes = np.bincount(labels)
    if len(labels) < _MANY_ROWS or sizes.max() < _LEAST_ROWS:
        return labels
    large = np.flatnonzero(sizes >= _LEAST_ROWS)
    rows = np.flatnonzero(sizes[labels] < _LEAST_ROWS)
    apart = separation[rows] @ hard_memberships(labels)[:, large] / sizes[large]
    moved = labels.copy()
    moved[rows] = large[apart.argmin(axis=1)]
    return compact(moved)


def _separation(partitions: Sequence[Labels]) -> Floats:
    """Return the share of partitions that separate two rows, for all pairs of rows."""
    members = np.hstack([hard_memberships(labels) for labels in partitions])
    return np.asarray(1 - members @ members.T / len(partitions))


def mean_agreement(some: Sequence[Labels], others: Sequence[Labels]) -> float:
    """Return the mean of the adjusted Rand index over pairs of two different partitions.

    Examples
    --------
    >>> import numpy as np
    >>> halves, thirds = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
    >>> mean_agreement([halves, thirds], [halves, thirds]) == mean_agreement([halves], [thirds])
    True
    """
    pairs = ((one, other) for one in some for other in others if one is not other)
    return float(np.mean([_adjusted_rand(one, other) for one, other in pairs]))


def _adjusted_rand(one: Labels, other: Labels) -> float:
    """Compute the adjusted Rand index; 1 if both partitions consist of one cluster."""
    both = np.bincount(one * (int(other.max()) + 1) + other)
    shared, first, second = (
        _pairs(sizes) for sizes in (both, np.bincount(one), np.bincount(other))
    )
    chance = first * second / max(_pairs(np.array([len(one)])), 1)  # of a single row, no pairs
    most = (first + second) / 2
    return 1.0 if most == chance else (shared - chance) / (most - chance)


def _pairs(sizes: Labels) -> float:
    """Return the number of pairs of rows of the same cluster."""
    return float((sizes * (sizes - 1)).sum()) / 2
