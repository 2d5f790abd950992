"""What the columns of a table hold, and what each is used for: row names, numbers or nothing.

The same rules serve text files, Excel and Parquet. The decisions are reported to the user as
notes, since only a person can notice a wrong guess.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pyrocco.io.errors import list_some
from pyrocco.io.named_matrix import INFINITE

__all__ = [
    "MISSING",
    "NEITHER",
    "NUMBER",
    "SAMPLE_LINES",
    "TEXT",
    "Columns",
    "Roles",
    "assign_roles",
    "cell_problem",
    "column_kind",
    "detect_columns",
    "is_missing",
    "is_number",
    "row_name_column",
    "to_number",
]

# What a column holds. Of lists and the like, neither names nor numbers can be made.
NUMBER, TEXT, EMPTY, NEITHER = "number", "text", "empty", "neither"

SAMPLE_LINES = 50
# Fewer lines are examined in wide tables, so that 20,000 columns do not take seconds.
_SAMPLE_CELLS = 200_000

_MISSING_WORDS = ("na", "n/a", "#n/a", "nan", "null", "none")
_MISSING_SIGNS = ("", "-", "--", ".", "?")
_MISSING_LOWER = frozenset((*_MISSING_SIGNS, *_MISSING_WORDS))
# Fast readers compare letter by letter, so every spelling is listed.
MISSING = (
    *_MISSING_SIGNS,
    *(form(word) for word in _MISSING_WORDS for form in (str, str.upper, str.title)),
    "NaN",
)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}([ ,'\u00a0]\d{3})+(\.\d*)?")

# A first column of numbers with one of these headings holds row names.
_INDEX_HEADINGS = {"id", "index", "name", "row", "rownames", "unnamed: 0", "__index_level_0__"}
# Headings of long tables whose rows and columns are identified by numbers.
_ROW_HEADINGS = {"row", "i", "user", "userid", "user_id", "doc", "docid", "doc_id", "document"}
_ROW_HEADINGS |= {"gene", "cell", "barcode", "sample", "source", "from"}
_COLUMN_HEADINGS = {"column", "col", "j", "item", "itemid", "item_id", "movie", "movieid"}
_COLUMN_HEADINGS |= {"movie_id", "word", "wordid", "word_id", "term", "target", "to"}
_VALUE_HEADINGS = {"value", "x", "count", "counts", "n", "rating", "weight", "score"}
_VALUE_HEADINGS |= {"expression", "frequency", "freq", "tf"}

Record = Sequence[str]


def is_missing(cell: str) -> bool:
    """Whether a cell is empty or says that there is no value, such as ``NA``."""
    return cell.strip().lower() in _MISSING_LOWER


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell holds a number, finite or not."""
    if "_" in cell or is_missing(cell):  # Python accepts 1_000 as a number; tables do not use it
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
    """Return the value of a cell that holds a number, or NaN if it is missing."""
    return math.nan if is_missing(cell) else float(cell.replace(decimal, ".", 1))


def cell_problem(cell: str, decimal: str = ".") -> str:
    """Say what is wrong with a cell that should hold a number, or return an empty string."""
    if is_missing(cell):
        return ""
    if not is_number(cell, decimal):
        if _THOUSANDS.fullmatch(cell.strip()):
            return f'holds "{cell}": write numbers without thousands separators'
        text = " ".join(cell.split())  # the message is one line
        return f'holds the text "{text if len(text) <= 40 else text[:37] + "..."}", not a number'
    return INFINITE if math.isinf(to_number(cell, decimal)) else ""


def column_kind(cells: Sequence[str], decimal: str = ".") -> str:
    """Return what a column holds, judged by some of its cells.

    It holds numbers if at least half of the cells that are not missing are numbers.
    """
    filled = [cell for cell in cells if not is_missing(cell)]
    if not filled:
        return EMPTY
    numbers = sum(is_number(cell, decimal) for cell in filled)
    return NUMBER if 2 * numbers >= len(filled) else TEXT


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are used for, by position."""

    index: int | None  # row names
    numbers: tuple[int, ...]
    ignored: tuple[int, ...] = ()
    # Row, column and value of a long table; `index` is then None and `numbers` empty.
    long: tuple[int, int, int] | None = None

    @property
    def text_columns(self) -> tuple[int, ...]:
        """Columns of names that are read."""
        if self.long:
            return self.long[:2]
        return () if self.index is None else (self.index,)

    @property
    def number_columns(self) -> tuple[int, ...]:
        """Columns of numbers that are read."""
        return self.long[2:] if self.long else self.numbers

    def notes(self, names: Sequence[str] | None) -> list[str]:
        """Return sentences that say what the columns are used for."""
        if self.long:
            row, column, value = (_called(position, names) for position in self.long)
            lines = [f"A long table: rows from {row}, columns from {column}, values from {value}."]
        else:
            lines = [self._about_index(names)]
        if self.ignored:
            them, verb = ("they", "hold") if len(self.ignored) > 1 else ("it", "holds")
            reason = "not needed" if self.long else f"because {them} {verb} no numbers"
            listed = list_some([_called(position, names) for position in self.ignored])
            lines.append(f"Ignored, {reason}: {listed}.")
        return lines

    def _about_index(self, names: Sequence[str] | None) -> str:
        if self.index is None:
            return "There is no column of row names."
        which = "first column" if self.index == 0 else f"column {self.index + 1}"
        heading = f' ("{names[self.index]}")' if names and names[self.index] else ""
        return f"The {which}{heading} holds the row names."


def assign_roles(
    kinds: Sequence[str],
    names: Sequence[str] | None,
    repeats: Sequence[bool],
    index: int | None = None,
    layout: str = "auto",
) -> Roles:
    """Decide what each column is used for.

    `kinds` are those of `column_kind`, or ``"neither"``; `repeats` says whether a column holds
    the same cell twice; `index` is the column of row names if it is known.
    """
    texts = [position for position, kind in enumerate(kinds) if kind == TEXT]
    if index is None:
        index = row_name_column(texts, names, repeats)
    useless = {position for position, kind in enumerate(kinds) if kind in (TEXT, NEITHER)}
    ignored = tuple(sorted(useless - {index}))
    numbers = tuple(sorted(set(range(len(kinds))) - useless - {index}))
    wide = Roles(index, numbers, ignored)
    long = None if layout == "wide" else _long(wide, names, repeats)
    if layout == "long" and long is None:
        long = _first_three(len(kinds), names)
    if long is None:
        return wide
    rest = tuple(position for position in range(len(kinds)) if position not in long)
    return Roles(None, (), rest, long)


def row_name_column(
    texts: Sequence[int], names: Sequence[str] | None, repeats: Sequence[bool]
) -> int | None:
    """Return the column of row names, given the columns of texts; None if there is none."""
    if 0 in texts:
        return 0
    if names and len(names) > 1 and names[0].strip().lower() in _INDEX_HEADINGS:
        return 0
    return next((position for position in texts if not repeats[position]), None)


def _long(
    wide: Roles, names: Sequence[str] | None, repeats: Sequence[bool]
) -> tuple[int, int, int] | None:
    """Recognise a long table by two columns of names and one of numbers, or by its headings."""
    columns = [*([] if wide.index is None else [wide.index]), *wide.ignored]
    if len(columns) == 2 and len(wide.numbers) == 1:
        row, column = sorted(columns)
        if repeats[row] or repeats[column]:
            return row, column, wide.numbers[0]
    if names and len(names) == 3:
        headings = [name.strip().lower() for name in names]
        sets = (_ROW_HEADINGS, _COLUMN_HEADINGS, _VALUE_HEADINGS)
        if all(heading in known for heading, known in zip(headings, sets, strict=True)):
            return 0, 1, 2
    return None


def _first_three(width: int, names: Sequence[str] | None) -> tuple[int, int, int] | None:
    """Return the first three columns, after an unnamed one in which a program counted the rows."""
    first = 1 if names and width > 3 and not names[0].strip() else 0
    return (first, first + 1, first + 2) if width >= 3 else None


def _called(position: int, names: Sequence[str] | None) -> str:
    heading = " ".join(names[position].split()) if names else ""
    return f'"{heading}"' if heading else f"column {position + 1}"


@dataclass(frozen=True)
class Columns:
    """Headings of the columns of a table, and what the columns are used for."""

    width: int  # number of cells on every line below the headings
    # None if the first line already holds numbers. A header whose length differs from `width` is
    # a mistake in the file.
    header: tuple[str, ...] | None
    roles: Roles

    @property
    def names(self) -> tuple[str, ...] | None:
        """Headings of the columns of numbers."""
        if self.header is None:
            return None
        return tuple(self.header[position] for position in self.roles.numbers)

    def notes(self) -> list[str]:
        """Return sentences that say what was detected."""
        if self.header is None:
            header, which = "There is no line of column names", "every line"
        else:
            header, which = "The first line holds the column names", "every other line"
        rows = "" if self.roles.long else f"; {which} is a row of the matrix"
        return [f"{header}{rows}.", *self.roles.notes(self.header)]


def detect_columns(records: Sequence[Record], decimal: str = ".", layout: str = "auto") -> Columns:
    """Detect headings, row names and columns of text in the first lines of a table."""
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
    roles = assign_roles(kinds, names, repeats or [False] * width, index, layout)
    return Columns(width, header, roles)


def _usual_width(first: Record, body: Sequence[Record]) -> int:
    """Return the number of cells on most lines below the first; the first line breaks ties."""
    widths = Counter(map(len, body)) or Counter([len(first)])
    return max(widths, key=lambda width: (widths[width], width == len(first)))


def _kinds(first: Record, sample: Sequence[Record], width: int, decimal: str) -> list[str]:
    if sample:
        return [column_kind(cells, decimal) for cells in zip(*sample, strict=True)]
    if 2 * _count_texts(first, decimal) > width:  # headings with nothing below
        return [EMPTY] * width
    return [column_kind([cell], decimal) for cell in first]


def _header(
    first: Record, sample: Sequence[Record], kinds: Sequence[str], decimal: str
) -> tuple[tuple[str, ...] | None, int | None]:
    """Return the headings, if any, and the column of row names if the headings show it."""
    stripped = tuple(cell.strip() for cell in first)
    if len(first) == len(kinds) - 1 and _count_texts(first, decimal):
        return ("", *stripped), 0  # as R writes a table: no heading above the row names
    if len(first) > 1 and not stripped[0]:
        return stripped, 0  # an unnamed corner
    measured = [j for j, kind in enumerate(kinds[: len(first)]) if kind != TEXT]
    cells = [first[j] for j in measured]
    if 2 * _count_texts(cells, decimal) > len(cells):
        return stripped, None
    others = [[record[j] for j in measured] for record in sample]
    if kinds[0] == TEXT and _counts_upwards(cells, others, decimal):
        return stripped, None
    return None, None


def _count_texts(cells: Record, decimal: str) -> int:
    return sum(not is_missing(cell) and not is_number(cell, decimal) for cell in cells)


def _counts_upwards(cells: Record, others: Sequence[Record], decimal: str) -> bool:
    """Whether a first line of numbers is a heading: years, doses, time points.

    Headings rise from left to right, which three or more measured values seldom do, unless
    they do so on every line.
    """

    def rises(record: Record) -> bool:
        if not all(is_number(cell, decimal) for cell in record):
            return False
        values = [to_number(cell, decimal) for cell in record]
        return all(a < b for a, b in pairwise(values))

    return len(cells) >= 3 and rises(cells) and 2 * sum(map(rises, others)) < len(others)
