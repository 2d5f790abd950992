"""The one home of python-calamine: the cells of a sheet of an Excel file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyrocco.io.errors import MatrixError, list_some
from pyrocco.io.isolated import Parts

__all__ = ["load_sheet"]

# Cells of a row: numbers as float, everything else as the text of the cell.
Row = list[float | str]


def load_sheet(path: Path, sheet: str | int | None, skip: int = 0) -> Parts:
    """Load the rows of a sheet below the first `skip`, without empty ones, and all names."""
    import python_calamine  # noqa: PLC0415 - an optional package

    with python_calamine.CalamineWorkbook.from_path(path) as book:
        names = list(book.sheet_names)
        name = _sheet_name(names, sheet, path)
        found = book.get_sheet_by_name(name)
        # Empty rows above the first cell are not among the cells.
        n_above = found.start[0] if found.start else 0
        cells = found.to_python()[max(skip - n_above, 0) :]
    return Parts({"sheet": name, "sheets": names, "rows": _trimmed(cells)})


def _sheet_name(names: list[str], wanted: str | int | None, path: Path) -> str:
    """Return the name of a sheet that is given by its name, or by its number from 1."""
    if not names:
        raise MatrixError(f"{path}: has no sheets")
    if wanted is None:
        return names[0]
    if str(wanted) in names:
        return str(wanted)
    if str(wanted).isdecimal() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise MatrixError(f'{path}: has no sheet "{wanted}"; its sheets are: {list_some(names, 20)}')


def _trimmed(cells: list[list[Any]]) -> list[Row]:
    """Remove empty rows, and the empty columns to the right that spreadsheets remember."""
    rows = [[_plain(cell) for cell in row] for row in cells]
    rows = [row for row in rows if any(cell != "" for cell in row)]
    width = max((j + 1 for row in rows for j, cell in enumerate(row) if cell != ""), default=0)
    return [row[:width] for row in rows]


def _plain(cell: object) -> float | str:
    return cell if isinstance(cell, float) else str(cell).strip()
