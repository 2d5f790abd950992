"""The carrier every reader returns, and the checks every matrix passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["Matrix", "MatrixError", "about_shape", "check_numbers", "default_names", "place"]


class MatrixError(ValueError):
    """The input is not a matrix pyrocco can work with; the message says why, in one line.

    Examples
    --------
    >>> raise MatrixError("counts.csv: the file is empty")
    Traceback (most recent call last):
    pyrocco.io.matrix.MatrixError: counts.csv: the file is empty
    """


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix with the names of its rows and columns.

    Attributes
    ----------
    X : ndarray or csr_array
        The numbers, finite and floating point.
    row_names, column_names : tuple of str
        One name per row and per column; ``row_0``, ``column_0``, ... where the file had none.
    notes : tuple of str
        Plain sentences about what was detected in the file.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = Matrix(np.eye(2), ("a", "b"), ("x", "y"))
    >>> matrix.shape, matrix.density
    ((2, 2), 0.5)
    """

    X: Any
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n_rows, n_columns = self.X.shape
        return int(n_rows), int(n_columns)

    @property
    def density(self) -> float:
        """Share of the cells that are not zero."""
        nonzero = self.X.count_nonzero() if sparse.issparse(self.X) else np.count_nonzero(self.X)
        return float(nonzero) / (self.shape[0] * self.shape[1])


def default_names(kind: str, count: int) -> tuple[str, ...]:
    """Names for rows or columns that have none.

    Parameters
    ----------
    kind : str
        ``"row"`` or ``"column"``.
    count : int
        How many names.

    Returns
    -------
    tuple of str
        ``kind_0``, ``kind_1``, ...

    Examples
    --------
    >>> default_names("row", 2)
    ('row_0', 'row_1')
    """
    return tuple(f"{kind}_{i}" for i in range(count))


def about_shape(n_rows: int, n_columns: int) -> str:
    """Say how large a matrix is.

    Parameters
    ----------
    n_rows, n_columns : int
        Its shape.

    Returns
    -------
    str

    Examples
    --------
    >>> about_shape(1, 20)
    'The matrix has 1 row and 20 columns.'
    """
    rows, columns = ("" if count == 1 else "s" for count in (n_rows, n_columns))
    return f"The matrix has {n_rows} row{rows} and {n_columns} column{columns}."


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
        float32 and float64 are kept, other numbers become float64.

    Raises
    ------
    MatrixError
        Not two-dimensional, no rows or columns, not real numbers, or not finite.

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
    values = X.data if sparse.issparse(X) else X
    if np.isfinite(values).all():
        return
    if sparse.issparse(X):
        # Only the offending entries become coordinates, in reading order.
        entries = X.tocoo()
        bad = np.flatnonzero(~np.isfinite(entries.data))
        first = bad[np.lexsort((entries.col[bad], entries.row[bad]))[0]]
        row, column, value = entries.row[first], entries.col[first], entries.data[first]
    else:
        row, column = np.argwhere(~np.isfinite(X))[0]
        value = X[row, column]
    raise MatrixError(f"{source}: {place(int(row), int(column))} {not_finite(float(value))}")


def not_finite(value: float) -> str:
    """Second half of the message about a cell without a usable number, and what to do.

    Parameters
    ----------
    value : float
        NaN or an infinity.

    Returns
    -------
    str

    Examples
    --------
    >>> not_finite(float("inf"))
    'is infinite: replace it by a number, or remove that row or column'
    """
    if np.isnan(value):
        return (
            "is missing: missing values are not supported yet, so fill it in, "
            "or remove that row or column"
        )
    return "is infinite: replace it by a number, or remove that row or column"
