"""What each column of a table is for: names of rows, numbers, or set aside.

The same rules serve text files, spreadsheets and Parquet. What is decided here is told to the
user as notes, since a wrong guess can only be noticed by a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyrocco.io.cells import is_missing, is_number

__all__ = ["Roles", "assign_roles", "column_kind", "list_some"]

NUMBER, TEXT, EMPTY = "number", "text", "empty"
NEITHER = "neither"  # lists and the like, of which neither names nor numbers can be made

# A first column of numbers under one of these headings counts the rows; it is not data.
INDEX_NAMES = {"id", "index", "name", "row", "rownames", "unnamed: 0", "__index_level_0__"}
# Headings of long tables whose rows and columns are known by numbers.
_ROW_HEADINGS = {"row", "i", "user", "userid", "user_id", "doc", "docid", "doc_id", "document"}
_ROW_HEADINGS |= {"gene", "cell", "barcode", "sample", "source", "from"}
_COLUMN_HEADINGS = {"column", "col", "j", "item", "itemid", "item_id", "movie", "movieid"}
_COLUMN_HEADINGS |= {"movie_id", "word", "wordid", "word_id", "term", "target", "to"}
_VALUE_HEADINGS = {"value", "x", "count", "counts", "n", "rating", "weight", "score"}
_VALUE_HEADINGS |= {"expression", "frequency", "freq", "tf"}


@dataclass(frozen=True)
class Roles:
    r"""What the columns of a table are for, by their position.

    Attributes
    ----------
    index : int or None
        Column of row names.
    numbers : tuple of int
        Columns of numbers.
    aside : tuple of int
        Columns that are not used.
    long : tuple of int or None
        Row, column and value of a long table; then the others are not read.

    Examples
    --------
    >>> roles = Roles(index=0, numbers=(2, 3), aside=(1,))
    >>> print(*roles.notes(("gene", "about", "liver", "heart")), sep="\n")
    The first column ("gene") holds the row names.
    Set aside, because it holds no numbers: "about".
    """

    index: int | None
    numbers: tuple[int, ...]
    aside: tuple[int, ...] = ()
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
        """Say in plain sentences what the columns are taken for."""
        if self.long:
            row, column, value = (_called(position, names) for position in self.long)
            lines = [f"A long table: rows from {row}, columns from {column}, values from {value}."]
        else:
            lines = [self._about_index(names)]
        if self.aside:
            them = "they hold" if len(self.aside) > 1 else "it holds"
            what = "not needed" if self.long else f"because {them} no numbers"
            listed = list_some([_called(position, names) for position in self.aside])
            lines.append(f"Set aside, {what}: {listed}.")
        return lines

    def _about_index(self, names: Sequence[str] | None) -> str:
        if self.index is None:
            return "There is no column of row names."
        which = "first column" if self.index == 0 else f"column {self.index + 1}"
        heading = f' ("{names[self.index]}")' if names and names[self.index] else ""
        return f"The {which}{heading} holds the row names."


def column_kind(cells: Sequence[str], decimal: str = ".") -> str:
    """Tell from some of its cells what a column holds.

    Parameters
    ----------
    cells : sequence of str
        Cells of one column.
    decimal : str
        The decimal sign.

    Returns
    -------
    str
        ``"number"`` where at least half of those that hold anything are numbers, ``"text"``,
        or ``"empty"``.

    Examples
    --------
    >>> column_kind(["1", "NA", "high"]), column_kind(["kinase", "-"]), column_kind(["", ""])
    ('number', 'text', 'empty')
    """
    filled = [cell for cell in cells if not is_missing(cell)]
    if not filled:
        return EMPTY
    numbers = sum(is_number(cell, decimal) for cell in filled)
    return NUMBER if 2 * numbers >= len(filled) else TEXT


def assign_roles(
    kinds: Sequence[str],
    names: Sequence[str] | None,
    repeats: Sequence[bool],
    index: int | None = None,
    layout: str = "auto",
) -> Roles:
    """Decide what each column is for.

    Parameters
    ----------
    kinds : sequence of str
        What each column holds, as `column_kind` says it, or ``"neither"``.
    names : sequence of str or None
        Headings, if any.
    repeats : sequence of bool
        Whether something occurs twice among the cells of a column.
    index : int, optional
        The column of row names, where it is known.
    layout : {"auto", "wide", "long"}
        How to take the table; ``"auto"`` guesses.

    Returns
    -------
    Roles

    Examples
    --------
    >>> assign_roles(["text", "number", "text", "number"], None, [False] * 4)
    Roles(index=0, numbers=(1, 3), aside=(2,), long=None)
    >>> assign_roles(["text", "text", "number"], None, [True, True, True]).long
    (0, 1, 2)
    """
    texts = [position for position, kind in enumerate(kinds) if kind == TEXT]
    if index is None:
        index = _index(texts, names, repeats)
    useless = {position for position, kind in enumerate(kinds) if kind in (TEXT, NEITHER)}
    aside = tuple(sorted(useless - {index}))
    numbers = tuple(sorted(set(range(len(kinds))) - useless - {index}))
    wide = Roles(index, numbers, aside)
    long = None if layout == "wide" else _long(wide, names, repeats)
    if layout == "long" and long is None:
        long = _first_three(len(kinds), names)
    if long is None:
        return wide
    rest = tuple(position for position in range(len(kinds)) if position not in long)
    return Roles(None, (), rest, long)


def list_some(things: Sequence[str], most: int = 5) -> str:
    """Name the first few of many things.

    Parameters
    ----------
    things : sequence of str
        The names.
    most : int
        How many to name.

    Returns
    -------
    str

    Examples
    --------
    >>> list_some(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(things[:most])
    return shown if len(things) <= most else f"{shown} and {len(things) - most} more"


def _index(texts: list[int], names: Sequence[str] | None, repeats: Sequence[bool]) -> int | None:
    if 0 in texts:
        return 0
    if names and len(names) > 1 and names[0].strip().lower() in INDEX_NAMES:
        return 0
    return next((position for position in texts if not repeats[position]), None)


def _long(
    wide: Roles, names: Sequence[str] | None, repeats: Sequence[bool]
) -> tuple[int, int, int] | None:
    """A long table: two columns of names, one of numbers, or headings that say so."""
    columns = [*([] if wide.index is None else [wide.index]), *wide.aside]
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
    """The first three columns, after the unnamed one in which programs count the rows."""
    first = 1 if names and width > 3 and not names[0].strip() else 0
    return (first, first + 1, first + 2) if width >= 3 else None


def _called(position: int, names: Sequence[str] | None) -> str:
    heading = " ".join(names[position].split()) if names else ""
    return f'"{heading}"' if heading else f"column {position + 1}"
