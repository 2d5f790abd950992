"""The levels of detail of the page's sliders: row clusters and column clusters, coarse to fine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pyrocco._typing import Floats, Labels, Matrix
from pyrocco.assign.nested import NestedSide
from pyrocco.fitting.result import block_means
from pyrocco.results.explain import ColumnCut, Explainer, RowCut

__all__ = ["Levels", "level_numbers", "levels_of"]

# Largest number of levels coarser than the fit, and of levels finer than the fit, on each side.
MOST_STEPS = 8
# Blocks of all pairs of levels together; with more, there are fewer levels.
MOST_BLOCKS = 25_000
# Single columns that are listed for each row cluster.
_TOP = 10


@dataclass(frozen=True, eq=False)
class Pair:
    """The blocks of one level of the rows and one level of the columns."""

    means: Floats
    blocks: pd.DataFrame | None = None  # as `Explainer.block_table` returns it
    p_columns: Floats | None = None  # adjusted p-values of the columns of `Levels.distinctive`


@dataclass(frozen=True, eq=False)
class Levels:
    """All levels of detail.

    Attributes
    ----------
    rows, columns : list of ndarray of int
        Labels of the rows and of the columns, from coarse to fine.
    fitted : pair of int
        Positions of the fitted labels among them.
    pairs : list of list of Pair
        The blocks, for each level of the rows and each level of the columns.
    distinctive : list of DataFrame
        For each level of the rows, the columns that differ most (`Explainer.column_table`).
    """

    rows: list[Labels]
    columns: list[Labels]
    fitted: tuple[int, int]
    pairs: list[list[Pair]]
    distinctive: list[pd.DataFrame] = field(default_factory=list)


def levels_of(model: Any, X: Matrix) -> Levels:
    """Return the levels of a model; only the fitted one if it has no nested clusters."""
    tree = getattr(model, "tree_", None)
    if tree is None or not hasattr(model, "statistics_"):
        labels = np.asarray(model.row_labels_), np.asarray(model.column_labels_)
        means = getattr(model, "block_means_", None)
        means = block_means(X, *labels) if means is None else np.asarray(means)
        return Levels([labels[0]], [labels[1]], (0, 0), [[Pair(means)]])
    row_numbers, column_numbers = level_numbers(tree.rows, tree.columns)
    rows = [RowCut.of(tree, model.statistics_, number) for number in row_numbers]
    columns = [ColumnCut.of(tree, model.statistics_, number) for number in column_numbers]
    membership, scale = (model.row_membership_, model.column_membership_), model.statistics_.scale
    explainers = [
        [Explainer(row, column, membership, scale) for column in columns] for row in rows
    ]
    distinctive = [of_row[0].column_table(_TOP) for of_row in explainers]
    return Levels(
        [row.labels for row in rows],
        [column.labels for column in columns],
        (row_numbers.index(tree.rows.n_fitted), column_numbers.index(tree.columns.n_fitted)),
        [
            [_pair(explainer, single) for explainer in of_row]
            for of_row, single in zip(explainers, distinctive, strict=True)
        ],
        distinctive,
    )


def _pair(explainer: Explainer, single: pd.DataFrame) -> Pair:
    blocks = explainer.block_table()
    shape = int(explainer.rows.labels.max()) + 1, int(explainer.columns.labels.max()) + 1
    means = blocks["mean"].to_numpy(dtype=float).reshape(shape)
    where = (single["row_cluster"].to_numpy(int), single["column"].to_numpy(int))
    return Pair(means, blocks, explainer.p_of_columns[where])


def level_numbers(rows: NestedSide, columns: NestedSide) -> tuple[list[int], list[int]]:
    """Return the numbers of clusters of each side: fewer if there were too many blocks."""
    for most in range(MOST_STEPS, 0, -1):
        numbers = _side_numbers(rows, most), _side_numbers(columns, most)
        if sum(numbers[0]) * sum(numbers[1]) <= MOST_BLOCKS:
            break
    return numbers


def _side_numbers(side: NestedSide, most: int) -> list[int]:
    """Return numbers of clusters from 1 over the fitted to the finest."""
    steps = _steps(1, side.n_fitted, most), _steps(side.n_fitted, side.n_finest, most)
    return sorted({*steps[0], side.n_fitted, *steps[1]})


def _steps(first: int, last: int, most: int) -> list[int]:
    """Go one cluster at a time if that takes few steps, otherwise by equal factors."""
    spaced = np.linspace if last - first <= most else np.geomspace
    steps = np.round(spaced(first, last, min(last - first, most) + 1)).astype(int)
    return [int(step) for step in steps]
