"""The co-clusterings between which the page's slider moves, from coarse to fine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrocco.plots.order import block_means, order_by_means

__all__ = ["Level", "levels_of", "nested_orders"]

# Coarser than the fit, and finer than the fit; each step is explained in full.
MOST_STEPS = 8

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Level:
    """One co-clustering of the rows and columns.

    Attributes
    ----------
    row_labels, column_labels : ndarray of int
        Cluster of every row and of every column.
    block_means : ndarray of shape (row clusters, column clusters)
        Mean of every block.
    explanation : DataFrame or None
        What sets its clusters apart, as ``explain()`` tells it.

    Examples
    --------
    >>> Level(np.array([0, 1, 1]), np.array([0]), np.zeros((2, 1))).numbers
    (2, 1)
    """

    row_labels: Array
    column_labels: Array
    block_means: Array
    explanation: Any = None

    @property
    def numbers(self) -> tuple[int, int]:
        """Numbers of row clusters and of column clusters."""
        return len(self.block_means), len(self.block_means[0])


def nested_orders(levels: list[Level]) -> tuple[Array, Array]:
    """Order rows and columns so that the clusters of every level lie in one piece.

    Parameters
    ----------
    levels : list of Level
        From coarse to fine; each cluster is a union of clusters of the next level.

    Returns
    -------
    rows, columns : ndarray of int
        Rows from top to bottom, columns from left to right.

    Examples
    --------
    >>> coarse = Level(np.array([0, 0, 0, 1]), np.array([0]), np.zeros((2, 1)))
    >>> fine = Level(np.array([1, 0, 1, 2]), np.array([0]), np.zeros((3, 1)))
    >>> nested_orders([coarse, fine])[0].tolist()
    [0, 2, 1, 3]
    """
    keys = [_places(level) for level in levels]
    # The last key of lexsort comes first: the coarsest level.
    rows = np.lexsort([rows for rows, _ in keys[::-1]])
    columns = np.lexsort([columns for _, columns in keys[::-1]])
    return rows, columns


def _places(level: Level) -> tuple[Array, Array]:
    """Place of every row's and every column's cluster among the clusters of its level."""
    labels = level.row_labels, level.column_labels
    sizes = [np.bincount(side, minlength=n) for side, n in zip(labels, level.numbers, strict=True)]
    means = np.nan_to_num(level.block_means)
    orders = order_by_means(means, sizes[0], sizes[1])
    rows, columns = (np.argsort(order)[side] for order, side in zip(orders, labels, strict=True))
    return rows, columns


def levels_of(model: Any, X: Any) -> tuple[list[Level], int]:
    """The levels that a model offers, and which of them is that of the fit.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : ndarray or sparse matrix
        What it was fitted to.

    Returns
    -------
    levels : list of Level
        From coarse to fine.
    fitted : int
        Which of them the fit is.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> X = np.kron(np.eye(2), np.ones((20, 15))) + np.random.default_rng(0).random((40, 30))
    >>> levels, fitted = levels_of(ROCCO(2).fit(X), X)
    >>> levels[fitted].numbers
    (2, 2)
    """
    if not hasattr(model, "tree_"):
        return [_level(model, X)], 0
    fitted = model.n_row_clusters_, model.n_column_clusters_
    numbers = _numbers(fitted, (model.tree_.rows.n_finest, model.tree_.columns.n_finest))
    return [
        _level(model if pair == fitted else model.at(*pair), X) for pair in numbers
    ], numbers.index(fitted)


def _numbers(fitted: tuple[int, int], finest: tuple[int, int]) -> list[tuple[int, int]]:
    """Numbers of row and column clusters, from one of each over those of the fit to the finest."""
    below, above = _steps((1, 1), fitted), _steps(fitted, finest)
    return list(dict.fromkeys([*below, fitted, *above]))


def _steps(first: tuple[int, int], last: tuple[int, int]) -> list[tuple[int, int]]:
    """One cluster at a time where that is not too many steps, by equal factors otherwise."""
    longest = max(after - before for before, after in zip(first, last, strict=True))
    spaced = np.linspace if longest <= MOST_STEPS else np.geomspace
    n = min(longest, MOST_STEPS) + 1
    rows, columns = (
        np.round(spaced(before, after, n)).astype(int).tolist()
        for before, after in zip(first, last, strict=True)
    )
    return list(zip(rows, columns, strict=True))


def _level(found: Any, X: Any) -> Level:
    labels = np.asarray(found.row_labels_), np.asarray(found.column_labels_)
    means = getattr(found, "block_means_", None)
    means = block_means(X, *labels) if means is None else np.asarray(means)
    # Columns by their places: the page knows the names.
    places = range(X.shape[1])
    explain = getattr(found, "explain", None)
    explanation = None if explain is None else explain(column_names=places)
    return Level(*labels, means, explanation)
