"""Counts, means and scatter over the finest clusters: enough for every coarser one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.assign.nested import NestedClusters
from pyrocco.estimators.blocks import indicator

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """How many cells, their mean, and their scatter about it, for every group and line.

    Missing cells (NaN) do not count; where none is left the mean is 0.

    Parameters
    ----------
    counts : ndarray of shape (n_groups, n_lines)
        Observed cells.
    means : ndarray of shape (n_groups, n_lines)
        Their mean.
    scatter : ndarray of shape (n_groups, n_lines)
        Their sum of squared deviations from it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 5.0], [3.0, np.nan], [8.0, 7.0]])
    >>> fine = Moments.of(X, np.array([0, 0, 1]))
    >>> fine.counts.tolist(), fine.means.tolist(), fine.scatter.tolist()
    ([[2.0, 1.0], [1.0, 1.0]], [[2.0, 5.0], [8.0, 7.0]], [[2.0, 0.0], [0.0, 0.0]])
    >>> coarse = fine.merged(np.array([0, 0]))
    >>> coarse.means.tolist(), coarse.scatter.tolist()
    ([[4.0, 6.0]], [[26.0, 2.0]])
    """

    counts: Array
    means: Array
    scatter: Array

    @classmethod
    def of(cls, X: Any, groups: NDArray[np.intp]) -> Moments:
        """Of every column of `X`, over each group of rows."""
        return _of_sparse(X, groups) if sparse.issparse(X) else _of_dense(X, groups)

    @property
    def T(self) -> Moments:  # noqa: N802, as NumPy calls it
        """Lines by groups."""
        return Moments(self.counts.T, self.means.T, self.scatter.T)

    def merged(self, groups: NDArray[np.intp]) -> Moments:
        """Of groups of groups."""
        members = indicator(groups).T
        counts = members @ self.counts
        means = members @ (self.counts * self.means) / np.maximum(counts, 1)
        apart = self.counts * np.square(self.means - means[groups])
        return Moments(counts, means, members @ (self.scatter + apart))


@dataclass(frozen=True)
class TreeStatistics:
    """Moments of a matrix over the finest clusters of a tree.

    Parameters
    ----------
    by_column : Moments
        Finest row clusters by columns.
    by_row : Moments
        Finest column clusters by rows.
    scale : float
        Unit in which the cells were measured.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.kron(np.eye(2), np.full((2, 2), 9.0))
    >>> tree = NestedClusters.build(X, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    >>> statistics = TreeStatistics.of(X, tree, 1.0)
    >>> statistics.blocks(np.array([0, 1]), np.array([0, 0, 1, 1])).means.tolist()
    [[9.0, 0.0], [0.0, 9.0]]
    """

    by_column: Moments
    by_row: Moments
    scale: float

    @classmethod
    def of(cls, X: Any, tree: NestedClusters, scale: float) -> TreeStatistics:
        """Sum up `X`, which is measured in units of `scale`."""
        turned = X.T.tocsr() if sparse.issparse(X) else X.T
        by_row = Moments.of(turned, tree.columns.finest)
        return cls(Moments.of(X, tree.rows.finest), by_row, scale)

    def blocks(self, row_groups: NDArray[np.intp], column_labels: NDArray[np.intp]) -> Moments:
        """Of every block: clusters of finest row clusters by clusters of columns."""
        return self.by_column.merged(row_groups).T.merged(column_labels).T


def _of_dense(X: NDArray[Any], groups: NDArray[np.intp]) -> Moments:
    """Group by group, so that no copy of the whole matrix is made."""
    sizes = np.bincount(groups)
    order = np.argsort(groups, kind="stable")
    parts = [_of_group(X[inside]) for inside in np.split(order, np.cumsum(sizes)[:-1])]
    counts, means, scatter = (np.stack(part) for part in zip(*parts, strict=True))
    return Moments(counts, means, scatter)


def _of_group(part: NDArray[Any]) -> tuple[Array, Array, Array]:
    observed = ~np.isnan(part)
    counts = observed.sum(axis=0, dtype=np.float64)
    means = np.sum(part, axis=0, dtype=np.float64, where=observed) / np.maximum(counts, 1)
    deviations = np.where(observed, part - means, 0.0)
    return counts, means, np.einsum("ij,ij->j", deviations, deviations)


def _of_sparse(X: Any, groups: NDArray[np.intp]) -> Moments:
    """From sums and sums of squares: most cells are 0, so that these are of one size."""
    members = indicator(groups).T
    counts = np.repeat(members.sum(axis=1)[:, None], X.shape[1], axis=1)
    means = (members @ X).toarray() / counts
    squares = (members @ X.multiply(X)).toarray()
    return Moments(counts, means, np.maximum(squares - counts * np.square(means), 0.0))
