"""Coarser and finer co-clusterings of a fitted model, without the data and without a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pyrocco.assign.nested import NestedClusters, NestedSide
from pyrocco.estimators.checks import check_count
from pyrocco.estimators.deferred import Deferred
from pyrocco.estimators.explain import Explainer
from pyrocco.estimators.statistics import TreeStatistics


@dataclass(frozen=True)
class CoClustering:
    """One cut through the nested clusters of a model: labels and block means.

    `ROCCO.at`, `ROCCO.coarser` and `ROCCO.finer` make it.

    Parameters
    ----------
    tree : NestedClusters
        The model's nested clusters.
    statistics : TreeStatistics
        What the model keeps of the data.
    confidence : pair of ndarray
        Probability of the fit's label of every row and of every column.
    n_row_clusters_, n_column_clusters_ : int
        Numbers of clusters.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of every row and of every column, largest cluster 0.
    block_means_ : ndarray of shape (n_row_clusters_, n_column_clusters_)
        Mean over every block; NaN where all its cells are missing.

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
    confidence: tuple[NDArray[np.float64], NDArray[np.float64]]
    n_row_clusters_: int
    n_column_clusters_: int

    def __repr__(self) -> str:
        numbers = f"{self.n_row_clusters_}, n_column_clusters_={self.n_column_clusters_}"
        return f"CoClustering(n_row_clusters_={numbers})"

    @cached_property
    def row_labels_(self) -> NDArray[np.intp]:
        """Cluster of every row, largest 0."""
        return self.tree.rows.cut(self.n_row_clusters_)

    @cached_property
    def column_labels_(self) -> NDArray[np.intp]:
        """Cluster of every column, largest 0."""
        return self.tree.columns.cut(self.n_column_clusters_)

    @cached_property
    def block_means_(self) -> NDArray[np.float64]:
        """Mean over every block; NaN where all its cells are missing."""
        groups = self.tree.rows.cut_finest(self.n_row_clusters_)
        blocks = self.statistics.blocks(groups, self.column_labels_)
        means = np.where(blocks.counts > 0, blocks.means, np.nan)
        return np.asarray(means * self.statistics.scale)

    def at(
        self, n_row_clusters: int | None = None, n_column_clusters: int | None = None
    ) -> CoClustering:
        """Cut elsewhere.

        Parameters
        ----------
        n_row_clusters, n_column_clusters : int, optional
            Numbers of clusters; those of this cut where not given.

        Returns
        -------
        CoClustering
        """
        rows = _checked("row", n_row_clusters, self.n_row_clusters_, self.tree.rows)
        columns = _checked("column", n_column_clusters, self.n_column_clusters_, self.tree.columns)
        return replace(self, n_row_clusters_=rows, n_column_clusters_=columns)

    def coarser(self) -> CoClustering:
        """Merge the two nearest clusters of rows, and the two nearest of columns.

        A side that is one cluster already stays so.
        """
        rows, columns = self.n_row_clusters_, self.n_column_clusters_
        if rows == columns == 1:
            raise ValueError("Nothing is coarser than one cluster of rows and one of columns.")
        return self.at(max(rows - 1, 1), max(columns - 1, 1))

    def finer(self) -> CoClustering:
        """Undo one merge of rows and one of columns.

        A side that is as fine as the tree goes stays so.
        """
        finest = self.tree.rows.n_finest, self.tree.columns.n_finest
        if (self.n_row_clusters_, self.n_column_clusters_) == finest:
            raise ValueError(
                f"Nothing is finer: the tree of this model ends at {finest[0]} row clusters and "
                f"{finest[1]} column clusters. Fit again with n_clusters= for more."
            )
        rows, columns = self.n_row_clusters_ + 1, self.n_column_clusters_ + 1
        return self.at(min(rows, finest[0]), min(columns, finest[1]))

    def explain(
        self, *, top: int = 10, column_names: Sequence[Any] | NDArray[Any] | None = None
    ) -> pd.DataFrame:
        """List what sets each row cluster apart: see `ROCCO.explain`.

        Parameters
        ----------
        top : int, default=10
            Single columns listed for each row cluster, at most.
        column_names : sequence, optional
            Names of the columns, in the order of the data.

        Returns
        -------
        DataFrame
        """
        numbers = self.n_row_clusters_, self.n_column_clusters_
        explainer = Explainer(self.tree, self.statistics, self.confidence, numbers)
        return explainer.table(top, column_names)


class NestedMixin:
    """Coarser and finer clusters of a model with labels and a representation."""

    representation_: NDArray[Any]
    row_labels_: NDArray[np.intp]
    column_labels_: NDArray[np.intp]
    row_membership_: NDArray[np.float64]
    column_membership_: NDArray[np.float64]
    _nested: Deferred

    @property
    def tree_(self) -> NestedClusters:
        """Nested clusters, from the finest over those of the fit to one."""
        tree: NestedClusters = self._nested.value[0]
        return tree

    @property
    def statistics_(self) -> TreeStatistics:
        """What the cuts need to know of the data."""
        statistics: TreeStatistics = self._nested.value[1]
        return statistics

    def _nest_later(self, X: Callable[[], Any], scale: float) -> None:
        """Promise the tree and what its cuts need of the data, in units of `scale`."""

        def nest() -> tuple[NestedClusters, TreeStatistics]:
            labels = self.row_labels_, self.column_labels_
            tree = NestedClusters.build(self.representation_, *labels)
            return tree, TreeStatistics.of(X(), tree, scale)

        self._nested = Deferred(make=nest)

    def at(
        self, n_row_clusters: int | None = None, n_column_clusters: int | None = None
    ) -> CoClustering:
        """Cut the nested clusters at other numbers, without a fit.

        Cuts are nested: a cluster of a coarser cut is made of whole clusters of a finer one.
        At the numbers of the fit the labels are those of the fit.

        Parameters
        ----------
        n_row_clusters, n_column_clusters : int, optional
            Numbers of clusters; those of the fit where not given.

        Returns
        -------
        CoClustering

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((100, 80), 4, noise=10, random_state=0).X
        >>> ROCCO().fit(X).at(3, 2).block_means_.shape
        (3, 2)
        """
        check_is_fitted(self)
        confidence = self.row_membership_, self.column_membership_
        numbers = self.tree_.rows.n_fitted, self.tree_.columns.n_fitted
        fitted = CoClustering(self.tree_, self.statistics_, confidence, *numbers)
        return fitted.at(n_row_clusters, n_column_clusters)

    def coarser(self) -> CoClustering:
        """Merge the two nearest clusters of rows, and the two nearest of columns.

        Returns
        -------
        CoClustering
        """
        return self.at().coarser()

    def finer(self) -> CoClustering:
        """Split a cluster of rows and one of columns, where the parts are farthest apart.

        Returns
        -------
        CoClustering
        """
        return self.at().finer()

    def explain(
        self, *, top: int = 10, column_names: Sequence[Any] | NDArray[Any] | None = None
    ) -> pd.DataFrame:
        """List what sets each row cluster apart, and every block, as a tidy table.

        For each row cluster there is a line for every column cluster (``kind`` "block") and
        one for each of the single columns that differ most (``kind`` "column"), the largest
        effect first.

        The clusters were found in the same data, so that p-values are smaller than they
        would be for groups known beforehand, even in pure noise. Use them to order the
        lines, not as evidence that clusters exist.

        Parameters
        ----------
        top : int, default=10
            Single columns listed for each row cluster, at most.
        column_names : sequence, optional
            Names of the columns, in the order of the data; their positions where not given.

        Returns
        -------
        DataFrame
            ``row_cluster``, ``column_cluster``, ``column`` say where; ``n_rows`` and
            ``n_columns`` how large. ``mean`` is that of the block or of the column's part in
            it, ``rest_mean`` that of the other rows in the same columns. ``effect`` is the
            difference between the rows and the other rows in standard deviations (Cohen's d;
            the variance is pooled over both by their degrees of freedom; a row counts with its
            mean over the columns of the block), ``direction`` its sign in words.
            ``p_adjusted`` is from Welch's t-test, adjusted by Benjamini and Hochberg over all
            blocks and all columns, listed or not; NaN with fewer than two rows on either side
            or without scatter. ``homogeneity`` is 1 less the share of the variance within in
            the total one (of the matrix; of the column for single columns). ``confidence`` is
            the mean confidence of its rows and that of its columns, averaged. Missing cells
            do not count. At another cut than the fit's, confidence is still that of the
            fit's labels.

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((100, 80), 4, noise=10, random_state=0).X
        >>> table = ROCCO().fit(X).explain(top=3)
        >>> table["kind"].value_counts().to_dict()
        {'block': 16, 'column': 12}
        >>> table.loc[0, ["kind", "direction"]].tolist()
        ['block', 'higher']
        """
        return self.at().explain(top=top, column_names=column_names)


def _checked(side: str, number: int | None, here: int, tree: NestedSide) -> int:
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
