"""What sets the row clusters of a co-clustering apart, as one tidy table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrocco.assign.nested import NestedClusters
from pyrocco.estimators.checks import check_count
from pyrocco.estimators.contrast import Contrast, adjusted
from pyrocco.estimators.statistics import Moments, TreeStatistics

Array = NDArray[np.float64]

COLUMNS = (
    "kind",
    "row_cluster",
    "column_cluster",
    "column",
    "n_rows",
    "n_columns",
    "mean",
    "rest_mean",
    "effect",
    "direction",
    "p_adjusted",
    "homogeneity",
    "confidence",
)


@dataclass(frozen=True)
class Explainer:
    """Makes the table for one cut through nested clusters.

    Parameters
    ----------
    tree : NestedClusters
        The nested clusters.
    statistics : TreeStatistics
        What is known of the cells.
    confidence : pair of ndarray
        Probability of the label of every row and of every column.
    numbers : pair of int
        Numbers of row and of column clusters.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron(np.eye(2), np.full((4, 4), 9.0)) + np.random.default_rng(0).random((8, 8))
    >>> labels = np.repeat([0, 1], 4)
    >>> tree, sure = NestedClusters.build(X, labels, labels), (np.ones(8), np.ones(8))
    >>> table = Explainer(tree, TreeStatistics.of(X, tree, 1.0), sure, (2, 2)).table(top=1)
    >>> table[["kind", "row_cluster", "column_cluster", "direction"]].values.tolist()[:3]
    [['block', 0, 0, 'higher'], ['block', 0, 1, 'lower'], ['column', 0, 0, 'higher']]
    """

    tree: NestedClusters
    statistics: TreeStatistics
    confidence: tuple[Array, Array]
    numbers: tuple[int, int]

    def table(
        self, top: int = 10, column_names: Sequence[Any] | NDArray[Any] | None = None
    ) -> pd.DataFrame:
        """List every block, and the `top` single columns of every row cluster."""
        check_count("top", top, least=0)
        names = _checked_names(column_names, len(self._column_labels))
        blocks, columns = self._block_contrast(), Contrast.of(self._by_column)
        n_blocks = self.numbers[1]
        p = adjusted(np.hstack([blocks.p, columns.p]))
        lines = [
            self._block_lines(blocks, p[:, :n_blocks]),
            self._column_lines(columns, p[:, n_blocks:], top),
        ]
        return _in_order(pd.concat(lines, ignore_index=True), names)

    @cached_property
    def _row_labels(self) -> NDArray[np.intp]:
        return self.tree.rows.cut(self.numbers[0])

    @cached_property
    def _column_labels(self) -> NDArray[np.intp]:
        return self.tree.columns.cut(self.numbers[1])

    @cached_property
    def _by_column(self) -> Moments:
        """Row clusters by single columns."""
        return self.statistics.by_column.merged(self.tree.rows.cut_finest(self.numbers[0]))

    @cached_property
    def _blocks(self) -> Moments:
        """Row clusters by column clusters, over cells."""
        return self._by_column.T.merged(self._column_labels).T

    def _block_contrast(self) -> Contrast:
        """Test rows by their means over the column clusters: cells of a row are no replicates."""
        by_row = self.statistics.by_row.merged(self.tree.columns.cut_finest(self.numbers[1])).T
        row_means = np.where(by_row.counts > 0, by_row.means, np.nan)
        cells = Contrast.of(self._blocks)
        tested = Contrast.of(Moments.of(row_means, self._row_labels))
        return replace(tested, mean=cells.mean, rest_mean=cells.rest_mean)

    def _block_lines(self, contrast: Contrast, p: Array) -> pd.DataFrame:
        rows, columns = (part.ravel() for part in np.indices(self.numbers))
        of_columns = _means(self.confidence[1], self._column_labels)
        total = self._blocks.merged(np.zeros(self.numbers[0], np.intp)).T
        total = total.merged(np.zeros(self.numbers[1], np.intp))
        return self._lines("block", contrast, p, (rows, columns)).assign(
            column_cluster=columns,
            column=pd.array([pd.NA] * len(rows), dtype="Int64"),
            n_columns=np.bincount(self._column_labels)[columns],
            homogeneity=_homogeneity(self._blocks, total)[rows, columns],
            confidence=self._confidence(rows, of_columns[columns]),
        )

    def _column_lines(self, contrast: Contrast, p: Array, top: int) -> pd.DataFrame:
        rows, columns = _strongest(contrast.effect, top)
        total = self._by_column.merged(np.zeros(self.numbers[0], np.intp))
        return self._lines("column", contrast, p, (rows, columns)).assign(
            column_cluster=self._column_labels[columns],
            column=pd.array(columns, dtype="Int64"),
            n_columns=1,
            homogeneity=_homogeneity(self._by_column, total)[rows, columns],
            confidence=self._confidence(rows, self.confidence[1][columns]),
        )

    def _lines(
        self,
        kind: str,
        contrast: Contrast,
        p: Array,
        where: tuple[NDArray[np.intp], NDArray[np.intp]],
    ) -> pd.DataFrame:
        """What blocks and single columns have in common."""
        scale = self.statistics.scale
        return pd.DataFrame(
            {
                "kind": kind,
                "row_cluster": where[0],
                "n_rows": np.bincount(self._row_labels)[where[0]],
                "mean": contrast.mean[where] * scale,
                "rest_mean": contrast.rest_mean[where] * scale,
                "effect": contrast.effect[where],
                "direction": contrast.direction[where],
                "p_adjusted": p[where],
            }
        )

    def _confidence(self, rows: NDArray[np.intp], of_columns: Array) -> Array:
        return np.asarray((_means(self.confidence[0], self._row_labels)[rows] + of_columns) / 2)


def _checked_names(names: Sequence[Any] | NDArray[Any] | None, count: int) -> list[Any] | None:
    if names is not None and len(names) != count:
        raise ValueError(
            f"column_names has {len(names)} names, but the model was fitted to {count} columns. "
            "Give one name for every column, in the order of the data."
        )
    return None if names is None else list(names)


def _means(values: Array, labels: NDArray[np.intp]) -> Array:
    return np.asarray(np.bincount(labels, values) / np.bincount(labels))


def _homogeneity(groups: Moments, total: Moments) -> Array:
    """1 less the share that the variance within a group has of the total one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        within, overall = groups.scatter / groups.counts, total.scatter / total.counts
        return np.where(overall > 0, 1 - within / overall, np.nan)


def _strongest(effect: Array, top: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Groups and lines of the largest effects, `top` a group, without those of none at all."""
    sizes = np.nan_to_num(np.abs(effect), nan=0.0, posinf=np.inf)
    lines = np.argsort(-sizes, axis=1, kind="stable")[:, :top]
    groups = np.repeat(np.arange(len(effect)), lines.shape[1])
    listed = sizes[groups, lines.ravel()] > 0
    return groups[listed], lines.ravel()[listed]


def _in_order(table: pd.DataFrame, names: list[Any] | None) -> pd.DataFrame:
    """Row cluster by row cluster: its blocks, its single columns, the largest effect first."""
    table["size"] = -table["effect"].abs()
    table = table.sort_values(["row_cluster", "kind", "size"], kind="stable", ignore_index=True)
    if names is not None:
        table["column"] = [None if pd.isna(j) else names[j] for j in table["column"]]
    return table[list(COLUMNS)]
