"""Columns of one matrix, brought into the order of another by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyrocco.io.errors import MatrixError
from pyrocco.io.matrix import Matrix, default_names

__all__ = ["match_columns"]

_NAMED = 3


def match_columns(matrix: Matrix, names: Sequence[str], source: str, what: str) -> Matrix:
    """Pick the named columns of a matrix, in that order.

    Parameters
    ----------
    matrix : Matrix
        Numbers and names. Where its columns have no names of their own, but are as many as
        those wanted, they are taken to be in the same order.
    names : sequence of str
        The columns wanted.
    source : str
        Name of the file, for messages.
    what : {"column", "row"}
        What the user calls a column: rows of a file may come as columns here.

    Returns
    -------
    Matrix
        With a note where columns were left out or taken by their position.

    Raises
    ------
    MatrixError
        Some columns are not there, or their names do not tell which is which.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = Matrix(np.array([[1.0, 2.0, 3.0]]), ("a",), ("x", "y", "z"))
    >>> found = match_columns(matrix, ["z", "x"], "new.csv", "column")
    >>> found.X.tolist(), found.notes
    ([[3.0, 1.0]], ('1 column that the model does not know was left out.',))
    """
    wanted, given = list(names), list(matrix.column_names)
    if wanted == given:
        return matrix
    if given == list(default_names("column", len(wanted))):
        note = f"Its {what}s have no names: they are taken to be in the order of the model's."
        return replace(matrix, column_names=tuple(wanted)).noting(note)
    _check_names(wanted, given, source, what)
    places = {name: place for place, name in enumerate(given)}
    X = matrix.X[:, [places[name] for name in wanted]]
    found = replace(matrix, X=X, column_names=tuple(wanted))
    extra = len(given) - len(wanted)
    if not extra:
        return found
    which = f"{what} that the model does not know was" if extra == 1 else None
    which = which or f"{what}s that the model does not know were"
    return found.noting(f"{extra} {which} left out.")


def _check_names(wanted: list[str], given: list[str], source: str, what: str) -> None:
    missing = sorted(set(wanted) - set(given), key=wanted.index)
    if missing:
        some = ", ".join(f'"{name}"' for name in missing[:_NAMED])
        dots = ", ..." if len(missing) > _NAMED else ""
        raise MatrixError(
            f"{source}: lacks {len(missing)} of the {len(wanted)} {what}s that the model was "
            f"fitted to: {some}{dots}; add them, under the same names"
        )
    twice = [name for name in wanted if given.count(name) > 1 or wanted.count(name) > 1]
    if twice:
        raise MatrixError(
            f'{source}: several {what}s are called "{twice[0]}", so it cannot be told which is '
            f"which: give the {what}s different names and fit again, or the {what}s of the fit "
            "in the same order"
        )
