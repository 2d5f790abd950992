"""The levels of detail of the page's slider: co-clusterings from coarse to fine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pyrocco._typing import FittedCoClustering, Floats, Labels, Matrix
from pyrocco.fitting.result import block_means

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Level", "levels_of"]

# Largest number of levels coarser than the fit, and of levels finer than the fit.
MOST_STEPS = 8


@dataclass(frozen=True, eq=False)
class Level:
    """One co-clustering of the rows and columns."""

    row_labels: Labels
    column_labels: Labels
    block_means: Floats
    explanation: pd.DataFrame | None = None  # as ``explain()`` returns it

    @property
    def n_clusters(self) -> tuple[int, int]:
        """Numbers of row clusters and of column clusters."""
        return len(self.block_means), len(self.block_means[0])


def levels_of(model: FittedCoClustering, X: Matrix) -> tuple[list[Level], int]:
    """Return the levels of a model, from coarse to fine, and the index of the fitted one."""
    tree = getattr(model, "tree_", None)
    if tree is None or not hasattr(model, "at"):
        return [_level(model, X)], 0
    fitted = tree.rows.n_fitted, tree.columns.n_fitted
    pairs = _cluster_numbers(fitted, (tree.rows.n_finest, tree.columns.n_finest))
    levels = [_level(model if pair == fitted else model.at(*pair), X) for pair in pairs]
    return levels, pairs.index(fitted)


def _cluster_numbers(fitted: tuple[int, int], finest: tuple[int, int]) -> list[tuple[int, int]]:
    """Return numbers of row and column clusters from (1, 1) over the fitted to the finest."""
    return list(dict.fromkeys([*_steps((1, 1), fitted), fitted, *_steps(fitted, finest)]))


def _steps(first: tuple[int, int], last: tuple[int, int]) -> list[tuple[int, int]]:
    """Go one cluster at a time if that takes few steps, otherwise by equal factors."""
    longest = max(after - before for before, after in zip(first, last, strict=True))
    spaced = np.linspace if longest <= MOST_STEPS else np.geomspace
    n = min(longest, MOST_STEPS) + 1
    rows, columns = (
        np.round(spaced(before, after, n)).astype(int).tolist()
        for before, after in zip(first, last, strict=True)
    )
    return list(zip(rows, columns, strict=True))


def _level(model: FittedCoClustering, X: Matrix) -> Level:
    labels = np.asarray(model.row_labels_), np.asarray(model.column_labels_)
    means = getattr(model, "block_means_", None)
    means = block_means(X, *labels) if means is None else np.asarray(means)
    explain = getattr(model, "explain", None)
    # Columns are numbered; the page has their names.
    explanation = None if explain is None else explain(column_names=range(X.shape[1]))
    return Level(*labels, means, explanation)
