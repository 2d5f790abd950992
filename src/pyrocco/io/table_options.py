"""How a person asks for a table to be read, and which columns the words of a person mean."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from pyrocco.io.errors import ColumnChoiceError, list_some

__all__ = ["NO_NAMES", "TABLE_OPTIONS", "TableOptions", "find_column", "find_columns"]

# The value of `row_names` if no column holds the names of rows.
NO_NAMES = "none"
_WILDCARDS = re.compile(r"[*?\[]")
_RANGE = re.compile(r"(.+?)\s*[:-]\s*(.+)")

Choice = str | int


@dataclass(frozen=True)
class TableOptions:
    """How a person asks for a table to be read; the defaults leave it to the reader.

    Attributes
    ----------
    layout : {"auto", "wide", "long"}
        Whether a line is a row of the matrix, or a single cell (row, column, value).
    absent : {"zero", "missing"} or None
        How to treat pairs that a long table does not list.
    row_names : str, int or None
        Column of the row names; "none" if no column holds them.
    columns, ignore : tuple of str or int
        Columns of the matrix, and columns that are not read: names, positions from 1, ranges and
        patterns.
    skip_rows : int or None
        Lines before the table.
    header : bool or None
        Whether the first line of the table holds the names of columns.
    decimal : {".", ","} or None
        Decimal sign of a text file.
    keep_totals : bool
        Whether a row or column that is the sum of the others is kept.
    """

    layout: str = "auto"
    absent: str | None = None
    row_names: Choice | None = None
    columns: tuple[Choice, ...] = ()
    ignore: tuple[Choice, ...] = ()
    skip_rows: int | None = None
    header: bool | None = None
    decimal: str | None = None
    keep_totals: bool = False

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the options that are not left to the reader."""
        return tuple(
            field.name for field in fields(self) if getattr(self, field.name) != field.default
        )


TABLE_OPTIONS = TableOptions()


def find_column(wanted: Choice, names: Sequence[str] | None, width: int, option: str) -> int:
    """Return the position of a column that is given by its name or its position from 1."""
    found = _by_name(str(wanted), names or ())
    if found is None and str(wanted).strip().isdecimal():
        found = int(wanted) - 1
        if not 0 <= found < width:
            raise ColumnChoiceError(
                f"{option}: there is no column {wanted}: the table has {width} columns, "
                "which are counted from 1"
            )
    if found is None:
        raise ColumnChoiceError(
            f'{option}: no column is called "{wanted}"{_similar(wanted, names)}'
        )
    return found


def find_columns(
    wanted: Sequence[Choice], names: Sequence[str] | None, width: int, option: str
) -> tuple[int, ...]:
    """Return the positions of columns, in the order in which they are asked for.

    Each is given by its name, its position from 1, a range of either (``a:c``, ``2-5``) or a
    pattern (``day*``). A text may list several with commas between them.
    """
    found: list[int] = []
    for words in wanted:
        for word in _split(words, names):
            found += _positions(word, names, width, option)
    return tuple(dict.fromkeys(found))


def _split(words: Choice, names: Sequence[str] | None) -> list[Choice]:
    """Split a list of columns at its commas, unless it is the name of one column."""
    if isinstance(words, int) or _by_name(words, names or ()) is not None:
        return [words]
    return [word.strip() for word in words.split(",") if word.strip()]


def _positions(
    word: Choice, names: Sequence[str] | None, width: int, option: str
) -> Sequence[int]:
    if isinstance(word, int) or _by_name(word, names or ()) is not None:
        return [find_column(word, names, width, option)]
    if _WILDCARDS.search(word) and names:
        found = [j for j, name in enumerate(names) if fnmatch.fnmatchcase(name, word)]
        if not found:
            raise ColumnChoiceError(
                f'{option}: no name of a column matches "{word}"{_similar("", names)}'
            )
        return found
    ends = _RANGE.fullmatch(word)
    if ends is None:
        return [find_column(word, names, width, option)]
    try:
        start, stop = (find_column(end, names, width, option) for end in ends.groups())
    except ColumnChoiceError:
        if ":" in word or all(end.isdecimal() for end in ends.groups()):
            raise
        return [find_column(word, names, width, option)]  # a wrong name with a hyphen
    if stop < start:
        raise ColumnChoiceError(f'{option}: the range "{word}" ends before it begins')
    return range(start, stop + 1)


def _by_name(word: str, names: Sequence[str]) -> int | None:
    """Return the first column of a name; capitals and small letters differ only if they must."""
    word = word.strip()
    if word in names:
        return list(names).index(word)
    alike = [j for j, name in enumerate(names) if name.casefold() == word.casefold()]
    return alike[0] if len(alike) == 1 else None


def _similar(word: Choice, names: Sequence[str] | None) -> str:
    """Name the columns that may be meant."""
    named = [" ".join(name.split()) for name in names or () if name]
    if not named:
        return ": the columns have no names, so give positions, counted from 1"
    lower = {name.casefold(): name for name in reversed(named)}
    near = difflib.get_close_matches(str(word).casefold(), lower, n=3, cutoff=0.5)
    if near:
        return f"; similar names: {', '.join(lower[name] for name in near)}"
    return f"; the columns are: {list_some(named, 8)}"
