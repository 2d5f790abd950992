"""The checks that the numbers of every matrix pass, and words for where one fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco.io.errors import MatrixError

__all__ = ["INFINITE", "check_numbers", "first_cell", "place", "stored_values"]

INFINITE = "is infinite: replace it by a number, or remove that row or column"


def stored_values(X: Any) -> Any:
    """All cells of a dense matrix, those that are not zero of a sparse one.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The numbers.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> stored_values(sparse.csr_array(np.eye(2))).tolist()
    [1.0, 1.0]
    """
    return X.data if sparse.issparse(X) else X


def place(
    row: int, column: int, row_name: str = "", column_name: str = "", line: int | None = None
) -> str:
    """Say where a cell is, counting from 1 as people do.

    Parameters
    ----------
    row, column : int
        Position among the numbers, counting from 0.
    row_name, column_name : str
        Their names in the file, if any.
    line : int, optional
        Line of the file, counting from 1.

    Returns
    -------
    str

    Examples
    --------
    >>> place(2, 0, "TP53", "liver", line=4)
    'row 3 ("TP53", line 4 of the file), column 1 ("liver")'
    >>> place(2, 0)
    'row 3, column 1'
    """
    # A name may hold line breaks; the message must not.
    row_name, column_name = (" ".join(name.split()) for name in (row_name, column_name))
    about_row = [f'"{row_name}"'] if row_name else []
    about_row += [f"line {line} of the file"] if line else []
    about_column = [f'"{column_name}"'] if column_name else []
    return ", ".join(
        f"{kind} {index + 1}" + (f" ({', '.join(about)})" if about else "")
        for kind, index, about in (("row", row, about_row), ("column", column, about_column))
    )


def check_numbers(X: Any, source: str) -> Any:
    """Return the matrix as floating point, dense or CSR, or say what is wrong with it.

    Parameters
    ----------
    X : ndarray or sparse matrix
        What was read.
    source : str
        Name of the file, for the message.

    Returns
    -------
    ndarray or csr_array
        float32 and float64 are kept, other numbers become float64. Missing cells are NaN.

    Raises
    ------
    MatrixError
        Not two-dimensional, no rows or columns, not real numbers, or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> check_numbers(np.array([[1, 2]]), "a.npy")
    array([[1., 2.]])
    """
    _check_shape(X.shape, source)
    if X.dtype.kind not in "biuf":
        raise MatrixError(
            f"{source}: holds values of type {X.dtype}, but a matrix of real numbers is needed"
        )
    kept = X.dtype in (np.float32, np.float64)
    X = X if kept else X.astype(np.float64)
    X = sparse.csr_array(X) if sparse.issparse(X) else np.ascontiguousarray(X)
    _check_finite(X, source)
    return X


def _check_shape(shape: Sequence[int], source: str) -> None:
    if len(shape) != 2:
        raise MatrixError(
            f"{source}: the array has {len(shape)} dimension(s), but a matrix has two: "
            "rows and columns"
        )
    for kind, count in zip(("rows", "columns"), shape, strict=True):
        if count == 0:
            raise MatrixError(f"{source}: the matrix has no {kind} ({shape[0]} x {shape[1]})")


def _check_finite(X: Any, source: str) -> None:
    if np.isinf(stored_values(X)).any():
        row, column = first_cell(X, np.isinf)
        raise MatrixError(f"{source}: {place(row, column)} {INFINITE}")


def first_cell(X: Any, is_bad: Callable[[Any], Any]) -> tuple[int, int]:
    """Row and column of the first bad cell in reading order.

    Parameters
    ----------
    X : ndarray or csr_array
        The numbers; one of them is bad.
    is_bad : callable
        Takes values, and says which are bad.

    Returns
    -------
    row, column : int

    Examples
    --------
    >>> first_cell(np.array([[1.0, 2.0], [np.nan, 3.0]]), np.isnan)
    (1, 0)
    """
    if sparse.issparse(X):
        # Only the offending entries become coordinates.
        entries = X.tocoo()
        bad = np.flatnonzero(is_bad(entries.data))
        first = bad[np.lexsort((entries.col[bad], entries.row[bad]))[0]]
        return int(entries.row[first]), int(entries.col[first])
    row, column = np.argwhere(is_bad(X))[0]
    return int(row), int(column)
