"""Search for the block model of highest evidence by merging clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

import numpy as np

from pyrocco._typing import Floats
from pyrocco.assign.block_model.fit import (
    BlockData,
    BlockFit,
    Pair,
    evaluate,
    sweep,
    variational_fit,
)
from pyrocco.assign.labels import Numbers, compact, hard_memberships

# With more clusters than this on a side, the model is evaluated only after several merges:
# when the number of clusters has fallen to this share.
_EVERY_MERGE = 12
_LEAP = 0.75
# Number of models on a path whose memberships are fitted before they are compared, and the
# rounds of that fit. The best model is then fitted until convergence.
_CONTENDERS = 4
_FEW_ROUNDS = 5


def best_block_fit(data: BlockData, start: Pair, numbers: Numbers) -> BlockFit | None:
    """Merge clusters one by one and return the model of highest evidence.

    `start` are fine partitions of the rows and of the columns, `numbers` the numbers of
    clusters where they are given. Returns None if no model on the path has these numbers.
    """
    best = _best_on_path(data, start, numbers, _LEAP)
    if best is not None and max(_sizes(best)) > _EVERY_MERGE:
        # Examine the models that the path has left out.
        stop = int(_LEAP * sum(_sizes(best)))
        closer = _best_on_path(data, best.labels, numbers, 1.0, stop)
        best = max((best, closer or best), key=_evidence)
    if best is None:
        return None
    final = variational_fit(data, best.memberships)
    return final if _has(final, numbers) else best


def _best_on_path(
    data: BlockData, start: Pair, numbers: Numbers, leap: float, stop: int = 0
) -> BlockFit | None:
    """Merge until `stop` clusters are left; return the best model that was evaluated."""
    contenders = nlargest(_CONTENDERS, _path(data, start, numbers, leap, stop), key=_evidence)
    fits = [variational_fit(data, fit.memberships, _FEW_ROUNDS) for fit in contenders]
    return max((fit for fit in fits if _has(fit, numbers)), key=_evidence, default=None)


def _path(
    data: BlockData, start: Pair, numbers: Numbers, leap: float, stop: int
) -> Iterator[BlockFit]:
    """Merge until `stop` clusters are left; yield the models to compare."""
    least = numbers[0] or 1, numbers[1] or 1
    labels, evaluated = start, (2 * len(start[0]), 2 * len(start[1]))
    blocks = BlockSums.of(data, labels)
    while sum(blocks.sizes) > stop:
        if _is_due(blocks.sizes, evaluated, least, leap):
            labels = sweep(data, labels)
            blocks = BlockSums.of(data, labels)
            evaluated = blocks.sizes
            fit = evaluate(data, (hard_memberships(labels[0]), hard_memberships(labels[1])))
            if _has(fit, numbers):
                yield fit
        merge = cheapest_merge(data, blocks, least)
        if merge is None:
            break
        labels, blocks = merged_labels(labels, merge), blocks.merged(merge)


def _evidence(fit: BlockFit) -> float:
    return fit.evidence


def _sizes(fit: BlockFit) -> tuple[int, int]:
    rows, columns = fit.labels
    return int(rows.max()) + 1, int(columns.max()) + 1


def _has(fit: BlockFit, numbers: Numbers) -> bool:
    """Whether the labels of a fit have the given numbers of clusters."""
    pairs = zip(_sizes(fit), numbers, strict=True)
    return all(number in (None, size) for size, number in pairs)


def _is_due(
    sizes: tuple[int, int], evaluated: tuple[int, int], least: tuple[int, int], leap: float
) -> bool:
    """Whether to evaluate the model: few clusters, or enough merges since the last time."""
    if max(sizes) <= max(_EVERY_MERGE, *least):
        return True
    return sum(sizes) <= leap * sum(evaluated)


class Merge(NamedTuple):
    """The second cluster of a side joins the first; the cost is in description length."""

    cost: float
    axis: int
    first: int
    second: int


@dataclass(frozen=True)
class BlockSums:
    """Sum and number of values of each block; numbers of rows and columns of each cluster."""

    sums: Floats
    cells: Floats
    counts: Pair

    @classmethod
    def of(cls, data: BlockData, labels: Pair) -> BlockSums:
        """Compute the sums for given labels."""
        memberships = hard_memberships(labels[0]), hard_memberships(labels[1])
        counts = memberships[0].sum(axis=0), memberships[1].sum(axis=0)
        return cls(data.sums(memberships), data.sizes(memberships), counts)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of row clusters and of column clusters."""
        return len(self.counts[0]), len(self.counts[1])

    def merged(self, merge: Merge) -> BlockSums:
        """Return the sums after a merge."""
        counts = list(self.counts)
        counts[merge.axis] = _add(counts[merge.axis], merge, 0)
        sums, cells = (_add(values, merge, merge.axis) for values in (self.sums, self.cells))
        return BlockSums(sums, cells, (counts[0], counts[1]))


def _add(values: Floats, merge: Merge, axis: int) -> Floats:
    """Add the values of the second cluster of a merge to those of the first."""
    moved = np.moveaxis(values, axis, 0).copy()
    moved[merge.first] += moved[merge.second]
    return np.ascontiguousarray(np.moveaxis(np.delete(moved, merge.second, axis=0), 0, axis))


def merged_labels(labels: Pair, merge: Merge) -> Pair:
    """Return the labels after a merge."""
    sides = list(labels)
    side = sides[merge.axis]
    sides[merge.axis] = compact(np.where(side == merge.second, merge.first, side))
    return sides[0], sides[1]


def cheapest_merge(data: BlockData, blocks: BlockSums, least: tuple[int, int]) -> Merge | None:
    """Return the merge with the lowest cost; None if both sides have their `least` number."""
    merges = [
        _cheapest(data, blocks, axis) for axis in data.order if blocks.sizes[axis] > least[axis]
    ]
    return min(merges, key=lambda merge: merge.cost, default=None)


def _cheapest(data: BlockData, blocks: BlockSums, axis: int) -> Merge:
    """Return the merge on one side that raises noise, labels and means together the least."""
    sums, cells = (part if axis == 0 else part.T for part in (blocks.sums, blocks.cells))
    cells = np.maximum(cells, 1)
    own = blocks.counts[axis]
    k, n = len(own), own.sum()
    explained = (sums**2 / cells).sum(axis=1)
    joint = own[:, None] + own
    if data.present is None:
        together, means = _complete_pairs(sums, own, blocks.counts[1 - axis])
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


def _complete_pairs(sums: Floats, own: Floats, other: Floats) -> Pair:
    """As `_pairs`, by one product: without missing values, sizes are products of counts."""
    joint = own[:, None] + own
    # A pair with joint sum s and size (a + b) c explains s^2 / ((a + b) c).
    scaled = sums / np.sqrt(other)
    products = scaled @ scaled.T
    powers = np.diag(products)
    logs = len(other) * np.log(own)
    means = 0.5 * (len(other) * np.log(joint) - logs[:, None] - logs - np.log(other).sum())
    return (powers[:, None] + powers + 2 * products) / joint, means


def _pairs(sums: Floats, cells: Floats) -> Pair:
    """Return what each pair explains once merged, and half the change of log block sizes."""
    together = ((sums[:, None] + sums) ** 2 / (cells[:, None] + cells)).sum(axis=2)
    logs = np.log(cells).sum(axis=1)
    means = 0.5 * (np.log(cells[:, None] + cells).sum(axis=2) - logs[:, None] - logs)
    return together, means
