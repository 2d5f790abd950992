"""Rows of a large matrix, a few at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Cells held at once: 32 MB of float64.
_CELLS = 1 << 22


def row_slices(shape: tuple[int, int]) -> Iterator[slice]:
    """Slices of rows that hold a few million cells each.

    Examples
    --------
    >>> list(row_slices((5, 1 << 21)))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, _CELLS // max(shape[1], 1))
    for start in range(0, shape[0], step):
        yield slice(start, start + step)


def dense_parts(X: Any, unit: float) -> Iterator[NDArray[np.float64]]:
    """Rows of a dense or CSR matrix over a unit, a few at a time, as dense float64.

    Examples
    --------
    >>> [part.tolist() for part in dense_parts(sparse.csr_array(np.eye(2)), 2.0)]
    [[[0.5, 0.0], [0.0, 0.5]]]
    """
    for part in row_slices(X.shape):
        rows = X[part].toarray() if sparse.issparse(X) else X[part]
        yield rows.astype(np.float64) / unit
