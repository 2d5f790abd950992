"""Imputation of missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pyrocco._typing import Dense, Labels, Matrix, MatrixLike
from pyrocco.fitting.result import block_means


def impute(
    X: MatrixLike,
    representation: Dense,
    row_labels: Labels,
    column_labels: Labels,
    cell_weights: Matrix | None,
) -> Any:
    """Fill the missing values of the matrix that was fitted; see `ROCCO.impute`."""
    if np.shape(X) != representation.shape:
        raise ValueError(
            f"impute fills the matrix that was fitted, of shape {representation.shape}; got "
            f"shape {np.shape(X)}."
        )
    given: Any = X
    values = np.array(given.toarray() if sparse.issparse(X) else X, dtype=float)
    rest = values - representation
    if cell_weights is not None and not sparse.issparse(cell_weights):
        rest = rest * cell_weights
    means = block_means(rest, row_labels, column_labels, np.zeros_like(rest))
    expected = representation + means[row_labels][:, column_labels]
    imputed = np.where(np.isnan(values), expected, values)
    if hasattr(given, "columns") and hasattr(given, "index"):
        return type(given)(imputed, index=given.index, columns=given.columns)
    return imputed.astype(np.result_type(getattr(given, "dtype", float), np.float32), copy=False)
