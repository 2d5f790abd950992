"""Read a table with texts beside numbers, to encode its columns as numbers.

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
from pyrocco.io.columns import (
    SAMPLE_LINES,
    Columns,
    Roles,
    detect_columns,
    is_missing,
    is_number,
    row_name_column,
    to_number,
)
from pyrocco.io.errors import MatrixError, read_errors
from pyrocco.io.excel import load_sheet_texts
from pyrocco.io.read import check_file, file_format
from pyrocco.io.sniff import Layout, detect_layout, iter_records
from pyrocco.io.text_tables import load_texts

__all__ = ["MixedTable", "TableHead", "is_mixed_table", "look_at_table", "read_mixed_table"]

# Among texts this is an answer, not a missing value: allergies, none.
_ANSWER = "none"
# A table with a smaller share of columns of texts is not one of mixed types.
_LEAST_TEXTS = 0.25

Record = Sequence[str]


@dataclass(frozen=True)
class MixedTable:
    """A table with texts beside numbers.

    Attributes
    ----------
    frame : DataFrame
        The columns: numbers with NaN, or texts with None, for missing values.
    row_names : tuple of str, or None
        None if no column holds names of rows.
    notes : tuple of str
        Sentences about what was detected in the file.
    """

    frame: pd.DataFrame
    row_names: tuple[str, ...] | None
    notes: tuple[str, ...]


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
        return _frame_of_records(even, self.columns, self.layout.decimal)

    def load(self) -> pd.DataFrame:
        """Return all rows."""
        return _typed(load_texts(self.path, self.layout), self.columns, self.layout.decimal)

    def notes(self, columns: Columns) -> list[str]:
        """Return sentences that say what was detected."""
        return replace(self.layout, columns=columns).notes()


@dataclass(frozen=True)
class ExcelHead:
    """The rows of a sheet of an Excel file."""

    columns: Columns
    records: Sequence[Record]
    about: str

    def sample(self) -> pd.DataFrame:
        """Return the first rows."""
        return _frame_of_records(self.records[:SAMPLE_LINES], self.columns)

    def load(self) -> pd.DataFrame:
        """Return all rows."""
        return _frame_of_records(self.records, self.columns)

    def notes(self, columns: Columns) -> list[str]:
        """Return sentences that say what was detected."""
        return [self.about, *columns.notes()]


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
    path: str | os.PathLike[str], sheet: str | None = None, known: Collection[str] = ()
) -> TableHead | None:
    """Look at the first rows of a file; None if its format is not one of tables.

    `known` are names of columns that the table should have, if that is known.
    """
    path = Path(path)
    check_file(path)
    if "layout" not in file_format(path).options:
        return None
    with read_errors(path):
        if path.suffix.lower() == ".parquet":
            return ParquetHead(path, *parquet_head(path))
        if "sheet" in file_format(path).options:
            return _look_at_excel(path, sheet, known)
        return _look_at_text(path, known)


def _look_at_text(path: Path, known: Collection[str]) -> TextHead:
    layout = detect_layout(path)
    if _shows_headings(layout.columns):
        return TextHead(path, layout)
    columns = _with_headings(layout.columns, _first_records(path, layout), known)
    return TextHead(path, replace(layout, columns=columns))


def _first_records(path: Path, layout: Layout) -> list[Record]:
    return [record for _, record in islice(iter_records(path, layout), SAMPLE_LINES)]


def _look_at_excel(path: Path, sheet: str | None, known: Collection[str]) -> ExcelHead:
    records, about = load_sheet_texts(path, sheet)
    head = records[:SAMPLE_LINES]
    columns = _with_headings(detect_columns(head), head, known)
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


def is_mixed_table(head: TableHead, aside: Sequence[str] = ()) -> bool:
    """Whether so many columns are texts that the table should be encoded.

    Columns whose names are in `aside` (with commas between them) are not part of the table.
    """
    roles = head.columns.roles
    n_texts = len(roles.ignored) + (roles.index is not None)
    if roles.long or n_texts < _LEAST_TEXTS * head.columns.width:
        return False  # at once, also for thousands of columns
    try:
        return is_mixed(_without(head.sample(), aside))
    except ValueError:  # repeated headings or infinite numbers: the reader of numbers says so
        return False


def _without(sample: pd.DataFrame, aside: Sequence[str]) -> pd.DataFrame:
    names = {*aside, *(part.strip() for text in aside for part in text.split(","))}
    return sample[[name for name in sample.columns if str(name) not in names]]


def read_mixed_table(head: TableHead, known: Collection[str] = ()) -> MixedTable:
    """Read all columns of a table; a column of texts that never repeat holds the row names.

    `known` are names of columns that hold data, even if their texts do not repeat.
    """
    frame = head.load()
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise MatrixError(f'several columns are called "{repeated[0]}": give them different names')
    columns = Columns(head.columns.width, head.columns.header, Roles(None, ()))
    if not isinstance(frame.index, pd.RangeIndex):
        return MixedTable(frame, _row_names(frame.index), tuple(head.notes(columns)))
    index = _row_name_position(frame, columns.header, known)
    notes = head.notes(replace(columns, roles=Roles(index, ())))
    if index is None:
        return MixedTable(frame, None, tuple(notes))
    name = frame.columns[index]
    return MixedTable(frame.drop(columns=name), _row_names(frame[name]), tuple(notes))


def _row_names(names: Any) -> tuple[str, ...]:
    return tuple("" if pd.isna(name) else str(name).strip() for name in names)


def _row_name_position(
    frame: pd.DataFrame, header: Sequence[str] | None, known: Collection[str]
) -> int | None:
    """Return the column of row names: one without heading, an identifier, or unique texts."""
    if header and not header[0] and len(header) > 1:
        return 0
    unique = [
        j
        for j, name in enumerate(frame.columns)
        if name not in known and frame[name].dtype == object and frame[name].is_unique
    ]
    index = row_name_column(unique, header, [j not in unique for j in range(frame.shape[1])])
    return None if index is None or frame.columns[index] in known else index


def _frame_of_records(
    records: Sequence[Record], columns: Columns, decimal: str = "."
) -> pd.DataFrame:
    texts = pd.DataFrame(list(records), columns=range(columns.width)).astype("category")
    return _typed(texts, columns, decimal)


def _typed(texts: pd.DataFrame, columns: Columns, decimal: str) -> pd.DataFrame:
    """Name the columns, and turn those into numbers that hold nothing else."""
    header = columns.header or ()
    names = header if len(header) == columns.width else ("",) * columns.width
    named = {j: name or f"column_{j}" for j, name in enumerate(names)}
    return pd.concat(
        [_typed_column(texts[j], decimal).rename(name) for j, name in named.items()], axis=1
    )


def _typed_column(cells: pd.Series[Any], decimal: str) -> pd.Series[Any]:
    words = [str(word).strip() for word in cells.cat.categories]
    codes = cells.cat.codes.to_numpy()
    numbers = _parsed(words, decimal)
    if numbers is not None:
        return pd.Series(numbers[codes])
    kept = [None if is_missing(word) and word.lower() != _ANSWER else word for word in words]
    return pd.Series(np.array(kept, dtype=object)[codes], dtype=object)


def _parsed(words: Sequence[str], decimal: str) -> Floats | None:
    """Return words as numbers, NaN for missing values; None if one of them is a text."""
    numbers = np.full(len(words), np.nan)
    if decimal == ".":  # fast, and leaves the missing values
        numbers = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce").to_numpy(float)
    for j in np.flatnonzero(np.isnan(numbers)).tolist():
        if not is_missing(words[j]) and not is_number(words[j], decimal):
            return None
        numbers[j] = to_number(words[j], decimal)
    return numbers
