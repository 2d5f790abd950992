"""Read CSV and TSV files, fast if the file is good, and say what is wrong if it is not.

The fast readers only report that something is wrong. The file is then read again, cell by cell,
to find out what and where.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyrocco.io import arrow
from pyrocco.io.cell_texts import HEADINGS_BELOW, MISSING, are_texts, cell_problem, to_number
from pyrocco.io.columns import Columns
from pyrocco.io.errors import MatrixError, cell_place
from pyrocco.io.named_matrix import Matrix
from pyrocco.io.roles import Roles
from pyrocco.io.sniff import (
    Layout,
    Watch,
    detect_layout,
    is_compressed,
    iter_records,
    open_watched,
)
from pyrocco.io.table_options import TABLE_OPTIONS, TableOptions
from pyrocco.io.tables import LoadedColumns, check_columns, matrix_from_table
from pyrocco.texts import counted

__all__ = ["first_problem", "load_rows", "load_texts", "read_text", "table_layout"]

# File sizes in bytes from which pyarrow is used, and from which its installation is recommended.
LARGE = 4 << 20
VERY_LARGE = 64 << 20
# Exact digits: pandas 3 reads them by default, and warns if asked to.
_EXACT: Any = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
# Tables with at least this many columns are read twice, the second time only for their names.
_WIDE = 1000
_FASTER = 'Large text files are read faster after: pip install "pyrocco[arrow]".'


def read_text(
    path: Path, options: TableOptions = TABLE_OPTIONS, watch: Watch | None = None
) -> Matrix:
    """Read a wide or long table of numbers from a text file.

    The `MatrixError` of a bad file names the first cell that is not a finite number, or the line
    with too few or too many cells.
    """
    detected = table_layout(path, options)
    loaded, hint = _load(path, detected, watch)
    _check_finite(loaded, path, detected)
    notes = [*detected.notes(), *hint]
    return matrix_from_table(loaded, detected.columns, notes, str(path), options)


def table_layout(path: Path, options: TableOptions = TABLE_OPTIONS) -> Layout:
    """Detect the layout of a text table, and check that it can become a matrix."""
    detected = detect_layout(path, options)
    problem = _header_problem(detected.columns)
    check_columns(detected.columns, str(path), options)
    if problem:
        raise MatrixError(f"{path}: {problem}")
    return detected


def load_rows(path: Path, layout: Layout) -> LoadedColumns:
    """Read the columns of a text file with a known layout, on one core."""
    load = _load_words if _needs_words(layout) else _load_with_pandas
    loaded = load(path, layout, None)
    _check_finite(loaded, path, layout)
    return loaded


def load_texts(path: Path, layout: Layout, watch: Watch | None = None) -> pd.DataFrame:
    """Read all columns of a text file as texts, which are categories; missing ones are empty."""
    problem = _header_problem(layout.columns)
    if problem:
        raise MatrixError(f"{path}: {problem}")
    columns = replace(layout.columns, roles=Roles(None, ()))
    layout = replace(layout, columns=columns)
    frame = _read_frame(path, layout, watch, {})
    _check_last_column(frame, path, layout)
    return frame


def _check_finite(loaded: LoadedColumns, path: Path, layout: Layout) -> None:
    infinite = np.isinf(loaded.X).any(axis=1)
    if infinite.any():
        problem = first_problem(path, layout, skip=int(np.argmax(infinite)))
        raise MatrixError(f"{path}: {problem}")


def _load(path: Path, layout: Layout, watch: Watch | None) -> tuple[LoadedColumns, list[str]]:
    """Read the columns with pyarrow if the file is large, else with pandas."""
    size = path.stat().st_size
    hint = []
    if _needs_words(layout):
        return _load_words(path, layout, watch), []
    if size >= LARGE and arrow.can_read(layout):
        loaded = arrow.load_text(path, layout, watch) if arrow.is_installed() else None
        if loaded is not None:  # else pandas finds out what is wrong
            return loaded, []
        hint = [] if size < VERY_LARGE or arrow.is_installed() else [_FASTER]
    return _load_with_pandas(path, layout, watch), hint


def _needs_words(layout: Layout) -> bool:
    """Whether numbers are written in a way that the fast readers do not know."""
    numbers = layout.numbers
    return layout.columns.roles.are_answers or bool(numbers.thousands or numbers.signs)


def _load_words(path: Path, layout: Layout, watch: Watch | None) -> LoadedColumns:
    """Read all columns as texts, and turn each different text into a number."""
    roles = layout.columns.roles
    frame = load_texts(path, layout, watch)
    problem = first_problem(path, layout)
    if problem:
        raise MatrixError(f"{path}: {problem}")
    numbers = []
    for position in roles.number_columns:
        words = frame[position].cat
        values = np.array([to_number(str(word), layout.numbers) for word in words.categories])
        numbers.append(values[words.codes.to_numpy()])
    return LoadedColumns(
        [frame[position] for position in roles.text_columns],
        np.column_stack(numbers).astype(np.float64),
    )


def _load_with_pandas(path: Path, layout: Layout, watch: Watch | None) -> LoadedColumns:
    roles = layout.columns.roles
    # NA means missing only among the numbers: a gene called "NA" keeps its name.
    missing: Any = dict.fromkeys(roles.number_columns, MISSING)
    is_wide = layout.columns.width >= _WIDE
    # pandas is slow if thousands of columns have a list of their own.
    frame = _read_frame(path, layout, watch, list(MISSING) if is_wide else missing)
    X = np.ascontiguousarray(frame[list(roles.number_columns)].to_numpy(dtype=np.float64))
    _check_last_column(frame, path, layout)
    if is_wide and roles.text_columns:
        frame = _read_frame(path, layout, None, {}, list(roles.text_columns))
    return LoadedColumns([frame[position] for position in roles.text_columns], X)


def _read_frame(
    path: Path, layout: Layout, watch: Watch | None, missing: Any, only: list[int] | None = None
) -> pd.DataFrame:
    """Read the columns, or only some of them; lines that are too long are then not noticed."""
    columns = layout.columns
    types: dict[int, Any] = dict.fromkeys(range(columns.width), "category")
    types |= dict.fromkeys(columns.roles.number_columns, np.float64)
    try:
        with open_watched(path, watch) as file, _below_skipped(file, path, layout) as text:
            frame: pd.DataFrame = pd.read_csv(
                text,
                sep=layout.delimiter,
                decimal=layout.decimal,
                encoding=layout.encoding,
                encoding_errors="replace",
                # The headings are known; pandas would take minutes for many that are empty.
                skiprows=layout.blank + (columns.header is not None),
                header=None,
                names=list(range(columns.width)),
                usecols=only,
                dtype=types,
                keep_default_na=False,
                na_values=missing,
                skipinitialspace=True,
                **_EXACT,
            )
    except ValueError as error:  # pandas' own errors among them
        message = first_problem(path, layout) or " ".join(str(error).split())
        raise MatrixError(f"{path}: {message}") from error
    # If the first line is longer than the others, pandas makes an index of its first cells.
    if not isinstance(frame.index, pd.RangeIndex):
        raise MatrixError(f"{path}: {first_problem(path, layout)}")
    return frame


@contextmanager
def _below_skipped(file: io.BufferedIOBase, path: Path, layout: Layout) -> Iterator[Any]:
    """Yield what pandas reads: the bytes, or the text below comments and titles.

    pandas would take a quotation mark in a comment for the beginning of a cell.
    """
    unpacked: Any = gzip.GzipFile(fileobj=file) if is_compressed(path) else nullcontext(file)
    with unpacked as content:
        if not layout.skip:
            yield content
            return
        with io.TextIOWrapper(content, layout.encoding, "replace", newline="") as text:
            for _ in islice(text, layout.skip):
                pass
            yield text


def _check_last_column(frame: pd.DataFrame, path: Path, layout: Layout) -> None:
    """Check for lines that are too short: pandas fills them with missing values."""
    last = frame[layout.columns.width - 1]
    if bool(last.isna().any()) or bool((last == "").any()):
        width = layout.columns.width
        for line, record in iter_records(path, layout):
            if len(record) != width:
                raise MatrixError(f"{path}: {_about_ragged(line, len(record), width)}")


def first_problem(path: Path, layout: Layout, skip: int = 0) -> str:
    """Describe the first problem of a table, or return an empty string.

    The first `skip` rows are known to be good.
    """
    try:
        return _header_problem(layout.columns) or _body_problem(path, layout, skip)
    except csv.Error:
        return "a quotation mark is opened and never closed"


def _header_problem(columns: Columns) -> str:
    """Return what is wrong if there are more or fewer headings than columns."""
    if columns.header is None or len(columns.header) == columns.width:
        return ""
    return (
        f"there are {len(columns.header)} column names on the first line, "
        f"but {columns.width} cells on the lines below"
    )


def _body_problem(path: Path, layout: Layout, skip: int) -> str:
    columns = layout.columns
    records = islice(iter_records(path, layout), skip, None)
    for row, (line, record) in enumerate(records, start=skip):
        if len(record) != columns.width:
            return _about_ragged(line, len(record), columns.width)
        for column, position in enumerate(columns.roles.number_columns):
            problem = cell_problem(record[position], layout.numbers, columns.roles.are_answers)
            if problem:
                texts = [record[other] for other in columns.roles.number_columns]
                if are_texts(texts, layout.numbers) and not columns.roles.are_answers:
                    return f"line {line} of the file {HEADINGS_BELOW}"
                return f"{_where(row, column, record, columns, line)} {problem}"
    return ""


def _where(row: int, column: int, record: list[str], columns: Columns, line: int) -> str:
    roles = columns.roles
    heading = columns.header[roles.number_columns[column]] if columns.header else ""
    if roles.long:  # a line of the file is neither a row nor a column of the matrix
        return f"line {line} of the file" + (f', "{heading}",' if heading else "")
    name = "" if roles.index is None else record[roles.index].strip()
    return cell_place(row, column, name, heading, line)


def _about_ragged(line: int, n_cells: int, width: int) -> str:
    cells = counted(n_cells, "cell")
    remedy = "delete it if it is a note below the table, else complete it"
    remedy = remedy if n_cells < width else "put names that contain separators in quotation marks"
    return f"line {line} of the file has {cells}, but the other lines have {width}: {remedy}"
