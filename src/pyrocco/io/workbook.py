"""The one home of python-calamine: the cells of a sheet of an Excel file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyrocco.io.errors import MatrixError, list_some
from pyrocco.io.isolated import Parts

__all__ = ["load_sheet"]

# Cells of a row: numbers as float, everything else as the text of the cell.
Row = list[float | str]


def load_sheet(path: Path, sheet: str | None) -> Parts:
    """Load the rows of a sheet, without empty ones, and the names of all sheets."""
    import python_calamine  # noqa: PLC0415 - an optional package

    with python_calamine.CalamineWorkbook.from_path(path) as book:
        names = list(book.sheet_names)
        name = _sheet_name(names, sheet, path)
        cells = book.get_sheet_by_name(name).to_python()
    return Parts({"sheet": name, "sheets": names, "rows": _trimmed(cells)})


def _sheet_name(names: list[str], wanted: str | None, path: Path) -> str:
    if not names:
        raise MatrixError(f"{path}: has no sheets")
    if wanted is None:
        return names[0]
    if wanted not in names:
        raise MatrixError(
            f'{path}: has no sheet "{wanted}"; its sheets are: {list_some(names, 20)}'
        )
    return wanted


def _trimmed(cells: list[list[Any]]) -> list[Row]:
    """Remove empty rows, and the empty columns to the right that spreadsheets remember."""
    rows = [[_plain(cell) for cell in row] for row in cells]
    rows = [row for row in rows if any(cell != "" for cell in row)]
    width = max((j + 1 for row in rows for j, cell in enumerate(row) if cell != ""), default=0)
    return [row[:width] for row in rows]


def _plain(cell: object) -> float | str:
    return cell if isinstance(cell, float) else str(cell).strip()
