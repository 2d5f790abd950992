"""Read Excel files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from pyrocco._typing import Floats
from pyrocco.io.columns import SAMPLE_LINES, Columns, cell_problem, detect_columns, to_number
from pyrocco.io.errors import MatrixError, cell_place, check_extra, list_some
from pyrocco.io.isolated import ReaderFailedError, read_isolated
from pyrocco.io.named_matrix import Matrix
from pyrocco.io.tables import LoadedColumns, check_columns, matrix_from_table
from pyrocco.io.workbook import Row, load_sheet

__all__ = ["load_sheet_texts", "read_excel"]


def read_excel(
    path: Path, sheet: str | None = None, layout: str = "auto", absent: str | None = None
) -> Matrix:
    """Read a table from one sheet of an Excel file, as if it were saved as CSV."""
    rows, about = _load_sheet(path, sheet)
    head = [[_text(cell) for cell in row] for row in rows[:SAMPLE_LINES]]
    columns = detect_columns(head, layout=layout)
    check_columns(columns, str(path), layout, absent)
    body = rows if columns.header is None else rows[1:]
    texts = [
        pd.Series([_text(row[j]) for row in body], dtype="category")
        for j in columns.roles.text_columns
    ]
    loaded = LoadedColumns(texts, _numbers(body, columns, path))
    return matrix_from_table(loaded, columns, [about, *columns.notes()], str(path), absent)


def load_sheet_texts(path: Path, sheet: str | None) -> tuple[list[list[str]], str]:
    """Return the cells of a sheet as texts, without empty rows, and a note about the sheets."""
    rows, about = _load_sheet(path, sheet)
    return [[_text(cell) for cell in row] for row in rows], about


def _load_sheet(path: Path, sheet: str | None) -> tuple[list[Row], str]:
    """Return the rows of a sheet, without empty ones, and a note about the sheets."""
    check_extra("excel", "Excel files", "python_calamine")
    try:
        about = read_isolated(load_sheet, path, sheet).about
    except ReaderFailedError as error:
        raise MatrixError(
            f"{path}: is not an .xlsx file, is protected by a password, or is damaged; save it "
            "as .xlsx or CSV"
        ) from error
    name, rows = about["sheet"], about["rows"]
    if not rows:
        raise MatrixError(f'{path}: the sheet "{name}" is empty')
    others = [other for other in about["sheets"] if other != name]
    more = f" Other sheets: {list_some(others)}." if others else ""
    return rows, f'The sheet "{name}" of an Excel file.{more}'


def _text(cell: object) -> str:
    """Return what a cell would be in a CSV file: 7, not 7.0, for a whole number."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell)


def _numbers(body: list[Row], columns: Columns, path: Path) -> Floats:
    roles = columns.roles
    X = np.empty((len(body), len(roles.number_columns)))
    for j, position in enumerate(roles.number_columns):
        for i, row in enumerate(body):
            cell = row[position]
            if isinstance(cell, float):
                X[i, j] = cell
                continue
            problem = cell_problem(_text(cell))
            if problem:
                name = "" if roles.index is None else _text(row[roles.index])
                heading = columns.header[position] if columns.header else ""
                raise MatrixError(f"{path}: {cell_place(i, j, name, heading)} {problem}")
            X[i, j] = to_number(_text(cell))
    return X
