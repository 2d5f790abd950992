"""What the columns of a table are used for: row names, numbers, a long table, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pyrocco.io.cell_texts import ANSWER, NEITHER, NUMBER, TEXT
from pyrocco.io.column_facts import (
    ColumnFacts,
    find_coordinates,
    is_code,
    is_description,
    is_identifier,
    is_remark,
    numbers_rows,
)
from pyrocco.io.errors import ColumnChoiceError, list_some
from pyrocco.io.long_tables import find_long
from pyrocco.io.table_options import (
    NO_NAMES,
    TABLE_OPTIONS,
    TableOptions,
    find_column,
    find_columns,
)

__all__ = ["Aside", "Roles", "assign_roles", "row_name_column"]

# A first column with one of these headings holds row names, whatever its cells are.
_INDEX_HEADINGS = {"id", "index", "name", "row", "rownames", "unnamed: 0", "__index_level_0__"}
_COORDINATES = "positions in a genome"
_IDENTIFIERS = "identifiers"
_NUMBERS_ROWS = "row numbers"
_REMARKS = "remarks"


@dataclass(frozen=True)
class Aside:
    """Columns that may hold numbers but are not data, and what they hold."""

    what: str
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are used for, by position."""

    index: int | None  # row names
    numbers: tuple[int, ...]
    ignored: tuple[int, ...] = ()  # they hold no numbers, or a long table does not need them
    # Row, column and value of a long table; `index` is then None and `numbers` empty.
    long: tuple[int, int, int] | None = None
    asides: tuple[Aside, ...] = ()
    unchosen: tuple[int, ...] = ()  # not among the columns that are asked for
    unread: tuple[int, ...] = ()  # ignored as asked
    is_guess: bool = False  # whether the row names may be data
    has_rivals: bool = False  # whether another column of texts may hold the row names
    are_answers: bool = False  # whether `numbers` are yes or no

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

    @property
    def set_aside(self) -> tuple[int, ...]:
        """Columns that are not part of the matrix, without those that the user left out."""
        others = [j for aside in self.asides for j in aside.columns]
        return tuple(sorted({*self.ignored, *others, *self.unchosen}))

    def notes(self, names: Sequence[str] | None) -> list[str]:
        """Return sentences that say what the columns are used for."""
        lines = [self._about_long(names)] if self.long else [self._about_index(names)]
        lines += ["If every line is a row of the matrix, use --layout wide."] if self.long else []
        if self.index is not None and len(self.numbers) == 1 and len(self.ignored) == 1:
            lines.append("If every line is one cell (row, column, value), use --layout long.")
        if self.are_answers:
            lines.append("The cells are answers: 1 stands for yes, 0 for no.")
        if self.ignored:
            them, verb = ("they", "hold") if len(self.ignored) > 1 else ("it", "holds")
            reason = "not needed" if self.long else f"because {them} {verb} no numbers"
            lines.append(f"Ignored, {reason}: {_listed(self.ignored, names)}.")
        lines += [_about_aside(aside, names) for aside in self.asides]
        if self.unchosen:
            lines.append(f"Set aside, not in --columns: {_listed(self.unchosen, names)}.")
        if self.unread:
            lines.append(f"Not read, as asked: {_listed(self.unread, names)}.")
        return lines

    def _about_long(self, names: Sequence[str] | None) -> str:
        row, column, value = (_called(position, names) for position in self.long or ())
        return f"A long table: rows from {row}, columns from {column}, values from {value}."

    def _about_index(self, names: Sequence[str] | None) -> str:
        if self.index is None:
            hint = " If one holds them, use --row-names COLUMN." if len(self.numbers) > 1 else ""
            return f"There is no column of row names.{hint}"
        which = "The first column" if self.index == 0 else f"Column {self.index + 1}"
        heading = f' ("{names[self.index]}")' if names and names[self.index] else ""
        hint = " If it is data, use --row-names none." if self.is_guess else ""
        if self.has_rivals:
            hint = " If another column does, use --row-names COLUMN."
        return f"{which}{heading} holds the row names.{hint}"


def _about_aside(aside: Aside, names: Sequence[str] | None) -> str:
    pronoun = "they are" if len(aside.columns) > 1 else "it is"
    return (
        f"Set aside, because {'they hold' if len(aside.columns) > 1 else 'it holds'} "
        f"{aside.what}: {_listed(aside.columns, names)}. If {pronoun} data, name all columns of "
        "data with --columns."
    )


def _listed(positions: Sequence[int], names: Sequence[str] | None) -> str:
    return list_some([_called(position, names) for position in positions])


def _called(position: int, names: Sequence[str] | None) -> str:
    heading = " ".join(names[position].split()) if names else ""
    return f'"{heading}"' if heading else f"column {position + 1}"


@dataclass(frozen=True)
class _Asked:
    """The columns that a person names."""

    row_names: int | None
    has_no_names: bool
    chosen: tuple[int, ...] | None  # None for all
    unread: tuple[int, ...]

    @classmethod
    def of(cls, options: TableOptions, names: Sequence[str] | None, width: int) -> _Asked:
        """Find the columns, or raise a `ColumnChoiceError`."""
        has_none = str(options.row_names).strip().lower() == NO_NAMES
        has_none = has_none and options.row_names is not None
        index = None
        if options.row_names is not None and not has_none:
            index = find_column(options.row_names, names, width, "--row-names")
        unread = find_columns(options.ignore, names, width, "--ignore")
        chosen = find_columns(options.columns, names, width, "--columns")
        kept = tuple(j for j in chosen if j not in unread and j != index)
        if (chosen and not kept) or index in unread:
            raise ColumnChoiceError("--ignore names columns that other options need")
        return cls(index, has_none, kept if chosen else None, unread)

    def candidates(self, width: int) -> list[int]:
        """Return the columns that may be data or hold names."""
        return [j for j in range(width) if j not in self.unread]


def assign_roles(
    facts: Sequence[ColumnFacts],
    names: Sequence[str] | None,
    index: int | None = None,
    options: TableOptions = TABLE_OPTIONS,
) -> Roles:
    """Decide what each column is used for.

    `index` is the column of row names if the file says so.
    """
    width = len(facts)
    asked = _Asked.of(options, names, width)
    candidates = asked.candidates(width)
    long = _long(facts, names, asked, options)
    if long is not None:
        rest = tuple(j for j in candidates if j not in long)
        return Roles(None, (), rest, long, unread=asked.unread)
    index, is_guess = _row_names(facts, names, index, asked)
    others = [j for j in candidates if j != index]
    are_answers = _are_answers(facts, index, others)
    asides = _asides(facts, names, [j for j in others if j not in (asked.chosen or ())])
    useless = {j for aside in asides for j in aside.columns}
    texts = (NEITHER, TEXT) if are_answers else (NEITHER, TEXT, ANSWER)
    ignored = tuple(j for j in others if facts[j].kind in texts and j not in useless)
    numbers = tuple(j for j in others if j not in useless and j not in ignored)
    is_free = asked.row_names is None and index is not None and facts[index].kind == TEXT
    has_rivals = is_free and any(facts[j].kind == TEXT for j in ignored)
    roles = Roles(index, numbers, ignored, None, asides, (), asked.unread, is_guess, has_rivals)
    roles = replace(roles, are_answers=are_answers)
    return roles if asked.chosen is None else _with_chosen(roles, asked.chosen)


def _with_chosen(roles: Roles, chosen: tuple[int, ...]) -> Roles:
    """Leave only the chosen columns among the numbers."""
    unchosen = tuple(j for j in roles.numbers if j not in chosen)
    numbers = tuple(j for j in chosen if j in roles.numbers)
    return replace(roles, numbers=numbers, unchosen=unchosen)


def _long(
    facts: Sequence[ColumnFacts],
    names: Sequence[str] | None,
    asked: _Asked,
    options: TableOptions,
) -> tuple[int, int, int] | None:
    """Return row, column and value of a long table, as asked or as its columns show."""
    is_settled = asked.row_names is not None or asked.has_no_names
    if options.layout == "wide" or (options.layout == "auto" and is_settled):
        return None
    if options.layout == "long" and is_settled:
        raise ColumnChoiceError(
            "--row-names has no effect on a long table: name row, column and value with --columns"
        )
    if options.layout == "long" and asked.chosen is not None:
        if len(asked.chosen) != 3:
            raise ColumnChoiceError(
                f"--columns: a long table needs three columns, in the order row, column, value; "
                f"got {len(asked.chosen)}"
            )
        row, column, value = asked.chosen
        return row, column, value
    columns = asked.candidates(len(facts)) if asked.chosen is None else list(asked.chosen)
    return find_long(facts, names, columns, is_sure=options.layout == "long")


def _row_names(
    facts: Sequence[ColumnFacts], names: Sequence[str] | None, index: int | None, asked: _Asked
) -> tuple[int | None, bool]:
    """Return the column of row names, and whether it holds numbers that may be data."""
    if asked.row_names is not None or asked.has_no_names:
        return asked.row_names, False
    taken = {*asked.unread, *(asked.chosen or ())}
    if index is None or index in taken:
        barred = {*taken, *find_coordinates(names)}
        free = [j for j in range(len(facts)) if j not in barred]
        index = row_name_column(facts, names, free)
    return index, index is not None and facts[index].kind == NUMBER


def row_name_column(
    facts: Sequence[ColumnFacts], names: Sequence[str] | None, columns: Sequence[int]
) -> int | None:
    """Return which of the columns holds the row names; None if there is none."""
    headings = list(names or [""] * len(facts))
    texts = [j for j in columns if facts[j].kind == TEXT]
    if 0 in texts:
        names_lines = (j for j in texts if facts[0].is_category and facts[j].names_lines)
        return next((j for j in names_lines if not is_remark(facts[j], headings[j])), 0)
    is_first = 0 in columns and len(facts) > 1
    named = names is not None and headings[0].strip().lower() in _INDEX_HEADINGS
    if is_first and (named or is_identifier(facts[0], headings[0], is_first=True)):
        return 0
    unique = (j for j in texts if not facts[j].repeats)
    found = next(unique, None)
    if found is None and is_first and (numbers_rows(facts) or (not names and is_code(facts))):
        return 0
    if found is None:
        ids = (j for j in columns if j and is_identifier(facts[j], headings[j], is_first=False))
        found = next(ids, None)
    return found


def _are_answers(facts: Sequence[ColumnFacts], index: int | None, others: Sequence[int]) -> bool:
    """Whether all columns beside the row names are yes or no, so that they are data."""
    answers = [j for j in others if facts[j].kind == ANSWER]
    texts = [j for j in others if facts[j].kind in (TEXT, NEITHER, NUMBER)]
    return len(answers) > 1 and not texts and (index is None or not facts[index].repeats)


def _asides(
    facts: Sequence[ColumnFacts], names: Sequence[str] | None, columns: Collection[int]
) -> tuple[Aside, ...]:
    """Return columns that are not data although they may hold numbers."""
    headings = list(names or [""] * len(facts))
    places = tuple(j for j in find_coordinates(names) if j in columns)
    rest = [j for j in columns if j not in places]
    numbers = (0,) if 0 in rest and numbers_rows(facts) else ()
    identifiers = tuple(
        j for j in rest if j and is_identifier(facts[j], headings[j], is_first=False)
    )
    remarks = tuple(j for j in rest if is_description(headings[j]) and facts[j].kind != TEXT)
    found = {
        _COORDINATES: places,
        _NUMBERS_ROWS: numbers,
        _IDENTIFIERS: identifiers,
        _REMARKS: remarks,
    }
    return tuple(Aside(what, where) for what, where in found.items() if where)
