"""Which two clusters of a block model to merge next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.base import compact
from pyrocco.assign.blockmodel.data import BlockData, Pair, indicator


class Merge(NamedTuple):
    """Two clusters of one side, and what their merging costs in description length."""

    cost: float
    axis: int
    first: int
    second: int


def cheapest_merge(data: BlockData, labels: Pair, least: tuple[int, int]) -> Merge | None:
    """Find the pair of row clusters, or of column clusters, whose merging costs least.

    Parameters
    ----------
    data : BlockData
        The matrix.
    labels : pair of ndarray of int
        The clusters.
    least : pair of int
        Numbers of row and of column clusters not to go below.

    Returns
    -------
    Merge or None
        None where both sides have reached their number.
    """
    members = indicator(labels[0]), indicator(labels[1])
    sums = data.sums(members)
    counts = members[0].sum(axis=0), members[1].sum(axis=0)
    found = [
        _cheapest(data, sums if axis == 0 else sums.T, counts[axis], counts[1 - axis], axis)
        for axis in data.order
        if len(counts[axis]) > least[axis]
    ]
    return min(found, key=lambda merge: merge.cost, default=None)


def merged(labels: Pair, merge: Merge) -> Pair:
    """Return the labels after a merge."""
    sides = list(labels)
    side = sides[merge.axis]
    sides[merge.axis] = compact(np.where(side == merge.second, merge.first, side))
    return sides[0], sides[1]


def _cheapest(
    data: BlockData,
    sums: NDArray[np.float64],
    own: NDArray[np.float64],
    other: NDArray[np.float64],
    axis: int,
) -> Merge:
    """Least rise of noise, labels and means together, over the pairs of one side."""
    k, n = len(own), own.sum()
    sizes = np.outer(own, other)
    explained = (sums**2 / sizes).sum(axis=1)
    together = sums[:, None] + sums
    joint = sizes[:, None] + sizes
    loss = explained[:, None] + explained - (together**2 / joint).sum(axis=2)
    residual = max(data.squares - explained.sum(), 1e-9 * data.squares, np.finfo(float).tiny)
    noise = 0.5 * data.n_cells * np.log1p(np.maximum(loss, 0) / residual)
    entropy = -own * np.log(own / n)
    pairs = own[:, None] + own
    names = -pairs * np.log(pairs / n) - entropy[:, None] - entropy
    logs = np.log(sizes).sum(axis=1)
    means = 0.5 * (np.log(joint).sum(axis=2) - logs[:, None] - logs)
    cost = noise + names + means
    cost[np.diag_indices(k)] = np.inf
    first, second = divmod(int(cost.argmin()), k)
    return Merge(float(cost[first, second]), axis, min(first, second), max(first, second))
