"""The blocks of a co-clustering: every row cluster with every column cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from pyrocco.backends.kernels.clusters import sums_by_label


def indicator(labels: NDArray[np.intp]) -> sparse.csr_array:
    """Rows by clusters: 1 where the row is in the cluster.

    Examples
    --------
    >>> import numpy as np
    >>> indicator(np.array([0, 1, 1])).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    n = len(labels)
    return sparse.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, labels.max() + 1))


def block_means(
    X: Any, row_labels: NDArray[np.intp], column_labels: NDArray[np.intp], U: Any = None
) -> NDArray[np.float64]:
    """Mean of `X` over every pair of a row cluster and a column cluster.

    Missing cells (NaN) do not count. Where a pair has no others, it is the mean of the
    representation `U`, or NaN where that is not given.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 3.0, 5.0], [1.0, 3.0, 5.0], [0.0, 0.0, 9.0]])
    >>> block_means(X, np.array([0, 0, 1]), np.array([0, 0, 1])).tolist()
    [[2.0, 5.0], [0.0, 9.0]]
    """
    labels = row_labels, column_labels
    sizes = np.outer(np.bincount(row_labels), np.bincount(column_labels))
    cells = X.data if sparse.issparse(X) else np.asarray(X)
    gaps = np.isnan(cells)
    if not gaps.any():
        return _block_sums(X, *labels) / sizes
    counts = np.round(sizes - _block_sums(_with_cells(X, gaps.astype(float)), *labels))
    sums = _block_sums(_with_cells(X, np.where(gaps, 0, cells)), *labels)
    instead = np.nan if U is None else _block_sums(U, *labels) / sizes
    return np.where(counts > 0, sums / np.maximum(counts, 1), instead)


def _with_cells(X: Any, cells: NDArray[Any]) -> Any:
    """A matrix stored like `X`, with other numbers."""
    if not sparse.issparse(X):
        return cells
    filled = X.copy()
    filled.data = cells
    return filled


def _block_sums(
    X: Any, row_labels: NDArray[np.intp], column_labels: NDArray[np.intp]
) -> NDArray[np.float64]:
    if sparse.issparse(X):
        sums = indicator(row_labels).T @ X @ indicator(column_labels)
        return np.asarray(sums.toarray(), dtype=np.float64)
    cells = X if X.dtype in (np.float32, np.float64) else np.asarray(X, dtype=np.float64)
    by_row_cluster = sums_by_label(cells, row_labels, int(row_labels.max()) + 1)
    return np.asarray(by_row_cluster @ indicator(column_labels))


class BlockMixin(BiclusterMixin):
    """Biclusters of a model with row and column labels, made only when asked for.

    They are all pairs of a row cluster and a column cluster, column clusters running
    fastest.
    """

    row_labels_: NDArray[np.intp]
    column_labels_: NDArray[np.intp]

    @property
    def rows_(self) -> NDArray[np.bool_]:
        """Members of every bicluster among the rows, one bicluster a line."""
        n_row_clusters, n_column_clusters = self._numbers()
        which = np.repeat(np.arange(n_row_clusters), n_column_clusters)
        return np.asarray(self.row_labels_ == which[:, None])

    @property
    def columns_(self) -> NDArray[np.bool_]:
        """Members of every bicluster among the columns, one bicluster a line."""
        n_row_clusters, n_column_clusters = self._numbers()
        which = np.tile(np.arange(n_column_clusters), n_row_clusters)
        return np.asarray(self.column_labels_ == which[:, None])

    def _numbers(self) -> tuple[int, int]:
        check_is_fitted(self)
        return int(self.row_labels_.max()) + 1, int(self.column_labels_.max()) + 1
