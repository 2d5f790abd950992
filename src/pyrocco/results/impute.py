"""Imputation of missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from pyrocco._typing import Dense, Labels, Matrix, MatrixLike
from pyrocco.cells.input import check_matrix
from pyrocco.cells.preparation import Preparation
from pyrocco.cells.values import room_for_sums, to_dense
from pyrocco.fitting.result import block_means
from pyrocco.results.tables import is_polars


def impute(
    X: MatrixLike,
    representation: Dense,
    row_labels: Labels,
    column_labels: Labels,
    cell_weights: Matrix | None,
    preparation: Preparation,
) -> Any:
    """Fill the missing values of the matrix that was fitted; see `ROCCO.impute`."""
    checked = check_matrix(X)
    if checked.shape != representation.shape:
        raise ValueError(
            f"impute fills the matrix that was fitted, of shape {representation.shape}; got "
            f"shape {checked.shape}."
        )
    given: Any = X
    values = to_dense(checked).astype(np.float64)
    prepared = to_dense(preparation.apply(values))
    U = preparation.apply(representation)
    room = room_for_sums(prepared, values.size)
    filled = np.ldexp(prepared, -room), np.ldexp(U, -room)
    expected = np.ldexp(_expected(*filled, row_labels, column_labels, cell_weights), room)
    expected = to_dense(preparation.undo(expected))
    imputed = np.where(np.isnan(values), expected, values)
    if isinstance(given, pd.DataFrame):
        return type(given)(imputed, index=given.index, columns=given.columns)
    if is_polars(given):
        return type(given)(imputed, schema=given.columns)
    return imputed.astype(np.result_type(checked.dtype, np.float32), copy=False)


def _expected(
    values: Dense,
    representation: Dense,
    row_labels: Labels,
    column_labels: Labels,
    cell_weights: Matrix | None,
) -> Dense:
    """Return the representation plus the mean difference between data and it in each block."""
    rest = values - representation
    if cell_weights is not None and not sparse.issparse(cell_weights):
        rest = rest * cell_weights
    means = block_means(rest, row_labels, column_labels, np.zeros_like(rest))
    return np.asarray(representation + means[row_labels][:, column_labels])
