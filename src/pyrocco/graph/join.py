"""Bridges between the trees of a forest over the rows of a matrix."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends.kernels.forest import kruskal, roots
from pyrocco.graph.distances import distances_between_rows, without_rounding
from pyrocco.graph.neighbors import Neighbors, nearest_outside

# Distances that a round may look at: exact up to some 20,000 rows, and never the bottleneck.
JOIN_CELLS = 3 * 10**8


class Outside(Protocol):
    """Finds, for each of some rows, the nearest rows that belong to another group."""

    def __call__(
        self, rows: NDArray[np.intp], groups: NDArray[np.intp], count: int, /
    ) -> Neighbors:
        """Find `count` rows for each of `rows`."""


def on_the_cpu(X: Any, metric: str) -> Outside:
    """Exact search by blocks (see `nearest_outside`).

    Examples
    --------
    >>> import numpy as np
    >>> find = on_the_cpu(np.array([[0.0], [1.0], [5.0]]), "euclidean")
    >>> find(np.array([2]), np.array([0, 0, 2]), 1).indices.tolist()
    [[1]]
    """
    return partial(nearest_outside, distances_between_rows(X, metric))


def joining_edges(find: Outside, parents: NDArray[np.intp]) -> NDArray[np.intp]:
    """Join the trees of a forest by their shortest outward edges until one is left.

    Boruvka's rounds: each tree but the largest names its nearest outside row, so the work
    is that of the small trees only, and the number of trees at least halves a round. Trees
    that are infinitely far from all others stay apart. Edges come as
    ``head * n_rows + tail``; `parents` becomes what is left of the forest.

    Examples
    --------
    >>> import numpy as np
    >>> find = on_the_cpu(np.array([[0.0], [1.0], [5.0]]), "euclidean")
    >>> joining_edges(find, np.array([0, 0, 2]))
    array([5])
    """
    trees = roots(parents)
    outward = _Outward(find, len(parents))
    added = [np.empty(0, dtype=np.intp)]
    while trees.max() > 0:
        rows, others = outward.shortest(trees)
        if not len(rows):
            break
        heads, tails = np.minimum(rows, others), np.maximum(rows, others)
        added.append((heads * len(trees) + tails)[kruskal(heads, tails, parents)])
        trees = roots(parents)
    return np.concatenate(added)


class _Outward:
    """The nearest outside row of each row, as far as it had to be known."""

    def __init__(self, find: Outside, n_rows: int):
        self._find = find
        self._others = np.full(n_rows, -1, dtype=np.intp)
        self._lengths = np.zeros(n_rows)

    def shortest(self, trees: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the two ends of the shortest edge out of every tree but the largest."""
        rows = _asking_rows(trees)
        self._update(rows, trees)
        n_rows, others, lengths = len(trees), self._others[rows], self._lengths[rows]
        keys = np.minimum(rows, others) * n_rows + np.maximum(rows, others)
        outside = (others >= 0) & (trees[others] != trees[rows])
        order = np.lexsort((keys, np.where(outside, lengths, np.inf)))
        _, first = np.unique(trees[rows][order], return_index=True)
        chosen = order[np.sort(first)]
        chosen = chosen[outside[chosen]]
        return rows[chosen], others[chosen]

    def _update(self, rows: NDArray[np.intp], trees: NDArray[np.intp]) -> None:
        """Look again where the known row has come inside, unless its tree has a shorter edge.

        What a row knew is a lower bound of what it can find once its tree has grown.
        """
        known = (self._others[rows] >= 0) & (trees[self._others[rows]] != trees[rows])
        best = np.full(len(trees), np.inf)
        np.minimum.at(best, trees[rows[known]], self._lengths[rows[known]])
        asking = rows[~known & (self._lengths[rows] <= best[trees[rows]])]
        found = self._find(asking, trees, 1)
        self._others[asking] = found.indices[:, 0]
        self._lengths[asking] = without_rounding(found.distances[:, 0])


def _asking_rows(trees: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows of all trees but the largest; a sample of each where they are too many."""
    n_rows = len(trees)
    sizes = np.bincount(trees)
    rows = np.flatnonzero(trees != sizes.argmax())
    if len(rows) * n_rows <= JOIN_CELLS:
        return rows
    n_trees = np.count_nonzero(sizes) - 1
    share = max(1, JOIN_CELLS // (n_rows * int(n_trees)))
    rows = rows[np.argsort(trees[rows], kind="stable")]
    counts = sizes[trees[rows]]
    place = np.arange(len(rows)) - np.searchsorted(trees[rows], trees[rows])
    # The first row of every one of `share` equal stretches of its tree.
    return rows[(place * share) % counts < share]
