"""From the columns of a table, whatever file it came from, to a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrocco.io.columns import Columns
from pyrocco.io.errors import MatrixError
from pyrocco.io.long import matrix_from_long
from pyrocco.io.matrix import Matrix, named_matrix
from pyrocco.io.request import Request

__all__ = ["Loaded", "check_columns", "matrix_from_table"]


@dataclass(frozen=True)
class Loaded:
    """Columns as they come from a file.

    Attributes
    ----------
    texts : list of Series of categories
        The columns of names that the roles ask for.
    X : ndarray
        The columns of numbers; NaN where a cell is missing.

    Examples
    --------
    >>> Loaded([], np.ones((2, 3))).X.shape
    (2, 3)
    """

    texts: list[pd.Series[Any]]
    X: NDArray[Any]


def check_columns(columns: Columns, request: Request, source: str) -> None:
    """Refuse a table without numbers, and options that it gives no sense to.

    Parameters
    ----------
    columns : Columns
        What was detected.
    request : Request
        What was asked for.
    source : str
        Name of the file, for messages.

    Raises
    ------
    MatrixError
        Says what to do.

    Examples
    --------
    >>> from pyrocco.io.roles import Roles
    >>> check_columns(Columns(1, None, Roles(0, ())), Request(), "a.csv")
    Traceback (most recent call last):
    pyrocco.io.errors.MatrixError: a.csv: the matrix has no columns of numbers ...
    """
    is_long = columns.roles.long is not None
    if request.layout == "long" and not is_long:
        raise MatrixError(
            f"{source}: a long table has three columns (row, column, value), "
            f"but this one has {columns.width}"
        )
    if request.absent is not None and not is_long:
        raise MatrixError(
            f"{source}: is not a long table (row, column, value), so there is nothing to say "
            "about absent pairs; if it is one, ask for the long layout"
        )
    if not columns.roles.number_columns:
        raise MatrixError(
            f"{source}: the matrix has no columns of numbers "
            "(cells must be separated by commas, tabs or semicolons)"
        )


def matrix_from_table(
    loaded: Loaded, columns: Columns, notes: list[str], request: Request, source: str
) -> Matrix:
    """Make a matrix of a wide or of a long table.

    Parameters
    ----------
    loaded : Loaded
        The columns.
    columns : Columns
        What they are for.
    notes : list of str
        What was detected in the file.
    request : Request
        What was asked for.
    source : str
        Name of the file, for messages.

    Returns
    -------
    Matrix

    Examples
    --------
    >>> from pyrocco.io.roles import Roles
    >>> loaded = Loaded([pd.Series(["TP53 "], dtype="category")], np.array([[1.0, np.nan]]))
    >>> columns = Columns(3, ("gene", "liver", ""), Roles(0, (1, 2)))
    >>> matrix = matrix_from_table(loaded, columns, [], Request(), "a.csv")
    >>> matrix.row_names, matrix.column_names, matrix.notes[0]
    (('TP53',), ('liver',), 'Left out, because it is empty and has no name: column 3.')
    """
    if len(loaded.X) == 0:
        raise MatrixError(f"{source}: the matrix has no rows: only column names were found")
    if columns.roles.long:
        rows, others = loaded.texts
        absent = request.absent or "zero"
        return matrix_from_long(rows, others, loaded.X[:, 0], absent, notes, source)
    names = [str(name).strip() for name in loaded.texts[0]] if loaded.texts else None
    X, headings, left_out = _without_empty(loaded.X, columns)
    return named_matrix(X, names, headings, [*notes, *left_out], source)


def _without_empty(
    X: NDArray[Any], columns: Columns
) -> tuple[NDArray[Any], tuple[str, ...] | None, list[str]]:
    """Leave out columns without a name and without a number: a separator too many."""
    names = columns.names or ("",) * X.shape[1]
    # One look at the first row spares a look at the rest.
    suspects = [j for j in np.flatnonzero(np.isnan(X[0])) if not names[j]]
    empty = [j for j in suspects if np.isnan(X[:, j]).all()]
    if not empty or len(empty) == X.shape[1]:
        return X, columns.names, []
    kept = np.setdiff1d(np.arange(X.shape[1]), empty)
    headings = tuple(names[j] for j in kept) if columns.names else None
    them = "it is empty and has" if len(empty) == 1 else "they are empty and have"
    listed = ", ".join(f"column {columns.roles.numbers[j] + 1}" for j in empty)
    return X[:, kept], headings, [f"Left out, because {them} no name: {listed}."]
