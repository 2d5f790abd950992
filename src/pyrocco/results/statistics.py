"""Counts, means and scatter over the finest clusters, from which those of coarser ones follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pyrocco._typing import Dense, Floats, Labels, Matrix, is_sparse
from pyrocco.assign.nested import NestedClusters
from pyrocco.cells.values import transpose
from pyrocco.fitting.result import indicator

# Bits of means and of scatter that are kept, so that model files can be compressed: relative
# errors of at most 1e-12 and 3e-10.
_BITS_OF_MEANS, _BITS_OF_SCATTER = 40, 32


@dataclass(frozen=True)
class Moments:
    """Number, mean and scatter of the values of every cluster in every column.

    Missing values (NaN) do not count; if no others are left, the mean is 0.

    Parameters
    ----------
    counts : ndarray of shape (n_clusters, n_columns)
        Number of values.
    means : ndarray of shape (n_clusters, n_columns)
        Their mean.
    scatter : ndarray of shape (n_clusters, n_columns)
        Sum of the squared deviations from the mean.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [3.0, np.nan], [8.0, 7.0]])
    >>> fine = Moments.of(X, np.array([0, 0, 1]))
    >>> fine.counts.tolist(), fine.means.tolist(), fine.scatter.tolist()
    ([[2.0, 1.0], [1.0, 1.0]], [[2.0, 5.0], [8.0, 7.0]], [[2.0, 0.0], [0.0, 0.0]])
    >>> coarse = fine.merged(np.array([0, 0]))
    >>> coarse.means.tolist(), coarse.scatter.tolist()
    ([[4.0, 6.0]], [[26.0, 2.0]])
    """

    counts: Floats
    means: Floats
    scatter: Floats

    @classmethod
    def of(cls, X: Matrix, labels: Labels) -> Moments:
        """Compute the moments of the columns of `X` over clusters of its rows."""
        return _of_sparse(X, labels) if is_sparse(X) else _of_dense(np.asarray(X), labels)

    @property
    def T(self) -> Moments:  # noqa: N802 - as NumPy calls it
        """The transpose."""
        return Moments(self.counts.T, self.means.T, self.scatter.T)

    def rounded(self) -> Moments:
        """Round means and scatter to as many digits as an explanation needs."""
        means = _rounded(self.means, _BITS_OF_MEANS)
        return Moments(self.counts, means, _rounded(self.scatter, _BITS_OF_SCATTER))

    def merged(self, labels: Labels) -> Moments:
        """Merge clusters that have the same label."""
        members = indicator(labels).T
        counts = members @ self.counts
        means = members @ (self.counts * self.means) / np.maximum(counts, 1)
        between = self.counts * np.square(self.means - means[labels])
        return Moments(counts, means, members @ (self.scatter + between))


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
        Scale by which the values were divided.

    Examples
    --------
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
    def of(cls, X: Matrix, tree: NestedClusters, scale: float) -> TreeStatistics:
        """Compute the statistics of `X`, which was divided by `scale`."""
        by_column = Moments.of(X, tree.rows.finest)
        by_row = Moments.of(transpose(X), tree.columns.finest)
        return cls(by_column.rounded(), by_row.rounded(), scale)

    def blocks(self, row_clusters: Labels, column_labels: Labels) -> Moments:
        """Return the moments of blocks.

        `row_clusters` merges the finest row clusters, `column_labels` the columns.
        """
        return self.by_column.merged(row_clusters).T.merged(column_labels).T


def _rounded(values: Floats, bits: int) -> Floats:
    digits, exponents = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(digits, bits)), exponents - bits))


def _of_dense(X: Dense, labels: Labels) -> Moments:
    """Cluster by cluster, so that no copy of the whole matrix is made."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))[:-1]
    moments = [_of_cluster(X[rows]) for rows in np.split(order, ends)]
    counts, means, scatter = (np.stack(part) for part in zip(*moments, strict=True))
    return Moments(counts, means, scatter)


def _of_cluster(X: Dense) -> tuple[Floats, Floats, Floats]:
    present = ~np.isnan(X)
    counts = present.sum(axis=0, dtype=np.float64)
    means = np.sum(X, axis=0, dtype=np.float64, where=present) / np.maximum(counts, 1)
    deviations = np.where(present, X - means, 0.0)
    return counts, means, np.einsum("ij,ij->j", deviations, deviations)


def _of_sparse(X: sparse.csr_array, labels: Labels) -> Moments:
    """Use sums and sums of squares, which are of similar size since most values are 0."""
    members = indicator(labels).T
    counts = np.repeat(members.sum(axis=1)[:, None], X.shape[1], axis=1)
    means = (members @ X).toarray() / counts
    squares = (members @ X.multiply(X)).toarray()
    return Moments(counts, means, np.maximum(squares - counts * np.square(means), 0.0))
