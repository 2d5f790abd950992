"""Means of a matrix over the blocks of a co-clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def block_means(
    X: Any, row_labels: NDArray[np.intp], column_labels: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Mean of `X` over every pair of a row cluster and a column cluster.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 3.0, 5.0], [1.0, 3.0, 5.0], [0.0, 0.0, 9.0]])
    >>> block_means(X, np.array([0, 0, 1]), np.array([0, 0, 1])).tolist()
    [[2.0, 5.0], [0.0, 9.0]]
    """
    rows, columns = _indicator(row_labels), _indicator(column_labels)
    sums = (rows.T @ X) @ columns
    sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    sizes = np.outer(np.bincount(row_labels), np.bincount(column_labels))
    return np.asarray(sums / sizes, dtype=np.float64)


def _indicator(labels: NDArray[np.intp]) -> sparse.csr_array:
    n = len(labels)
    return sparse.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, labels.max() + 1))
