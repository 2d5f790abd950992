"""Coarser and finer co-clusterings of a fitted model, without another fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pyrocco._typing import Floats, Labels, Names
from pyrocco.assign.nested import NestedClusters, NestedSide
from pyrocco.results.display import clusters_html
from pyrocco.results.explain import Explainer
from pyrocco.results.statistics import TreeStatistics
from pyrocco.results.tables import SideNames, as_polars, cluster_table
from pyrocco.validation import check_count


@dataclass(frozen=True)
class CoClustering:
    """One cut of the nested clusters of a model, with its labels and block means.

    It is returned by `ROCCO.at`, `ROCCO.coarser` and `ROCCO.finer`.

    Parameters
    ----------
    tree : NestedClusters
        The model's nested clusters.
    statistics : TreeStatistics
        Statistics of the data over the finest clusters.
    membership : pair of ndarray
        Probability of the fit's label of every row and of every column.
    n_row_clusters_, n_column_clusters_ : int
        Numbers of clusters.
    names : SideNames
        Names of the rows and of the columns, where the data had them.
    of_polars : bool
        Whether tables are DataFrames of polars, as the data were.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of every row and of every column; 0 is the largest.
    block_means_ : ndarray of shape (n_row_clusters_, n_column_clusters_)
        Mean of every block; NaN if all its values are missing.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> model = ROCCO().fit(make_noisy_biclusters((100, 80), 4, noise=10, random_state=0).X)
    >>> cut = model.at(n_row_clusters=2)
    >>> cut
    CoClustering(n_row_clusters_=2, n_column_clusters_=4)
    >>> cut.block_means_.shape, cut.finer()
    ((2, 4), CoClustering(n_row_clusters_=3, n_column_clusters_=5))
    """

    tree: NestedClusters
    statistics: TreeStatistics
    membership: tuple[Floats, Floats]
    n_row_clusters_: int
    n_column_clusters_: int
    names: SideNames = field(default_factory=SideNames)
    of_polars: bool = False

    def __repr__(self) -> str:
        numbers = f"{self.n_row_clusters_}, n_column_clusters_={self.n_column_clusters_}"
        return f"CoClustering(n_row_clusters_={numbers})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return clusters_html(
            f"A cut at {self.n_row_clusters_} x {self.n_column_clusters_} clusters",
            self.block_means_,
            (self.row_labels_, self.column_labels_),
        )

    @cached_property
    def row_labels_(self) -> Labels:
        """Cluster of every row; 0 is the largest."""
        return self.tree.rows.cut(self.n_row_clusters_)

    @cached_property
    def column_labels_(self) -> Labels:
        """Cluster of every column; 0 is the largest."""
        return self.tree.columns.cut(self.n_column_clusters_)

    @cached_property
    def block_means_(self) -> Floats:
        """Mean of every block; NaN if all its values are missing."""
        row_clusters = self.tree.rows.cut_finest(self.n_row_clusters_)
        blocks = self.statistics.blocks(row_clusters, self.column_labels_)
        means = np.where(blocks.counts > 0, blocks.means, np.nan)
        return np.asarray(means * self.statistics.scale)

    def at(
        self, n_row_clusters: int | None = None, n_column_clusters: int | None = None
    ) -> CoClustering:
        """Cut the same nested clusters at other numbers of clusters.

        Parameters
        ----------
        n_row_clusters, n_column_clusters : int, optional
            Numbers of clusters; by default those of this cut.

        Returns
        -------
        CoClustering
        """
        rows = _check_cut("row", n_row_clusters, self.n_row_clusters_, self.tree.rows)
        columns = _check_cut(
            "column", n_column_clusters, self.n_column_clusters_, self.tree.columns
        )
        return replace(self, n_row_clusters_=rows, n_column_clusters_=columns)

    def coarser(self) -> CoClustering:
        """Merge the two nearest row clusters and the two nearest column clusters.

        A side that is already one cluster stays as it is.
        """
        rows, columns = self.n_row_clusters_, self.n_column_clusters_
        if rows == columns == 1:
            raise ValueError(
                "There is nothing coarser than one row cluster and one column cluster."
            )
        return self.at(max(rows - 1, 1), max(columns - 1, 1))

    def finer(self) -> CoClustering:
        """Undo one merge of row clusters and one merge of column clusters.

        A side that is already at the finest level of the tree stays as it is.
        """
        finest = self.tree.rows.n_finest, self.tree.columns.n_finest
        if (self.n_row_clusters_, self.n_column_clusters_) == finest:
            raise ValueError(
                f"There is nothing finer: the tree of this model ends at {finest[0]} row clusters "
                f"and {finest[1]} column clusters. Fit again with n_clusters= for more."
            )
        rows, columns = self.n_row_clusters_ + 1, self.n_column_clusters_ + 1
        return self.at(min(rows, finest[0]), min(columns, finest[1]))

    def explain(self, *, top: int = 10, column_names: Names | None = None) -> Any:
        """Describe what distinguishes each row cluster; see `ROCCO.explain`.

        Parameters
        ----------
        top : int, default=10
            Largest number of single columns to list for each row cluster.
        column_names : sequence, optional
            Names of the columns, in the order of the data; by default those that the data had.

        Returns
        -------
        DataFrame
        """
        n_clusters = self.n_row_clusters_, self.n_column_clusters_
        explainer = Explainer.of(self.tree, self.statistics, self.membership, n_clusters)
        names = self.names.columns if column_names is None else column_names
        table = explainer.table(top, names)
        return as_polars(table) if self.of_polars else table

    def row_clusters(self) -> Any:
        """List the rows by name, with their clusters; see `ROCCO.row_clusters`.

        Returns
        -------
        DataFrame
        """
        return self._table(self.row_labels_, self.membership[0], self.names.rows)

    def column_clusters(self) -> Any:
        """List the columns by name, with their clusters; see `ROCCO.column_clusters`.

        Returns
        -------
        DataFrame
        """
        return self._table(self.column_labels_, self.membership[1], self.names.columns)

    def _table(self, labels: Labels, membership: Floats, names: Names | None) -> Any:
        table = cluster_table(labels, membership, names)
        return as_polars(table, "name") if self.of_polars else table


def _check_cut(side: str, number: int | None, here: int, tree: NestedSide) -> int:
    if number is None:
        return here
    check_count(f"n_{side}_clusters", number)
    if number > tree.n_finest:
        raise ValueError(
            f"n_{side}_clusters={number} is finer than the tree of this model, which ends at "
            f"{tree.n_finest} {side} clusters. Ask for {tree.n_finest} or fewer, or fit again "
            "with n_clusters=."
        )
    return int(number)
