"""Refusing missing cells, as long as the estimators do."""

from __future__ import annotations

import numpy as np

from pyrocco.io.checks import first_cell, place
from pyrocco.io.errors import MatrixError
from pyrocco.io.matrix import Matrix

__all__ = ["check_complete"]


def check_complete(matrix: Matrix, source: str) -> None:
    """Refuse a matrix with missing cells.

    Parameters
    ----------
    matrix : Matrix
        What was read.
    source : str
        Name of the file, for the message.

    Raises
    ------
    MatrixError
        Says how many cells are missing, where the first is and what to do.

    Examples
    --------
    >>> check_complete(Matrix(np.array([[np.nan]]), ("TP53",), ("liver",)), "a.csv")
    Traceback (most recent call last):
    pyrocco.io.errors.MatrixError: a.csv: 1 of 1 cells missing, the first at row 1 ("TP53"), ...
    """
    if matrix.n_missing == 0:
        return
    row, column = first_cell(matrix.X, np.isnan)
    where = place(row, column, matrix.row_names[row], matrix.column_names[column])
    cells = matrix.shape[0] * matrix.shape[1]
    raise MatrixError(
        f"{source}: {matrix.n_missing} of {cells} cells missing, the first at {where}: missing "
        "values are not supported yet, so fill them in, or remove such rows or columns"
    )
