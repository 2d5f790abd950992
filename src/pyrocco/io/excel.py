"""Read Excel files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyrocco._typing import Floats
from pyrocco.io.cell_texts import HEADINGS_BELOW, are_texts, cell_problem, to_number
from pyrocco.io.columns import Columns, detect_columns
from pyrocco.io.errors import MatrixError, cell_place, check_extra, list_some
from pyrocco.io.headings import SAMPLE_LINES, count_titles
from pyrocco.io.isolated import Parts, ReaderFailedError, read_isolated
from pyrocco.io.named_matrix import Matrix
from pyrocco.io.table_options import TABLE_OPTIONS, TableOptions
from pyrocco.io.tables import LoadedColumns, check_columns, matrix_from_table
from pyrocco.io.workbook import Row, load_sheet, load_sheet_names
from pyrocco.texts import counted, plain_text

__all__ = ["load_sheet_texts", "read_excel", "sheet_names"]


def read_excel(
    path: Path, options: TableOptions = TABLE_OPTIONS, sheet: str | int | None = None
) -> Matrix:
    """Read a table from one sheet of an Excel file, as if it were saved as CSV."""
    rows, about, others = _load_sheet(path, sheet, options.skip_rows)
    head = [[plain_text(cell) for cell in row] for row in rows[:SAMPLE_LINES]]
    columns = detect_columns(head, options=options)
    advice = "numbers must stand alone in their cells"
    if others:
        advice = f"if they are in another sheet, name it with --sheet: {list_some(others)}"
    check_columns(columns, str(path), options, advice)
    body = rows if columns.header is None else rows[1:]
    texts = [
        pd.Series([plain_text(row[j]) for row in body], dtype="category")
        for j in columns.roles.text_columns
    ]
    loaded = LoadedColumns(texts, _numbers(body, columns, path))
    return matrix_from_table(
        loaded, columns, [*about, *columns.notes(below=len(about) > 1)], str(path), options
    )


def load_sheet_texts(
    path: Path, sheet: str | int | None, options: TableOptions = TABLE_OPTIONS
) -> tuple[list[list[str]], list[str]]:
    """Return the cells of a table in a sheet as texts, without empty rows, and notes."""
    rows, about, _ = _load_sheet(path, sheet, options.skip_rows)
    return [[plain_text(cell) for cell in row] for row in rows], about


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of an Excel file, in their order."""
    names: list[str] = _isolated(load_sheet_names, path).about["sheets"]
    return names


def _load_sheet(
    path: Path, sheet: str | int | None, skip: int | None
) -> tuple[list[Row], list[str], list[str]]:
    """Return the rows of the table in a sheet, without empty ones, notes, and the other sheets.

    `skip` rows of the sheet are left out; by default titles above the table.
    """
    about = _isolated(load_sheet, path, sheet, skip or 0).about
    name, rows = about["sheet"], about["rows"]
    if not rows:
        below = f" below row {skip}" if skip else ""
        raise MatrixError(f'{path}: the sheet "{name}" is empty{below}')
    others = [f'"{other}"' for other in about["sheets"] if other != name]
    more = f" To read another, use --sheet: {list_some(others)}." if others else ""
    notes = [f'The sheet "{name}" of an Excel file.{more}']
    if skip is not None:
        return rows, notes, others
    head = [[plain_text(cell) for cell in row] for row in rows[:SAMPLE_LINES]]
    n_titles = count_titles(head)
    numbers = about["numbers"][:n_titles]
    return rows[n_titles:], [*notes, *_about_titles(head[:n_titles], numbers)], others


def _isolated(load: Callable[..., Parts], path: Path, *arguments: Any) -> Parts:
    """Read an Excel file in a process of its own."""
    check_extra("excel", "Excel files", "python_calamine")
    try:
        return read_isolated(load, path, *arguments)
    except ReaderFailedError as error:
        raise MatrixError(
            f"{path}: is not an .xlsx file, is protected by a password, or is damaged; save it "
            "as .xlsx or CSV"
        ) from error


def _about_titles(titles: list[list[str]], numbers: list[int]) -> list[str]:
    """Name the titles above a table; `numbers` are those of their rows, with empty ones."""
    if not titles:
        return []
    first = " ".join(next(filter(None, titles[0]), "").split())
    shown = first if len(first) <= 40 else f"{first[:37]}..."
    lines = "first row is" if numbers[-1] == 1 else f"first {counted(numbers[-1], 'row')} are"
    return [f'The {lines} not part of the table: "{shown}". If it is, use --skip-rows 0.']


def _numbers(body: list[Row], columns: Columns, path: Path) -> Floats:
    roles, are_answers = columns.roles, columns.roles.are_answers
    X = np.empty((len(body), len(roles.number_columns)))
    for j, position in enumerate(roles.number_columns):
        for i, row in enumerate(body):
            cell = row[position]
            if isinstance(cell, float):
                X[i, j] = cell
                continue
            problem = cell_problem(plain_text(cell), are_answers=are_answers)
            if problem:
                texts = [plain_text(row[other]) for other in roles.number_columns]
                if are_texts(texts) and not are_answers:
                    raise MatrixError(f"{path}: row {i + 1} of the table {HEADINGS_BELOW}")
                name = "" if roles.index is None else plain_text(row[roles.index])
                heading = columns.header[position] if columns.header else ""
                raise MatrixError(f"{path}: {cell_place(i, j, name, heading)} {problem}")
            X[i, j] = to_number(plain_text(cell))
    return X
