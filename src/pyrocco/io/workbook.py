"""The one home of python-calamine: the cells of a sheet of an Excel file."""

from __future__ import annotations

from pathlib import Path

from pyrocco.io.errors import MatrixError, list_some
from pyrocco.io.headings import SAMPLE_LINES
from pyrocco.io.isolated import Parts

__all__ = ["load_sheet", "load_sheet_names"]

# Cells of a row: numbers as float, everything else as the text of the cell.
Row = list[float | str]


def load_sheet(path: Path, sheet: str | int | None, skip: int = 0) -> Parts:
    """Load the rows of a sheet below the first `skip`, without empty ones, and all names.

    ``numbers`` says where the first of these rows are in the sheet, counted from 1.
    """
    import python_calamine  # noqa: PLC0415 - an optional package

    with python_calamine.CalamineWorkbook.from_path(path) as book:
        names = list(book.sheet_names)
        name = _sheet_name(names, sheet, path)
        found = book.get_sheet_by_name(name)
        # Empty rows above the first cell are not among the cells.
        n_above = found.start[0] if found.start else 0
        first = max(skip - n_above, 0)
        cells = [[_plain(cell) for cell in row] for row in found.to_python()[first:]]
    filled = [k for k, row in enumerate(cells) if any(cell != "" for cell in row)]
    numbers = [n_above + first + k + 1 for k in filled[:SAMPLE_LINES]]
    rows = _trimmed([cells[k] for k in filled])
    return Parts({"sheet": name, "sheets": names, "rows": rows, "numbers": numbers})


def load_sheet_names(path: Path) -> Parts:
    """Load the names of all sheets."""
    import python_calamine  # noqa: PLC0415 - an optional package

    with python_calamine.CalamineWorkbook.from_path(path) as book:
        return Parts({"sheets": list(book.sheet_names)})


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


def _trimmed(rows: list[Row]) -> list[Row]:
    """Remove the empty columns to the right that spreadsheets remember."""
    width = max((j + 1 for row in rows for j, cell in enumerate(row) if cell != ""), default=0)
    return [row[:width] for row in rows]


def _plain(cell: object) -> float | str:
    return cell if isinstance(cell, float) else str(cell).strip()
