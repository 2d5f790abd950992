"""Explanations: what distinguishes the row clusters of a co-clustering, as one tidy table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, ttest_ind_from_stats

from pyrocco._typing import Floats, Labels, Names
from pyrocco.assign.nested import NestedClusters
from pyrocco.results.statistics import Moments, TreeStatistics
from pyrocco.validation import check_count

# Share of the scatter of a column that cannot be told from rounding errors.
_ROUNDING = 1e-12

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
    "membership",
)


@dataclass(frozen=True)
class RowCut:
    """The row clusters at one level of detail, each compared with the other rows.

    Parameters
    ----------
    labels : ndarray of int
        Cluster of every row.
    merged : ndarray of int
        Cluster of each of the finest row clusters.
    by_column : Moments
        Row clusters by single columns.
    contrast : Contrast
        Each row cluster compared with the other rows, for every column.
    """

    labels: Labels
    merged: Labels
    by_column: Moments
    contrast: Contrast

    @classmethod
    def of(cls, tree: NestedClusters, statistics: TreeStatistics, number: int) -> RowCut:
        """Cut the tree of the rows at a number of clusters."""
        merged = tree.rows.cut_finest(number)
        by_column = statistics.by_column.merged(merged)
        return cls(tree.rows.cut(number), merged, by_column, Contrast.of(by_column))


@dataclass(frozen=True)
class ColumnCut:
    """The column clusters at one level of detail.

    Parameters
    ----------
    labels : ndarray of int
        Cluster of every column.
    row_means : Moments
        The mean of every row over each column cluster: moments over the finest row clusters.
    """

    labels: Labels
    row_means: Moments

    @classmethod
    def of(cls, tree: NestedClusters, statistics: TreeStatistics, number: int) -> ColumnCut:
        """Cut the tree of the columns at a number of clusters."""
        by_row = statistics.by_row.merged(tree.columns.cut_finest(number)).T
        row_means = np.where(by_row.counts > 0, by_row.means, np.nan)
        return cls(tree.columns.cut(number), Moments.of(row_means, tree.rows.finest))


@dataclass(frozen=True)
class Explainer:
    """Says what distinguishes the row clusters at one cut of the nested clusters.

    Parameters
    ----------
    rows : RowCut
        The row clusters.
    columns : ColumnCut
        The column clusters.
    membership : pair of ndarray
        Probability of the label of every row and of every column.
    scale : float
        Scale by which the values were divided.

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.full((4, 4), 9.0)) + np.random.default_rng(0).random((8, 8))
    >>> labels = np.repeat([0, 1], 4)
    >>> tree, sure = NestedClusters.build(X, labels, labels), (np.ones(8), np.ones(8))
    >>> explainer = Explainer.of(tree, TreeStatistics.of(X, tree, 1.0), sure, (2, 2))
    >>> table = explainer.table(top=1)
    >>> table[["kind", "row_cluster", "column_cluster", "direction"]].values.tolist()[:3]
    [['block', 0, 0, 'higher'], ['block', 0, 1, 'lower'], ['column', 0, 0, 'higher']]
    """

    rows: RowCut
    columns: ColumnCut
    membership: tuple[Floats, Floats]
    scale: float

    @classmethod
    def of(
        cls,
        tree: NestedClusters,
        statistics: TreeStatistics,
        membership: tuple[Floats, Floats],
        n_clusters: tuple[int, int],
    ) -> Explainer:
        """Cut the nested clusters at two numbers of clusters."""
        rows = RowCut.of(tree, statistics, n_clusters[0])
        columns = ColumnCut.of(tree, statistics, n_clusters[1])
        return cls(rows, columns, membership, statistics.scale)

    def table(self, top: int = 10, column_names: Names | None = None) -> pd.DataFrame:
        """List every block, and the `top` columns that differ most for every row cluster."""
        check_count("top", top, least=0)
        names = _checked_names(column_names, len(self.columns.labels))
        parts = [self.block_table(), self.column_table(top)]
        return _in_order(pd.concat(parts, ignore_index=True), names)

    def block_table(self) -> pd.DataFrame:
        """Return one line for every block, row cluster by row cluster."""
        rows, columns = (part.ravel() for part in np.indices(self._blocks.counts.shape))
        column_membership = _means(self.membership[1], self.columns.labels)
        total = self._blocks.merged(np.zeros(len(self._blocks.counts), np.intp)).T
        total = total.merged(np.zeros(len(total.counts), np.intp))
        p = self._p_adjusted[:, : len(column_membership)]
        return self._common("block", self._block_contrast, p, (rows, columns)).assign(
            column_cluster=columns,
            column=pd.array([pd.NA] * len(rows), dtype="Int64"),
            n_columns=np.bincount(self.columns.labels)[columns],
            homogeneity=_homogeneity(self._blocks, total)[rows, columns],
            membership=self._mean_membership(rows, column_membership[columns]),
        )

    def column_table(self, top: int) -> pd.DataFrame:
        """Return the single columns that differ most, for every row cluster."""
        contrast, by_column = self.rows.contrast, self.rows.by_column
        rows, columns = _strongest(contrast.effect, top)
        total = by_column.merged(np.zeros(len(by_column.counts), np.intp))
        p = self.p_of_columns
        return self._common("column", contrast, p, (rows, columns)).assign(
            column_cluster=self.columns.labels[columns],
            column=pd.array(columns, dtype="Int64"),
            n_columns=1,
            homogeneity=_homogeneity(by_column, total)[rows, columns],
            membership=self._mean_membership(rows, self.membership[1][columns]),
        )

    @property
    def p_of_columns(self) -> Floats:
        """Adjusted p-values of the row clusters in every single column."""
        return self._p_adjusted[:, self._blocks.counts.shape[1] :]

    @cached_property
    def _blocks(self) -> Moments:
        """Row clusters by column clusters, over cells."""
        return self.rows.by_column.T.merged(self.columns.labels).T

    @cached_property
    def _block_contrast(self) -> Contrast:
        """Test row means over column clusters, because values of one row are not replicates."""
        cells = Contrast.of(self._blocks)
        tested = Contrast.of(self.columns.row_means.merged(self.rows.merged))
        return replace(tested, mean=cells.mean, rest_mean=cells.rest_mean)

    @cached_property
    def _p_adjusted(self) -> Floats:
        """P-values of the blocks and then of the columns, adjusted together."""
        return adjusted(np.hstack([self._block_contrast.p, self.rows.contrast.p]))

    def _common(
        self,
        kind: str,
        contrast: Contrast,
        p: Floats,
        where: tuple[Labels, Labels],
    ) -> pd.DataFrame:
        """Return the columns of the table that blocks and single columns have in common."""
        return pd.DataFrame(
            {
                "kind": kind,
                "row_cluster": where[0],
                "n_rows": np.bincount(self.rows.labels)[where[0]],
                "mean": contrast.mean[where] * self.scale,
                "rest_mean": contrast.rest_mean[where] * self.scale,
                "effect": contrast.effect[where],
                "direction": contrast.direction[where],
                "p_adjusted": p[where],
            }
        )

    def _mean_membership(self, rows: Labels, column_membership: Floats) -> Floats:
        return np.asarray(
            (_means(self.membership[0], self.rows.labels)[rows] + column_membership) / 2
        )


def _checked_names(names: Names | None, count: int) -> list[object] | None:
    if names is not None and len(names) != count:
        raise ValueError(
            f"column_names has {len(names)} names, but the model was fitted to {count} columns. "
            "Give one name for every column, in the order of the data."
        )
    return None if names is None else list(names)


def _means(values: Floats, labels: Labels) -> Floats:
    return np.asarray(np.bincount(labels, values) / np.bincount(labels))


def _homogeneity(clusters: Moments, total: Moments) -> Floats:
    """Return 1 minus the ratio of the variance within clusters to the total variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        within, overall = clusters.scatter / clusters.counts, total.scatter / total.counts
        return np.where(overall > 0, 1 - within / overall, np.nan)


def _strongest(effect: Floats, top: int) -> tuple[Labels, Labels]:
    """Return clusters and columns of the `top` largest nonzero effects of every cluster."""
    sizes = np.nan_to_num(np.abs(effect), nan=0.0, posinf=np.inf)
    columns = np.argsort(-sizes, axis=1, kind="stable")[:, :top]
    clusters = np.repeat(np.arange(len(effect)), columns.shape[1])
    listed = sizes[clusters, columns.ravel()] > 0
    return clusters[listed], columns.ravel()[listed]


def _in_order(table: pd.DataFrame, names: list[object] | None) -> pd.DataFrame:
    """Sort by row cluster, blocks before single columns, and largest effect first."""
    table["size"] = -table["effect"].abs()
    table = table.sort_values(["row_cluster", "kind", "size"], kind="stable", ignore_index=True)
    if names is not None:
        table["column"] = [None if pd.isna(j) else names[j] for j in table["column"]]
    return table[list(COLUMNS)]


@dataclass(frozen=True)
class Contrast:
    """Each row cluster compared with the rows that are not in it, for every column.

    Parameters
    ----------
    mean, rest_mean : ndarray of shape (n_clusters, n_columns)
        Mean of the cluster and of the other rows; NaN if all values are missing.
    effect : ndarray of shape (n_clusters, n_columns)
        Their difference in pooled standard deviations (Cohen's d). Infinite if the means differ
        but neither part varies.
    p : ndarray of shape (n_clusters, n_columns)
        P-value of Welch's t-test; NaN with fewer than two values on either side, and if neither
        varies.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]])
    >>> found = Contrast.of(Moments.of(X, np.array([0, 0, 0, 1, 1, 1])))
    >>> found.mean.ravel().tolist(), found.effect.ravel().tolist()
    ([2.0, 8.0], [-6.0, 6.0])
    >>> found.p.ravel().round(4).tolist()
    [0.0018, 0.0018]
    """

    mean: Floats
    rest_mean: Floats
    effect: Floats
    p: Floats

    @classmethod
    def of(cls, clusters: Moments) -> Contrast:
        """Compare every cluster with the rest."""
        rest = _rest(clusters)
        mean, rest_mean = (np.where(m.counts > 0, m.means, np.nan) for m in (clusters, rest))
        return cls(
            mean, rest_mean, _effect(clusters, rest, mean - rest_mean), _welch(clusters, rest)
        )

    @property
    def direction(self) -> NDArray[np.str_]:
        """The words higher or lower, or an empty text if the means are equal."""
        return np.where(self.effect > 0, "higher", np.where(self.effect < 0, "lower", ""))


def adjusted(p: Floats) -> Floats:
    """Adjust p-values by the method of Benjamini and Hochberg (1995), ignoring NaN.

    Examples
    --------
    >>> adjusted(np.array([0.01, np.nan, 0.04])).tolist()
    [0.02, nan, 0.04]
    """
    known = ~np.isnan(p)
    result = np.full(p.shape, np.nan)
    if known.any():
        result[known] = false_discovery_control(p[known])
    return result


def _rest(clusters: Moments) -> Moments:
    """Return the moments of the rows outside each cluster, by subtraction."""
    total = clusters.merged(np.zeros(len(clusters.counts), dtype=np.intp))
    counts = total.counts - clusters.counts
    sums = total.counts * total.means - clusters.counts * clusters.means
    means = sums / np.maximum(counts, 1)
    # The total scatter is the scatter within both parts and between their means.
    between = clusters.counts * np.square(clusters.means - total.means)
    between += counts * np.square(means - total.means)
    scatter = total.scatter - clusters.scatter - between
    return Moments(counts, means, np.where(scatter > _ROUNDING * total.scatter, scatter, 0.0))


def _effect(clusters: Moments, rest: Moments, difference: Floats) -> Floats:
    freedom = clusters.counts + rest.counts - 2
    deviation = np.sqrt((clusters.scatter + rest.scatter) / np.maximum(freedom, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = difference / deviation
    # Without scatter, equal means are no effect; one row on each side has no effect size.
    effect = np.where((deviation == 0) & (difference == 0), 0.0, effect)
    return np.where(freedom > 0, effect, np.nan)


def _welch(clusters: Moments, rest: Moments) -> Floats:
    sides = []
    for side in (clusters, rest):
        deviation = np.sqrt(side.scatter / np.maximum(side.counts - 1, 1))
        sides += [side.means, deviation, np.maximum(side.counts, 2)]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = ttest_ind_from_stats(*sides, equal_var=False).pvalue
    meaningful = np.minimum(clusters.counts, rest.counts) >= 2
    return np.where(meaningful & (clusters.scatter + rest.scatter > 0), p, np.nan)
