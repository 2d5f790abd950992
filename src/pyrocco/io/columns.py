"""Finding out from the first records of a table what its columns are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pyrocco.io.cells import is_missing, is_number, to_number
from pyrocco.io.roles import EMPTY, TEXT, Roles, assign_roles, column_kind

__all__ = ["SAMPLE_LINES", "Columns", "detect_columns"]

SAMPLE_LINES = 50
# So that a table of 20,000 genes is not looked at for seconds.
_SAMPLE_CELLS = 200_000

Record = Sequence[str]


@dataclass(frozen=True)
class Columns:
    """Headings of the columns of a table, and what the columns are for.

    Attributes
    ----------
    width : int
        Cells on every line below the headings.
    header : tuple of str or None
        One heading per column; None when the first line is already numbers. A header of
        another length than `width` is a mistake in the file.
    roles : Roles
        What the columns are for.

    Examples
    --------
    >>> columns = Columns(3, ("gene", "liver", "heart"), Roles(0, (1, 2)))
    >>> columns.names
    ('liver', 'heart')
    """

    width: int
    header: tuple[str, ...] | None
    roles: Roles

    @property
    def names(self) -> tuple[str, ...] | None:
        """Headings of the columns of numbers."""
        if self.header is None:
            return None
        return tuple(self.header[position] for position in self.roles.numbers)

    def notes(self) -> list[str]:
        """Say in plain sentences what was detected."""
        header = (
            "There is no line of column names"
            if self.header is None
            else "The first line holds the column names"
        )
        which = "every line" if self.header is None else "every other line"
        rows = "" if self.roles.long else f"; {which} is a row of the matrix"
        return [f"{header}{rows}.", *self.roles.notes(self.header)]


def detect_columns(records: Sequence[Record], decimal: str = ".", how: str = "auto") -> Columns:
    """Detect headings, row names and columns of text.

    Parameters
    ----------
    records : sequence of sequences of str
        The first lines of the table.
    decimal : str
        The decimal sign.
    how : {"auto", "wide", "long"}
        Whether the table is one row per line or one cell per line.

    Returns
    -------
    Columns

    Examples
    --------
    >>> detect_columns([["gene", "about", "liver"], ["TP53", "tumour", "5"], ["MYC", "", "7"]])
    Columns(width=3, header=('gene', 'about', 'liver'), roles=Roles(index=0, numbers=(2,), ...
    """
    first, *body = records
    width = _usual_width(first, body)
    most = max(10, _SAMPLE_CELLS // width)
    sample = [record for record in body[:most] if len(record) == width]
    kinds = _kinds(first, sample, width, decimal)
    header, index = _header(first, sample, kinds, decimal)
    names = header if header is not None and len(header) == width else None
    if header is None and len(first) == width:
        sample = [first, *sample]
    repeats = [len(set(cells)) < len(cells) for cells in zip(*sample, strict=True)]
    roles = assign_roles(kinds, names, repeats or [False] * width, index, how)
    return Columns(width, header, roles)


def _usual_width(first: Record, body: Sequence[Record]) -> int:
    """Cells on most lines below the first; where lines are at odds the first one decides."""
    widths = Counter(map(len, body)) or Counter([len(first)])
    return max(widths, key=lambda width: (widths[width], width == len(first)))


def _kinds(first: Record, sample: Sequence[Record], width: int, decimal: str) -> list[str]:
    if sample:
        return [column_kind(cells, decimal) for cells in zip(*sample, strict=True)]
    if 2 * _texts(first, decimal) > width:  # a line of headings and nothing below
        return [EMPTY] * width
    return [column_kind([cell], decimal) for cell in first]


def _header(
    first: Record, sample: Sequence[Record], kinds: Sequence[str], decimal: str
) -> tuple[tuple[str, ...] | None, int | None]:
    """The headings, if any, and the column of row names where the headings tell."""
    stripped = tuple(cell.strip() for cell in first)
    if len(first) == len(kinds) - 1 and _texts(first, decimal):
        return ("", *stripped), 0  # the way R writes a table: no heading above the row names
    if len(first) > 1 and not stripped[0]:
        return stripped, 0  # an unnamed corner
    measured = [j for j, kind in enumerate(kinds[: len(first)]) if kind != TEXT]
    cells = [first[j] for j in measured]
    if 2 * _texts(cells, decimal) > len(cells):
        return stripped, None
    others = [[record[j] for j in measured] for record in sample]
    if kinds[0] == TEXT and _counts_upwards(cells, others, decimal):
        return stripped, None
    return None, None


def _texts(cells: Record, decimal: str) -> int:
    return sum(not is_missing(cell) and not is_number(cell, decimal) for cell in cells)


def _counts_upwards(cells: Record, others: Sequence[Record], decimal: str) -> bool:
    """Whether a first line of numbers is a heading: years, doses, time points.

    They rise from left to right, which three or more measured values seldom do, unless they do
    so on every line.
    """

    def rises(record: Record) -> bool:
        if not all(is_number(cell, decimal) for cell in record):
            return False
        values = [to_number(cell, decimal) for cell in record]
        return all(a < b for a, b in pairwise(values))

    return len(cells) >= 3 and rises(cells) and 2 * sum(map(rises, others)) < len(others)
