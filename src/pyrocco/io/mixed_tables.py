"""Read a table with texts and numbers, to encode its columns as numbers.

`read_matrix` uses the columns of numbers alone. Here all columns are read, of text files, Excel
and Parquet. The first rows of a file tell whether it is such a table.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from pyrocco._typing import Floats
from pyrocco.cells.encoding import is_mixed
from pyrocco.io.arrow import load_frame, parquet_head
from pyrocco.io.cell_texts import (
    NEITHER,
    NUMBER,
    POINT,
    TEXT,
    NumberFormat,
    is_missing,
    is_number,
    to_number,
)
from pyrocco.io.column_facts import ColumnFacts
from pyrocco.io.columns import Columns, detect_columns
from pyrocco.io.errors import read_errors
from pyrocco.io.excel import load_sheet_texts
from pyrocco.io.headings import SAMPLE_LINES
from pyrocco.io.named_matrix import unique_names
from pyrocco.io.read import check_effect, check_file, file_format
from pyrocco.io.roles import Aside, Roles, row_name_column
from pyrocco.io.sniff import Layout, detect_layout, iter_records
from pyrocco.io.table_options import TABLE_OPTIONS, TableOptions, find_columns
from pyrocco.io.text_tables import load_texts

__all__ = ["MixedTable", "TableHead", "is_mixed_table", "look_at_table", "read_mixed_table"]

# Among texts this is an answer, not a missing value: allergies, none.
_ANSWER = "none"
# A table with a smaller share of columns of texts is not one of mixed types.
_LEAST_TEXTS = 0.25

Record = Sequence[str]


@dataclass(frozen=True)
class MixedTable:
    """A table with texts and numbers.

    Attributes
    ----------
    frame : DataFrame
        The columns: numbers with NaN, or texts with None, for missing values.
    row_names : tuple of str, or None
        None if no column holds names of rows.
    notes : tuple of str
        Sentences about what was detected in the file.
    set_aside : tuple of str
        Columns of identifiers and the like, which are not in `frame`.
    """

    frame: pd.DataFrame
    row_names: tuple[str, ...] | None
    notes: tuple[str, ...]
    set_aside: tuple[str, ...] = ()


class TableHead(Protocol):
    """What the first rows of a file say about its columns."""

    @property
    def columns(self) -> Columns:
        """What the columns are used for if only numbers are read."""

    def sample(self) -> pd.DataFrame:
        """Return the first rows."""

    def load(self) -> pd.DataFrame:
        """Return all rows; an index holds the names of rows."""

    def notes(self, columns: Columns) -> list[str]:
        """Return sentences that say what was detected."""


@dataclass(frozen=True)
class TextHead:
    """The first rows of a text file."""

    path: Path
    layout: Layout

    @property
    def columns(self) -> Columns:
        """What the columns are used for if only numbers are read."""
        return self.layout.columns

    def sample(self) -> pd.DataFrame:
        """Return the first rows."""
        records = _first_records(self.path, self.layout)
        even = [record for record in records if len(record) == self.columns.width]
        return _frame_of_records(even, self.columns, self.layout.numbers)

    def load(self) -> pd.DataFrame:
        """Return all rows."""
        return _typed(load_texts(self.path, self.layout), self.columns, self.layout.numbers)

    def notes(self, columns: Columns) -> list[str]:
        """Return sentences that say what was detected."""
        return replace(self.layout, columns=columns).notes()


@dataclass(frozen=True)
class ExcelHead:
    """The rows of a sheet of an Excel file."""

    columns: Columns
    records: Sequence[Record]
    about: Sequence[str]

    def sample(self) -> pd.DataFrame:
        """Return the first rows."""
        return _frame_of_records(self.records[:SAMPLE_LINES], self.columns)

    def load(self) -> pd.DataFrame:
        """Return all rows."""
        return _frame_of_records(self.records, self.columns)

    def notes(self, columns: Columns) -> list[str]:
        """Return sentences that say what was detected."""
        return [*self.about, *columns.notes()]


@dataclass(frozen=True)
class ParquetHead:
    """The first rows of a Parquet file."""

    path: Path
    columns: Columns
    head: pd.DataFrame

    def sample(self) -> pd.DataFrame:
        """Return the first rows."""
        return self.head

    def load(self) -> pd.DataFrame:
        """Return all rows."""
        return load_frame(self.path)

    def notes(self, columns: Columns) -> list[str]:
        """Return sentences that say what was detected."""
        about = "A Parquet file; its rows are the rows of the matrix."
        return [about, *columns.roles.notes(columns.header)]


def look_at_table(
    path: str | os.PathLike[str],
    options: TableOptions = TABLE_OPTIONS,
    sheet: str | int | None = None,
    known: Collection[str] = (),
) -> TableHead | None:
    """Look at the first rows of a file; None if its format is not one of tables.

    `known` are names of columns that the table should have, if that is known.
    """
    path = Path(path)
    check_file(path)
    if "layout" not in file_format(path).options:
        return None
    check_effect(path, options.given)
    with read_errors(path):
        if path.suffix.lower() == ".parquet":
            return ParquetHead(path, *parquet_head(path, options))
        if "sheet" in file_format(path).options:
            return _look_at_excel(path, options, sheet, known)
        return _look_at_text(path, options, known)


def _look_at_text(path: Path, options: TableOptions, known: Collection[str]) -> TextHead:
    layout = detect_layout(path, options)
    if _shows_headings(layout.columns) or options.header is not None:
        return TextHead(path, layout)
    columns = _with_headings(layout.columns, _first_records(path, layout), known)
    return TextHead(path, replace(layout, columns=columns))


def _first_records(path: Path, layout: Layout) -> list[Record]:
    return [record for _, record in islice(iter_records(path, layout), SAMPLE_LINES)]


def _look_at_excel(
    path: Path, options: TableOptions, sheet: str | int | None, known: Collection[str]
) -> ExcelHead:
    records, about = load_sheet_texts(path, sheet, options)
    head = records[:SAMPLE_LINES]
    columns = detect_columns(head, options=options)
    columns = columns if options.header is not None else _with_headings(columns, head, known)
    return ExcelHead(columns, records[columns.header is not None :], about)


def _shows_headings(columns: Columns) -> bool:
    """Whether numbers below the first line show whether it holds headings."""
    roles = columns.roles
    return bool(columns.header is not None or roles.numbers or roles.long)


def _with_headings(columns: Columns, records: Sequence[Record], known: Collection[str]) -> Columns:
    """Recognise headings of a table of texts alone, which no number below them shows."""
    if _shows_headings(columns):
        return columns
    first, *body = records
    cells = tuple(cell.strip() for cell in first)
    below = [{record[j].strip() for record in body if j < len(record)} for j in range(len(cells))]
    n_new = sum(cell not in others for cell, others in zip(cells, below, strict=True))
    are_new = len(set(cells)) == len(cells) and 2 * n_new > len(cells)
    are_headings = set(known) <= set(cells) if known else are_new
    return replace(columns, header=cells) if are_headings else columns


def is_mixed_table(
    head: TableHead, options: TableOptions = TABLE_OPTIONS, annotations: Sequence[str] = ()
) -> bool:
    """Whether so many columns are texts that the table should be encoded.

    If a person names the columns of data, one with texts is enough. Columns whose names are in
    `annotations` (with commas between them) are not part of the table.
    """
    columns, roles = head.columns, head.columns.roles
    if options.columns and not roles.long:
        chosen, _ = _kept_columns(columns, options)
        return not {*roles.ignored}.isdisjoint(chosen)
    n_texts = len(roles.ignored) + (roles.index is not None)
    if roles.long or n_texts < _LEAST_TEXTS * columns.width:
        return False  # at once, also for thousands of columns
    try:
        return is_mixed(_without(_sample_of_data(head), annotations))
    except ValueError:  # infinite numbers: the reader of numbers says so
        return False


def _without(sample: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Leave out columns that a person lists."""
    listed = {*names, *(part.strip() for text in names for part in text.split(","))}
    return sample[[name for name in sample.columns if str(name) not in listed]]


def _sample_of_data(head: TableHead) -> pd.DataFrame:
    """Return the first rows, without columns of numbers that are identifiers and the like."""
    frame, roles = _with_unique_names(head.sample())[0], head.columns.roles
    if frame.shape[1] != head.columns.width:  # an index is not among the columns
        return frame
    asides = {j for aside in roles.asides for j in aside.columns}
    asides |= {roles.index} if roles.is_guess and roles.index is not None else set()
    kept = [j for j in range(frame.shape[1]) if j not in {*asides, *roles.unread}]
    return frame.iloc[:, kept]


def _with_unique_names(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    names, notes = unique_names("column", tuple(map(str, frame.columns)))
    return frame.set_axis(list(names), axis=1), notes


def read_mixed_table(
    head: TableHead, options: TableOptions = TABLE_OPTIONS, known: Collection[str] = ()
) -> MixedTable:
    """Read all columns of a table; a column of texts that never repeat holds the row names.

    `known` are names of columns that hold data, even if their texts do not repeat.
    """
    frame, repeated = _with_unique_names(head.load())
    columns = head.columns
    has_index = not isinstance(frame.index, pd.RangeIndex)  # names that pandas stored
    labels = (columns.header or ()) if has_index else tuple(frame.columns)
    kept, unread = _kept_columns(columns, options)
    index = None if has_index else _row_name_position(frame, columns, kept, options, known)
    asides = _asides(columns, index, known)
    dropped = {index, *(j for aside in asides for j in aside.columns)}
    data = [labels[j] for j in kept if j not in dropped and labels[j] in frame]
    is_guess = index is not None and options.row_names is None
    is_guess = is_guess and frame[labels[index or 0]].dtype != object
    names = frame.index if has_index else None if index is None else frame[labels[index]]
    roles = Roles(index, (), asides=asides, unread=unread, is_guess=is_guess)
    notes = head.notes(Columns(columns.width, columns.header, roles))
    rows = None if names is None else _row_names(names)
    set_aside = tuple(columns.name_of(j) for j in roles.set_aside)
    return MixedTable(frame[data], rows, (*notes, *repeated), set_aside)


def _asides(columns: Columns, index: int | None, known: Collection[str]) -> tuple[Aside, ...]:
    """Return columns of identifiers and the like, without those that are known to be data."""
    barred = {index, *(j for j in range(columns.width) if columns.name_of(j) in known)}
    found = [
        replace(aside, columns=tuple(j for j in aside.columns if j not in barred))
        for aside in columns.roles.asides
    ]
    return tuple(aside for aside in found if aside.columns)


def _kept_columns(
    columns: Columns, options: TableOptions
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the columns to encode, and those that are not read because a person said so."""
    unread = find_columns(options.ignore, columns.header, columns.width, "--ignore")
    chosen = find_columns(options.columns, columns.header, columns.width, "--columns")
    kept = tuple(j for j in chosen or range(columns.width) if j not in unread)
    return kept, tuple(j for j in range(columns.width) if j not in kept)


def _row_names(names: Any) -> tuple[str, ...]:
    return tuple("" if pd.isna(name) else _name(name) for name in names)


def _name(name: Any) -> str:
    is_whole = isinstance(name, float) and name.is_integer()
    return str(int(name) if is_whole else name).strip()


def _row_name_position(
    frame: pd.DataFrame,
    columns: Columns,
    kept: Collection[int],
    options: TableOptions,
    known: Collection[str],
) -> int | None:
    """Return the column of row names: one without heading, an identifier, or unique texts."""
    header = columns.header
    if options.row_names is not None:
        return columns.roles.index
    free = [j for j in kept if not options.columns and frame.columns[j] not in known]
    if header and not header[0] and len(header) > 1 and 0 in free:
        return 0
    facts = [_facts(frame.iloc[:, j]) for j in range(frame.shape[1])]
    candidates = [j for j in free if facts[j].kind == NUMBER or not facts[j].repeats]
    return row_name_column(facts, header, candidates)


def _facts(column: pd.Series[Any]) -> ColumnFacts:
    """Return what is known about a column, judged by all of its rows."""
    if pd.api.types.is_string_dtype(column.dtype):  # object is one
        return ColumnFacts(TEXT, ("",) * (1 if column.is_unique else 2))
    if not pd.api.types.is_numeric_dtype(column):
        return ColumnFacts(NEITHER, ("", ""))
    values = column.to_numpy(float, na_value=np.nan)
    if not np.isfinite(values).all() or (values != np.floor(values)).any():
        return ColumnFacts(NUMBER, ("0.5",))
    return ColumnFacts(NUMBER, [f"{value:.0f}" for value in values])


def _frame_of_records(
    records: Sequence[Record], columns: Columns, form: NumberFormat = POINT
) -> pd.DataFrame:
    texts = pd.DataFrame(list(records), columns=range(columns.width)).astype("category")
    return _typed(texts, columns, form)


def _typed(texts: pd.DataFrame, columns: Columns, form: NumberFormat) -> pd.DataFrame:
    """Name the columns, and turn those into numbers that hold nothing else."""
    header = columns.header or ()
    names = header if len(header) == columns.width else ("",) * columns.width
    named = {j: name or f"column_{j}" for j, name in enumerate(names)}
    return pd.concat(
        [_typed_column(texts[j], form).rename(name) for j, name in named.items()], axis=1
    )


def _typed_column(cells: pd.Series[Any], form: NumberFormat) -> pd.Series[Any]:
    words = [str(word).strip() for word in cells.cat.categories]
    codes = cells.cat.codes.to_numpy()
    numbers = _parsed(words, form)
    if numbers is not None:
        return pd.Series(numbers[codes])
    kept = [None if is_missing(word) and word.lower() != _ANSWER else word for word in words]
    return pd.Series(np.array(kept, dtype=object)[codes], dtype=object)


def _parsed(words: Sequence[str], form: NumberFormat) -> Floats | None:
    """Return words as numbers, NaN for missing values; None if one of them is a text."""
    numbers = np.full(len(words), np.nan)
    if form == POINT:  # fast, and leaves the missing values
        numbers = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce").to_numpy(
            float, copy=True
        )
    for j in np.flatnonzero(np.isnan(numbers)).tolist():
        if not is_missing(words[j]) and not is_number(words[j], form):
            return None
        numbers[j] = to_number(words[j], form)
    return numbers
