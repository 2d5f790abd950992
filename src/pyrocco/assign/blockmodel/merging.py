"""Which two clusters of a block model to merge next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.base import compact
from pyrocco.assign.blockmodel.data import BlockData, Pair, indicator


class Merge(NamedTuple):
    """Two clusters of one side, and what their merging costs in description length."""

    cost: float
    axis: int
    kept: int
    gone: int


@dataclass(frozen=True)
class BlockSums:
    """The sum and the cells of every block; the numbers of rows and columns of every cluster."""

    sums: NDArray[np.float64]
    cells: NDArray[np.float64]
    counts: Pair

    @classmethod
    def of(cls, data: BlockData, labels: Pair) -> BlockSums:
        """Sums of the blocks that `labels` make of the data."""
        members = indicator(labels[0]), indicator(labels[1])
        counts = members[0].sum(axis=0), members[1].sum(axis=0)
        return cls(data.sums(members), data.sizes(members), counts)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of row and of column clusters."""
        return len(self.counts[0]), len(self.counts[1])

    def merged(self, merge: Merge) -> BlockSums:
        """Return the sums after a merge."""
        counts = list(self.counts)
        counts[merge.axis] = _add(counts[merge.axis], merge, 0)
        sums, cells = (_add(values, merge, merge.axis) for values in (self.sums, self.cells))
        return BlockSums(sums, cells, (counts[0], counts[1]))


def merged_labels(labels: Pair, merge: Merge) -> Pair:
    """Return the labels after a merge."""
    sides = list(labels)
    side = sides[merge.axis]
    sides[merge.axis] = compact(np.where(side == merge.gone, merge.kept, side))
    return sides[0], sides[1]


def cheapest_merge(data: BlockData, blocks: BlockSums, least: tuple[int, int]) -> Merge | None:
    """Find the pair of row clusters, or of column clusters, whose merging costs least.

    Parameters
    ----------
    data : BlockData
        The matrix.
    blocks : BlockSums
        Its blocks.
    least : pair of int
        Numbers of row and of column clusters not to go below.

    Returns
    -------
    Merge or None
        None where both sides have reached their number.
    """
    found = [
        _cheapest(data, blocks, axis) for axis in data.order if blocks.sizes[axis] > least[axis]
    ]
    return min(found, key=lambda merge: merge.cost, default=None)


def _cheapest(data: BlockData, blocks: BlockSums, axis: int) -> Merge:
    """Least rise of noise, labels and means together, over the pairs of one side."""
    sums, cells = (part if axis == 0 else part.T for part in (blocks.sums, blocks.cells))
    cells = np.maximum(cells, 1)
    own = blocks.counts[axis]
    k, n = len(own), own.sum()
    explained = (sums**2 / cells).sum(axis=1)
    joint = own[:, None] + own
    if data.observed is None:
        together, means = _whole_pairs(sums, own, blocks.counts[1 - axis])
    else:
        together, means = _pairs(sums, cells)
    loss = explained[:, None] + explained - together
    residual = max(data.squares - explained.sum(), 1e-9 * data.squares, np.finfo(float).tiny)
    noise = 0.5 * data.n_cells * np.log1p(np.maximum(loss, 0) / residual)
    entropy = -own * np.log(own / n)
    names = -joint * np.log(joint / n) - entropy[:, None] - entropy
    cost = noise + names + means
    cost[np.diag_indices(k)] = np.inf
    first, second = divmod(int(cost.argmin()), k)
    return Merge(float(cost[first, second]), axis, min(first, second), max(first, second))


def _whole_pairs(sums: NDArray[np.float64], own: NDArray[Any], other: NDArray[Any]) -> Pair:
    """As `_pairs`, by one product: every cell is there, so sizes are products of counts."""
    joint = own[:, None] + own
    # A pair's block of joint sum s and size (a + b) c explains s^2 / ((a + b) c).
    scaled = sums / np.sqrt(other)
    products = scaled @ scaled.T
    powers = np.diag(products)
    logs = len(other) * np.log(own)
    means = 0.5 * (len(other) * np.log(joint) - logs[:, None] - logs - np.log(other).sum())
    return (powers[:, None] + powers + 2 * products) / joint, means


def _pairs(sums: NDArray[np.float64], cells: NDArray[np.float64]) -> Pair:
    """What every pair explains once merged, and what half the logs of block sizes gain."""
    together = ((sums[:, None] + sums) ** 2 / (cells[:, None] + cells)).sum(axis=2)
    logs = np.log(cells).sum(axis=1)
    means = 0.5 * (np.log(cells[:, None] + cells).sum(axis=2) - logs[:, None] - logs)
    return together, means


def _add(values: NDArray[np.float64], merge: Merge, axis: int) -> NDArray[np.float64]:
    """Add what belongs to the cluster that goes to the one that is kept."""
    moved = np.moveaxis(values, axis, 0).copy()
    moved[merge.kept] += moved[merge.gone]
    return np.ascontiguousarray(np.moveaxis(np.delete(moved, merge.gone, axis=0), 0, axis))
