"""Headings of the columns of a table, and what the columns are used for.

The same rules serve text files, Excel and Parquet. The decisions are reported to the user as
notes, since only a person can notice a wrong guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyrocco.io.cell_texts import POINT, NumberFormat
from pyrocco.io.column_facts import ColumnFacts
from pyrocco.io.headings import Record, find_header, kinds_below, usual_width
from pyrocco.io.roles import Roles, assign_roles
from pyrocco.io.table_options import TABLE_OPTIONS, TableOptions

__all__ = ["Columns", "detect_columns"]

# Fewer lines are examined in wide tables, so that 20,000 columns do not take seconds.
_SAMPLE_CELLS = 200_000


@dataclass(frozen=True)
class Columns:
    """Headings of the columns of a table, and what the columns are used for."""

    width: int  # number of cells on every line below the headings
    # None if the first line already holds numbers. A header whose length differs from `width` is
    # a mistake in the file.
    header: tuple[str, ...] | None
    roles: Roles
    has_numbers_as_names: bool = False
    is_asked: bool = False  # whether a person said that there are headings, or that there are none

    @property
    def names(self) -> tuple[str, ...] | None:
        """Headings of the columns of numbers."""
        if self.header is None:
            return None
        return tuple(self.header[position] for position in self.roles.numbers)

    @property
    def set_aside(self) -> tuple[str, ...]:
        """Names of the columns that are not part of the matrix."""
        return tuple(self.name_of(j) for j in self.roles.set_aside)

    def name_of(self, position: int) -> str:
        """Return the heading of a column, or a default name."""
        is_named = self.header is not None and len(self.header) == self.width
        return (self.header[position] if is_named and self.header else "") or f"column_{position}"

    def notes(self, below: bool = False) -> list[str]:
        """Return sentences that say what was detected; `below` if lines above are left out."""
        first, other = ("next", "line below it") if below else ("first", "other line")
        if self.header is None:
            header, which = "There is no line of column names", "every line"
        else:
            header, which = f"The {first} line holds the column names", f"every {other}"
        rows = "" if self.roles.long else f"; {which} is a row of the matrix"
        hint = ["If they are data, use --no-header."] if self.has_numbers_as_names else []
        if self.header is None and not self.is_asked:
            hint = ["If the first line holds them, use --header."]
        return [" ".join([f"{header}{rows}.", *hint]), *self.roles.notes(self.header)]


def detect_columns(
    records: Sequence[Record],
    form: NumberFormat = POINT,
    options: TableOptions = TABLE_OPTIONS,
) -> Columns:
    """Detect headings, row names and columns of text in the first lines of a table."""
    first, *body = records
    width = usual_width(records)
    most = max(10, _SAMPLE_CELLS // width)
    sample = [record for record in body[:most] if len(record) == width]
    kinds = kinds_below(first, sample, width, form)
    header, index = find_header(first, sample, kinds, form)
    is_guess = header is not None and index is None and options.header is None
    if options.header is not None and options.header != (header is not None):
        header = tuple(cell.strip() for cell in first) if options.header else None
        index = None
    names = header if header is not None and len(header) == width else None
    if header is None and len(first) == width:
        sample = [first, *sample]
    cells = list(zip(*sample, strict=True)) or [()] * width
    facts = [ColumnFacts(kind, column) for kind, column in zip(kinds, cells, strict=True)]
    roles = assign_roles(facts, names, index, options)
    are_numbers = is_guess and _are_numbers(names, roles)
    return Columns(width, header, roles, are_numbers, options.header is not None)


def _are_numbers(names: Sequence[str] | None, roles: Roles) -> bool:
    """Whether the names of the columns of the matrix are numbers."""
    found = [names[j] for j in roles.numbers] if names else []
    return bool(found) and all(name.replace(".", "", 1).isdecimal() for name in found)
