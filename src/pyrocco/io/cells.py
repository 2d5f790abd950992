"""What one cell of a table says: a number, nothing, or text."""

from __future__ import annotations

import math

__all__ = ["MISSING", "is_missing", "is_number", "to_number"]

_WORDS = ("na", "n/a", "#n/a", "nan", "null", "none")
_SIGNS = ("", "-", "--", ".", "?")
_NOTHING = frozenset((*_SIGNS, *_WORDS))
# Fast readers compare letter by letter, so the ways of writing a word are listed.
MISSING = (
    *_SIGNS,
    *(form(word) for word in _WORDS for form in (str, str.upper, str.title)),
    "NaN",
)


def is_missing(cell: str) -> bool:
    """Whether a cell is empty or says that there is no value.

    Parameters
    ----------
    cell : str
        Text of the cell.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_missing("NA"), is_missing(" "), is_missing("0")
    (True, True, False)
    """
    return cell.strip().lower() in _NOTHING


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell holds a number, finite or not.

    Parameters
    ----------
    cell : str
        Text of the cell.
    decimal : str
        The decimal sign, a point or a comma.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_number("1,5", ","), is_number("1,5", "."), is_number("-2e3"), is_number("nan")
    (True, False, True, False)
    """
    if "_" in cell or is_missing(cell):  # Python reads 1_000 as a number; tables do not write it
        return False
    if decimal == ",":
        if "." in cell:
            return False
        cell = cell.replace(",", ".", 1)
    try:
        float(cell)
    except ValueError:
        return False
    return True


def to_number(cell: str, decimal: str = ".") -> float:
    """Value of a cell that holds a number or nothing.

    Parameters
    ----------
    cell : str
        Text of the cell.
    decimal : str
        The decimal sign, a point or a comma.

    Returns
    -------
    float
        NaN where there is no value.

    Examples
    --------
    >>> to_number("1,5", ","), to_number("NA")
    (1.5, nan)
    """
    return math.nan if is_missing(cell) else float(cell.replace(decimal, ".", 1))
