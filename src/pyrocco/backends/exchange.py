"""Everybody gives something to everybody, in two steps where there are many."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from pyrocco.backends.rowblocks import Store

# Pieces up to which every source is cut for every target at once.
FEW = 2000


def exchange(
    store: Store,
    n_sources: int,
    n_targets: int,
    cut: Callable[[int, range], Any],
    join: Callable[[list[Any]], Any],
    cut_again: Callable[[Any, range, int], Any],
    few: int = FEW,
) -> list[list[Any]]:
    """What every target gets, in the order of the sources.

    Many sources and many targets make so many pieces that workers are busy with keeping account
    of them. Then targets are taken in bundles, and sources in groups: a source is cut for whole
    bundles, what a group has for a bundle is joined, and cut for every target of it. With S
    sources and T targets that is about 2 S sqrt(T) pieces in place of S T; what is joined is no
    larger than a source.

    Parameters
    ----------
    store : Store
        Where sources lie.
    n_sources, n_targets : int
        How many there are.
    cut : callable
        Begins to cut what some targets get of one source.
    join : callable
        Work that makes one piece of what several sources have for the same targets.
    cut_again : callable
        Begins to cut, from a joined piece for some targets, what one of them gets.
    few : int
        Pieces up to which nothing is joined.

    Returns
    -------
    list of list
        Blocks of every target.

    Examples
    --------
    >>> from pyrocco.backends.scratch import ScratchStore
    >>> store, words = ScratchStore(), ["abcd", "efgh"]
    >>> got = exchange(
    ...     store, 2, 4,
    ...     cut=lambda i, targets: store.put(words[i][targets.start : targets.stop]),
    ...     join=lambda parts: list(zip(*parts)),
    ...     cut_again=lambda joined, targets, j: store.submit("".join, store.submit(
    ...         lambda parts: parts[j - targets.start], joined)),
    ...     few=0,
    ... )
    >>> ["".join(store.fetch(pieces)) for pieces in got]
    ['ae', 'bf', 'cg', 'dh']
    """
    if n_sources * n_targets <= few:
        return turned(
            [[cut(i, range(j, j + 1)) for j in range(n_targets)] for i in range(n_sources)]
        )
    bundles = _dealt(n_targets, math.isqrt(n_targets))
    groups = _dealt(n_sources, -(-n_sources // len(bundles)))
    # One source after the other: it may have to be loaded for it.
    for_bundles = turned([[cut(i, bundle) for bundle in bundles] for i in range(n_sources)])
    got: list[list[Any]] = [[] for _ in range(n_targets)]
    for bundle, pieces in zip(bundles, for_bundles, strict=True):
        for group in groups:
            joined = store.submit(join, [pieces[i] for i in group])
            for j in bundle:
                got[j].append(cut_again(joined, bundle, j))
    return got


def _dealt(count: int, n_parts: int) -> list[range]:
    """Numbers 0, 1, ... in so many stretches of about the same length."""
    cuts = np.linspace(0, count, n_parts + 1).round().astype(int).tolist()
    return [range(a, b) for a, b in pairwise(cuts)]


def turned(table: list[list[Any]]) -> list[list[Any]]:
    """Lines of a table as columns.

    Examples
    --------
    >>> turned([[1, 2], [3, 4]])
    [[1, 3], [2, 4]]
    """
    return [list(line) for line in zip(*table, strict=True)]
