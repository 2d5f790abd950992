"""Search for the block model of most evidence: start fine, merge, settle, compare."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest

from pyrocco.assign.blockmodel.data import BlockData, Pair, indicator
from pyrocco.assign.blockmodel.fit import BlockFit, from_dask, settle, soften
from pyrocco.assign.blockmodel.merging import BlockSums, cheapest_merge, merged_labels

Numbers = tuple[int | None, int | None]

# With more clusters than this on a side, several merges are made between two looks.
_EVERY_MERGE = 12
_LEAP = 0.75
# Models of a walk whose labels turn into probabilities before they are compared, and in
# how many rounds; the winner gets as many as it needs.
_CONTENDERS = 4
_FEW = 5


def best_block_fit(data: BlockData, start: Pair, numbers: Numbers) -> BlockFit | None:
    """Merge clusters one by one and keep the model of most evidence.

    Parameters
    ----------
    data : BlockData
        The matrix.
    start : pair of ndarray of int
        Fine partitions of the rows and the columns.
    numbers : pair of int or None
        Numbers of clusters where they are given.

    Returns
    -------
    BlockFit or None
        None where the search passed the given numbers by.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron([[9.0, 0.0], [0.0, 5.0]], np.ones((6, 6)))
    >>> X += np.random.default_rng(0).standard_normal(X.shape)
    >>> fine = np.repeat(np.arange(6), 2)
    >>> fit = best_block_fit(BlockData(X), (fine, fine), (None, None))
    >>> [len(set(side)) for side in fit.labels]
    [2, 2]
    """
    best = _walk(data, start, numbers, _LEAP)
    if best is not None and max(_sizes(best)) > _EVERY_MERGE:
        # The walk made leaps here: look at what it leapt over.
        stop = int(_LEAP * sum(_sizes(best)))
        closer = _walk(data, best.labels, numbers, 1.0, stop)
        best = max((best, closer or best), key=_evidence)
    if best is None:
        return None
    final = soften(data, best.members)
    return final if _has(final, numbers) else best


def _walk(
    data: BlockData, start: Pair, numbers: Numbers, leap: float, stop: int = 0
) -> BlockFit | None:
    """Merge until `stop` clusters are left; the best model at which it looked."""
    contenders = nlargest(_CONTENDERS, _looks(data, start, numbers, leap, stop), key=_evidence)
    fits = [soften(data, look.members, _FEW) for look in contenders]
    return max((fit for fit in fits if _has(fit, numbers)), key=_evidence, default=None)


def _looks(
    data: BlockData, start: Pair, numbers: Numbers, leap: float, stop: int
) -> Iterator[BlockFit]:
    """Merge until `stop` clusters are left; every model that is due on the way."""
    least = numbers[0] or 1, numbers[1] or 1
    labels, looked_at = start, (2 * len(start[0]), 2 * len(start[1]))
    blocks = BlockSums.of(data, labels)
    while sum(blocks.sizes) > stop:
        if _is_due(blocks.sizes, looked_at, least, leap):
            labels = settle(data, labels)
            blocks = BlockSums.of(data, labels)
            looked_at = blocks.sizes
            look = from_dask(data, (indicator(labels[0]), indicator(labels[1])))
            if _has(look, numbers):
                yield look
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
    """Whether the labels of a fit have the numbers of clusters that were asked for."""
    pairs = zip(_sizes(fit), numbers, strict=True)
    return all(number in (None, size) for size, number in pairs)


def _is_due(
    sizes: tuple[int, int], looked_at: tuple[int, int], least: tuple[int, int], leap: float
) -> bool:
    """Whether enough was merged since the last look, or the numbers are small or reached."""
    if max(sizes) <= max(_EVERY_MERGE, *least):
        return True
    return sum(sizes) <= leap * sum(looked_at)
