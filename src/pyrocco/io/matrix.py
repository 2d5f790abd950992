"""The carrier every reader returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco.io.checks import check_numbers, stored_values

__all__ = ["Matrix", "default_names", "named_matrix"]


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
        return int(np.isnan(stored_values(self.X)).sum())

    @property
    def density(self) -> float:
        """Share of the cells that hold a number other than zero."""
        filled = np.count_nonzero(stored_values(self.X)) - self.n_missing
        return float(filled) / (self.shape[0] * self.shape[1])

    def transpose(self) -> Matrix:
        """Swap rows and columns."""
        X = self.X.T.tocsr() if sparse.issparse(self.X) else np.ascontiguousarray(self.X.T)
        return replace(self, X=X, row_names=self.column_names, column_names=self.row_names)

    def noting(self, *lines: str) -> Matrix:
        """Add notes."""
        return replace(self, notes=(*self.notes, *lines))


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
