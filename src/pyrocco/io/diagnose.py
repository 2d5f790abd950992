"""Finding the first cell that keeps a text table from being a matrix.

The fast reader only says that something is wrong. This one reads the file again, cell by cell,
to say what and where.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pyrocco.io.layout import SAMPLE_LINES, Layout, is_missing, is_number, open_text
from pyrocco.io.matrix import not_finite, place

__all__ = ["first_problem"]

_THOUSANDS = re.compile(r"[-+]?\d{1,3}([ ,'\u00a0]\d{3})+(\.\d*)?")


def first_problem(path: Path, layout: Layout, skip: int = 0) -> str:
    r"""Describe the first thing wrong with a table.

    Parameters
    ----------
    path : Path
        The text file.
    layout : Layout
        How its cells lie.
    skip : int
        Rows of numbers at the start that are known to be good.

    Returns
    -------
    str
        One sentence without the file's name; empty when nothing wrong is found.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco.io.layout import detect_layout
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("a,b\n1,2\n3,high\n")
    ...     first_problem(path, detect_layout(path))
    'row 2 (line 3 of the file), column 2 ("b") holds the text "high", not a number'
    """
    try:
        return _header_problem(layout) or _body_problem(path, layout, skip)
    except csv.Error:
        return "a quotation mark is opened and never closed"


def _header_problem(layout: Layout) -> str:
    columns = layout.width - layout.first
    if layout.header is None or len(layout.header) == columns:
        return ""
    return (
        f"there are {len(layout.header)} column names on the first line, "
        f"but {columns} numbers on the lines below"
    )


def _body_problem(path: Path, layout: Layout, skip: int) -> str:
    for row, (line, record) in enumerate(islice(_records(path, layout), skip, None), start=skip):
        if len(record) != layout.width:
            cells = f"{len(record)} cell{'s' if len(record) != 1 else ''}"
            return f"line {line} of the file has {cells}, but the other lines have {layout.width}"
        for column, cell in enumerate(record[layout.first :]):
            what = _cell_problem(cell, layout.decimal)
            if what:
                name = record[0].strip() if layout.has_index else ""
                heading = layout.header[column] if layout.header else ""
                where = place(row, column, name, heading, line)
                return f"{where} {what}{_column_hint(path, layout, column)}"
    return ""


def _records(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of numbers with the line each starts on, blank lines left out."""
    with open_text(path, layout.encoding) as handle:
        reader = csv.reader(handle, delimiter=layout.delimiter, skipinitialspace=True)
        is_header = layout.header is not None
        line = 1
        for record in reader:
            start, line = line, reader.line_num + 1
            if not record or (len(record) == 1 and not record[0].strip()):
                continue
            if not is_header:
                yield start, record
            is_header = False


def _cell_problem(cell: str, decimal: str) -> str:
    if is_missing(cell):
        how = f' (it holds "{cell.strip()}")' if cell.strip() else ""
        return not_finite(math.nan).replace("is missing", f"is missing{how}", 1)
    if not is_number(cell, decimal):
        if _THOUSANDS.fullmatch(cell.strip()):
            return f'holds "{cell}": write numbers without thousands separators'
        return f'holds the text "{_shorten(cell)}", not a number'
    if not math.isfinite(float(cell.replace(",", "."))):
        return not_finite(math.inf)
    return ""


def _column_hint(path: Path, layout: Layout, column: int) -> str:
    """Tell a column that is not data from one bad cell."""
    sample = [record for _, record in islice(_records(path, layout), SAMPLE_LINES)]
    cells = [record[column + layout.first] for record in sample if len(record) == layout.width]
    if len(cells) < 2:
        return ""
    if not any(cell.strip() for cell in cells):
        return " (the whole column looks empty)"
    if not any(is_number(cell, layout.decimal) or is_missing(cell) for cell in cells):
        return " (the whole column looks like text: only the first may hold names; remove it)"
    return ""


def _shorten(cell: str) -> str:
    """Keep the message on one line whatever the cell holds."""
    text = " ".join(cell.split())
    return text if len(text) <= 40 else text[:37] + "..."
