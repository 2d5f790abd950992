"""The one home of openpyxl: Excel files."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyrocco.io.cells import to_number
from pyrocco.io.checks import place
from pyrocco.io.columns import SAMPLE_LINES, Columns, detect_columns
from pyrocco.io.diagnose import cell_problem
from pyrocco.io.errors import MatrixError
from pyrocco.io.extras import extra
from pyrocco.io.matrix import Matrix
from pyrocco.io.request import Request
from pyrocco.io.roles import list_some
from pyrocco.io.table import Loaded, check_columns, matrix_from_table

__all__ = ["read_excel"]

Record = list[str]


def read_excel(path: Path, request: Request) -> Matrix:
    """Read a table from one sheet of an Excel file.

    Parameters
    ----------
    path : Path
        A .xlsx or .xlsm file.
    request : Request
        Options; those used are ``sheet``, ``layout`` and ``absent``.

    Returns
    -------
    Matrix
        What `read_matrix` would give for the same table saved as CSV.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.xlsx"
    ...     frame = pd.DataFrame({"liver": [1.5, None]}, index=["TP53", "MYC"])
    ...     frame.to_excel(path)
    ...     matrix = read_excel(path, Request())
    >>> matrix.row_names, matrix.X.tolist()
    (('TP53', 'MYC'), [[1.5], [nan]])
    """
    records, about = _records(path, request.sheet)
    columns = detect_columns(records[:SAMPLE_LINES], how=request.layout)
    check_columns(columns, request, str(path))
    body = records if columns.header is None else records[1:]
    loaded = Loaded(
        [
            pd.Series([record[j] for record in body], dtype="category")
            for j in columns.roles.text_columns
        ],
        _numbers(body, columns, path),
    )
    return matrix_from_table(loaded, columns, [about, *columns.notes()], request, str(path))


def _records(path: Path, sheet: str | None) -> tuple[list[Record], str]:
    """Rows of a sheet as text, all of one length, without the empty ones."""
    with extra("excel", "Excel files"):
        import openpyxl  # noqa: PLC0415 - the one home of an optional package

    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as error:
        raise MatrixError(
            f"{path}: is not an Excel file of today's kind, or is damaged; save it as .xlsx or CSV"
        ) from error
    try:
        name = _sheet(book.sheetnames, sheet, path)
        rows = [[_text(cell) for cell in row] for row in book[name].iter_rows(values_only=True)]
    finally:
        book.close()
    rows = [row for row in rows if any(row)]
    if not rows:
        raise MatrixError(f'{path}: the sheet "{name}" is empty')
    others = [other for other in book.sheetnames if other != name]
    left = f" Left alone: {list_some(others)}." if others else ""
    return _trimmed(rows), f'The sheet "{name}" of an Excel file.{left}'


def _sheet(names: list[str], wanted: str | None, path: Path) -> str:
    if wanted is None:
        return names[0]
    if wanted not in names:
        raise MatrixError(
            f'{path}: has no sheet "{wanted}"; its sheets are: {list_some(names, 20)}'
        )
    return wanted


def _text(value: Any) -> str:
    """What a cell would be in a CSV file; numbers keep all their digits."""
    return "" if value is None else str(value).strip()


def _trimmed(rows: list[Record]) -> list[Record]:
    """Cut off the empty cells to the right that spreadsheets remember."""
    width = max(j + 1 for row in rows for j, cell in enumerate(row) if cell)
    return [[*row, *[""] * (width - len(row))][:width] for row in rows]


def _numbers(body: list[Record], columns: Columns, path: Path) -> np.ndarray[Any, Any]:
    X = np.empty((len(body), len(columns.roles.number_columns)))
    for j, position in enumerate(columns.roles.number_columns):
        for i, record in enumerate(body):
            problem = cell_problem(record[position])
            if problem:
                name = record[columns.roles.index] if columns.roles.index is not None else ""
                heading = columns.header[position] if columns.header else ""
                raise MatrixError(f"{path}: {place(i, j, name, heading)} {problem}")
            X[i, j] = to_number(record[position])
    return X
