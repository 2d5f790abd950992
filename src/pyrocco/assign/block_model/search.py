"""Search for the block model of highest evidence, by merging and by splitting clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

import numpy as np

from pyrocco._typing import Floats, Labels
from pyrocco.assign.block_model.fit import BlockFit, Data, fitted_labels, sweep, variational_fit
from pyrocco.assign.block_model.products import Pair, as_product
from pyrocco.assign.labels import Numbers, compact, hard_memberships

# With more clusters than this on a side, the model is evaluated only after several merges:
# when the number of clusters has fallen to this share.
_EVERY_MERGE = 12
_LEAP = 0.75
# Number of models on a path whose memberships are fitted before they are compared, and the
# rounds of that fit. The best model is then fitted until convergence.
_CONTENDERS = 4
_FEW_ROUNDS = 5
# Clusters with fewer rows are not split; the number of splits that are tried before the search
# ends, the rounds of their fit, and the gain of evidence, in nats, that makes a split worth it.
_LEAST_ROWS = 6
_TRIES = 4
_SPLIT_ROUNDS = 10
_GAIN = 0.5
_MOST_SPLITS = 40


def best_block_fit(data: Data, start: Pair, numbers: Numbers) -> BlockFit | None:
    """Merge clusters one by one and return the model of highest evidence.

    `start` are fine partitions of the rows and of the columns, `numbers` the numbers of
    clusters where they are given. Returns None if no model on the path has these numbers.
    """
    best = _best_on_path(data, start, numbers, _LEAP)
    if best is not None and max(_sizes(best)) > _EVERY_MERGE:
        # Examine the models that the path has left out.
        stop = int(_LEAP * sum(_sizes(best)))
        closer = _best_on_path(data, fitted_labels(best), numbers, 1.0, stop)
        best = max((best, closer or best), key=_evidence)
    if best is None:
        return None
    final = variational_fit(data, best.memberships)
    return final if _has(final, numbers) else best


def _best_on_path(
    data: Data, start: Pair, numbers: Numbers, leap: float, stop: int = 0
) -> BlockFit | None:
    """Merge until `stop` clusters are left; return the best model that was evaluated."""
    contenders = nlargest(_CONTENDERS, _path(data, start, numbers, leap, stop), key=_evidence)
    fits = [variational_fit(data, fit.memberships, _FEW_ROUNDS) for fit in contenders]
    return max((fit for fit in fits if _has(fit, numbers)), key=_evidence, default=None)


def _path(data: Data, start: Pair, numbers: Numbers, leap: float, stop: int) -> Iterator[BlockFit]:
    """Merge until `stop` clusters are left; yield the models to compare."""
    least = numbers[0] or 1, numbers[1] or 1
    labels, evaluated = start, (2 * len(start[0]), 2 * len(start[1]))
    blocks = BlockSums.of(data, labels)
    while sum(blocks.sizes) > stop:
        if _is_due(blocks.sizes, evaluated, least, leap):
            labels = sweep(data, labels)
            blocks = BlockSums.of(data, labels)
            evaluated = blocks.sizes
            fit = data.evaluate((hard_memberships(labels[0]), hard_memberships(labels[1])))
            if _has(fit, numbers):
                yield fit
        merge = cheapest_merge(data, blocks, least)
        if merge is None:
            break
        labels, blocks = merged_labels(labels, merge), blocks.merged(merge)


def _evidence(fit: BlockFit) -> float:
    return fit.evidence


def _sizes(fit: BlockFit) -> tuple[int, int]:
    rows, columns = fitted_labels(fit)
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
    def of(cls, data: Data, labels: Pair) -> BlockSums:
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


def cheapest_merge(data: Data, blocks: BlockSums, least: tuple[int, int]) -> Merge | None:
    """Return the merge with the lowest cost; None if both sides have their `least` number."""
    merges = [
        _cheapest(data, blocks, axis) for axis in data.order if blocks.sizes[axis] > least[axis]
    ]
    return min(merges, key=lambda merge: merge.cost, default=None)


def _cheapest(data: Data, blocks: BlockSums, axis: int) -> Merge:
    """Return the merge on one side that raises noise, labels and means together the least."""
    sums, cells = (part if axis == 0 else part.T for part in (blocks.sums, blocks.cells))
    own = blocks.counts[axis]
    k, n = len(own), own.sum()
    joint = own[:, None] + own
    entropy = -own * np.log(own / n)
    names = -joint * np.log(joint / n) - entropy[:, None] - entropy
    cost = data.merge_losses(sums, cells) + names + _saved_parameters(np.maximum(cells, 1))
    cost[np.diag_indices(k)] = np.inf
    first, second = divmod(int(cost.argmin()), k)
    return Merge(float(cost[first, second]), axis, min(first, second), max(first, second))


def _saved_parameters(cells: Floats) -> Floats:
    """Return half the change of the log sizes of all blocks, for each pair of clusters."""
    logs, sides = np.log(cells).sum(axis=1), as_product(cells)
    if sides is None:
        joint = np.log(cells[:, None] + cells).sum(axis=2)
    else:
        heights, widths = sides
        joint = len(widths) * np.log(heights[:, None] + heights) + np.log(widths).sum()
    return np.asarray(0.5 * (joint - logs[:, None] - logs))


class Split(NamedTuple):
    """Rows and columns that leave their cluster for a new one; empty if no side is split."""

    strength: float
    rows: Labels
    columns: Labels


def split_clusters(data: Data, fit: BlockFit) -> BlockFit:
    """Split clusters as long as the evidence rises.

    Two blocks on a diagonal can only be told apart if rows and columns are split at once: the
    merged rows have the same mean over the merged columns. So the rows and the columns of a block
    are split together, by the signs of the leading singular vectors of what it leaves unexplained.
    """
    for _ in range(_MOST_SPLITS):
        better = _better_by_a_split(data, fit)
        if better is None:
            break
        fit = better
    return fit


def _better_by_a_split(data: Data, fit: BlockFit) -> BlockFit | None:
    labels = fitted_labels(fit)
    for split in nlargest(_TRIES, _splits(data.residuals(labels), labels), key=_strength):
        rows, columns = sweep(data, split_labels(labels, split))
        memberships = hard_memberships(rows), hard_memberships(columns)
        tried: BlockFit = variational_fit(data, memberships, _SPLIT_ROUNDS)
        if tried.evidence > fit.evidence + _GAIN:
            return tried
    return None


def _splits(residuals: Floats, labels: Pair) -> Iterator[Split]:
    """Propose splits of every block, of every row cluster and of every column cluster."""
    rows, columns = (
        [np.flatnonzero(side == label) for label in range(int(side.max()) + 1)] for side in labels
    )
    everywhere = np.arange(len(labels[0])), np.arange(len(labels[1]))
    none = np.empty(0, dtype=np.intp)
    pairs = [(i, j) for i in rows for j in columns if min(len(i), len(j)) >= _LEAST_ROWS]
    yield from (_proposed(residuals, i, j) for i, j in pairs)
    for i in rows:
        if len(i) >= _LEAST_ROWS:
            yield _proposed(residuals, i, everywhere[1])._replace(columns=none)
    for j in columns:
        if len(j) >= _LEAST_ROWS:
            yield _proposed(residuals, everywhere[0], j)._replace(rows=none)


def _proposed(residuals: Floats, rows: Labels, columns: Labels) -> Split:
    """Split by the leading singular vectors, whose value is compared with that of noise."""
    part = residuals[np.ix_(rows, columns)]
    wide = part.shape[0] <= part.shape[1]
    values, vectors = np.linalg.eigh(part @ part.T if wide else part.T @ part)
    leading = vectors[:, -1]
    other = leading @ part if wide else part @ leading
    u, v = (leading, other) if wide else (other, leading)
    noise = np.sqrt(part.shape[0]) + np.sqrt(part.shape[1])
    return Split(np.sqrt(max(values[-1], 0)) / noise, rows[u > 0], columns[v > 0])


def _strength(split: Split) -> float:
    return split.strength


def split_labels(labels: Pair, split: Split) -> Pair:
    """Return the labels after a split, without clusters that have lost all their rows."""
    sides = []
    for side, leaving in zip(labels, (split.rows, split.columns), strict=True):
        new = side.copy()
        new[leaving] = side.max() + 1
        sides.append(compact(new))
    return sides[0], sides[1]
