"""The carrier every reader returns, and the checks every matrix passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

__all__ = [
    "Matrix",
    "MatrixError",
    "check_complete",
    "check_numbers",
    "default_names",
    "named_matrix",
    "place",
]


INFINITE = "is infinite: replace it by a number, or remove that row or column"


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
        The numbers, floating point and not infinite; NaN where a cell is missing.
    row_names, column_names : tuple of str
        One name per row and per column; ``row_0``, ``column_0``, ... where the file had none.
    notes : tuple of str
        Plain sentences about what was detected in the file.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = Matrix(np.eye(2), ("a", "b"), ("x", "y"))
    >>> matrix.shape, matrix.density, matrix.n_missing
    ((2, 2), 0.5, 0)
    >>> matrix.transpose().row_names
    ('x', 'y')
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
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(np.isnan(_values(self.X)).sum())

    @property
    def density(self) -> float:
        """Share of the cells that hold a number other than zero."""
        filled = np.count_nonzero(_values(self.X)) - self.n_missing
        return float(filled) / (self.shape[0] * self.shape[1])

    def transpose(self) -> Matrix:
        """Swap rows and columns."""
        X = self.X.T.tocsr() if sparse.issparse(self.X) else np.ascontiguousarray(self.X.T)
        return replace(self, X=X, row_names=self.column_names, column_names=self.row_names)

    def noting(self, *lines: str) -> Matrix:
        """Add notes."""
        return replace(self, notes=(*self.notes, *lines))


def _values(X: Any) -> Any:
    """The stored values: all of a dense matrix, those that are not zero of a sparse one."""
    return X.data if sparse.issparse(X) else X


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


def named_matrix(
    X: Any,
    row_names: Sequence[str] | None,
    column_names: Sequence[str] | None,
    notes: Sequence[str],
    source: str,
) -> Matrix:
    """Finish what every reader does: check the numbers, name what has no name, say what is there.

    Parameters
    ----------
    X : ndarray or sparse matrix
        What was read.
    row_names, column_names : sequence of str or None
        Names, where the file has them.
    notes : sequence of str
        What was detected in the file.
    source : str
        Name of the file, for messages.

    Returns
    -------
    Matrix

    Examples
    --------
    >>> named_matrix(np.array([[1, np.nan]]), None, ["a", "b"], [], "a.npy").notes
    ('The matrix has 1 row and 2 columns.', '1 of its 2 cells is missing (50 %).')
    """
    X = check_numbers(X, source)
    n_rows, n_columns = X.shape
    rows = default_names("row", n_rows) if row_names is None else tuple(row_names)
    columns = default_names("column", n_columns) if column_names is None else tuple(column_names)
    matrix = Matrix(X, rows, columns)
    return matrix.noting(*notes, *_about_size(matrix))


def _about_size(matrix: Matrix) -> list[str]:
    rows, columns = (
        f"{n} {what}{'s'[: n != 1]}"
        for n, what in zip(matrix.shape, ("row", "column"), strict=True)
    )
    lines = [f"The matrix has {rows} and {columns}."]
    if matrix.n_missing:
        cells = matrix.shape[0] * matrix.shape[1]
        verb = "is" if matrix.n_missing == 1 else "are"
        share = f"{100 * matrix.n_missing / cells:.2g} %"
        lines.append(f"{matrix.n_missing} of its {cells} cells {verb} missing ({share}).")
    return lines


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
    pyrocco.io.matrix.MatrixError: a.csv: 1 of 1 cells missing, the first at row 1 ("TP53"), ...
    """
    if matrix.n_missing == 0:
        return
    row, column = _first_cell(matrix.X, np.isnan)
    where = place(row, column, matrix.row_names[row], matrix.column_names[column])
    cells = matrix.shape[0] * matrix.shape[1]
    raise MatrixError(
        f"{source}: {matrix.n_missing} of {cells} cells missing, the first at {where}: missing "
        "values are not supported yet, so fill them in, or remove such rows or columns"
    )


def _check_finite(X: Any, source: str) -> None:
    if np.isinf(_values(X)).any():
        row, column = _first_cell(X, np.isinf)
        raise MatrixError(f"{source}: {place(row, column)} {INFINITE}")


def _first_cell(X: Any, is_bad: Callable[[Any], Any]) -> tuple[int, int]:
    """Row and column of the first bad cell in reading order."""
    if sparse.issparse(X):
        # Only the offending entries become coordinates.
        entries = X.tocoo()
        bad = np.flatnonzero(is_bad(entries.data))
        first = bad[np.lexsort((entries.col[bad], entries.row[bad]))[0]]
        return int(entries.row[first]), int(entries.col[first])
    row, column = np.argwhere(is_bad(X))[0]
    return int(row), int(column)
