"""A matrix that lies in parts: what every kind of store says about itself before it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pyrocco.io.errors import MatrixError

__all__ = ["Parts", "check_same_names", "text_array"]


@dataclass(frozen=True)
class Parts:
    """The parts of a matrix, from its first row to its last, and who reads one of them.

    Attributes
    ----------
    places : tuple
        Where each part is: a path, or a path and a range of rows.
    n_rows : tuple of int
        Rows of each part.
    column_names : tuple of str
        One name per column; every part has them all.
    dtype : dtype
        float32 or float64.
    how : object
        What the readers need to know beyond the place; the same for all parts.
    read : callable
        Takes a place and `how`, and returns the numbers of that part.
    read_names : callable or None
        The same for the names of its rows; None where rows have no names.
    notes : tuple of str
        Plain sentences about what was detected.

    Examples
    --------
    >>> parts = Parts((0, 2), (2, 1), ("x",), np.dtype("f8"), None, lambda place, how: ...)
    >>> parts.shape
    (3, 1)
    """

    places: tuple[Any, ...]
    n_rows: tuple[int, ...]
    column_names: tuple[str, ...]
    dtype: Any
    how: Any
    read: Callable[[Any, Any], Any]
    read_names: Callable[[Any, Any], Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns of all parts together."""
        return sum(self.n_rows), len(self.column_names)


def check_same_names(names: Sequence[str], others: Sequence[str], path: Path, first: Path) -> None:
    """Refuse a file that has other columns than the first.

    Parameters
    ----------
    names, others : sequence of str
        Columns of this file, and of the first.
    path, first : Path
        The two files.

    Raises
    ------
    MatrixError
        Names the file and the first column that differs.

    Examples
    --------
    >>> check_same_names(["a", "c"], ["a", "b"], Path("2.csv"), Path("1.csv"))
    Traceback (most recent call last):
    pyrocco.io.errors.MatrixError: 2.csv: column 2 is "c", but "b" in 1.csv: all files of a \
matrix need the same columns in the same order
    """
    if list(names) == list(others):
        return
    pairs = zip(names, others, strict=False)
    shared = min(len(names), len(others))
    at = next((j for j, (ours, theirs) in enumerate(pairs) if ours != theirs), shared)
    ours, theirs = (f'"{side[at]}"' if at < len(side) else "absent" for side in (names, others))
    raise MatrixError(
        f"{path}: column {at + 1} is {ours}, but {theirs} in {first}: all files of a matrix need "
        "the same columns in the same order"
    )


def text_array(names: Sequence[Any]) -> Any:
    """Names as an array of Python strings.

    Parameters
    ----------
    names : sequence
        Text, bytes, or anything that has a text.

    Returns
    -------
    ndarray of object

    Examples
    --------
    >>> text_array([b"TP53", " MYC ", 7])
    array(['TP53', 'MYC', '7'], dtype=object)
    """
    texts = [name.decode() if isinstance(name, bytes) else str(name) for name in names]
    return np.array([text.strip() for text in texts], dtype=object)
