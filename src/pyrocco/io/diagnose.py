"""Finding the first cell that keeps a text table from being a matrix.

The fast readers only say that something is wrong. This one reads the file again, cell by cell,
to say what and where.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pyrocco.io.cells import is_missing, is_number, to_number
from pyrocco.io.checks import INFINITE, place
from pyrocco.io.columns import Columns
from pyrocco.io.layout import Layout, open_text

__all__ = ["cell_problem", "first_problem", "header_problem", "ragged_line"]

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
        return header_problem(layout.columns) or _body_problem(path, layout, skip)
    except csv.Error:
        return "a quotation mark is opened and never closed"


def header_problem(columns: Columns) -> str:
    """Say whether there are more or fewer headings than columns.

    Parameters
    ----------
    columns : Columns
        What was detected.

    Returns
    -------
    str
        Empty when all is well.

    Examples
    --------
    >>> from pyrocco.io.columns import detect_columns
    >>> header_problem(detect_columns([["a", "b", "c"], ["1", "2"], ["3", "4"]]))
    'there are 3 column names on the first line, but 2 cells on the lines below'
    """
    if columns.header is None or len(columns.header) == columns.width:
        return ""
    return (
        f"there are {len(columns.header)} column names on the first line, "
        f"but {columns.width} cells on the lines below"
    )


def ragged_line(path: Path, layout: Layout) -> str:
    r"""Say which line has too few or too many cells.

    Parameters
    ----------
    path : Path
        The text file.
    layout : Layout
        How its cells lie.

    Returns
    -------
    str
        Empty when all is well.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco.io.layout import detect_layout
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("1,2,3\n4,5\n7,8,9\n")
    ...     ragged_line(path, detect_layout(path))
    'line 2 of the file has 2 cells, but the other lines have 3'
    """
    width = layout.columns.width
    for line, record in _records(path, layout):
        if len(record) != width:
            return _about_ragged(line, len(record), width)
    return ""


def cell_problem(cell: str, decimal: str = ".") -> str:
    """Say what is wrong with a cell among the numbers.

    Parameters
    ----------
    cell : str
        Text of the cell.
    decimal : str
        The decimal sign.

    Returns
    -------
    str
        Second half of a sentence that begins with the place; empty when all is well.

    Examples
    --------
    >>> cell_problem("low"), cell_problem("NA"), cell_problem("1,234")
    ('holds the text "low", not a number', '', 'holds "1,234": write numbers without ...
    """
    if is_missing(cell):
        return ""
    if not is_number(cell, decimal):
        if _THOUSANDS.fullmatch(cell.strip()):
            return f'holds "{cell}": write numbers without thousands separators'
        return f'holds the text "{_shorten(cell)}", not a number'
    return INFINITE if math.isinf(to_number(cell, decimal)) else ""


def _body_problem(path: Path, layout: Layout, skip: int) -> str:
    columns = layout.columns
    for row, (line, record) in enumerate(islice(_records(path, layout), skip, None), start=skip):
        if len(record) != columns.width:
            return _about_ragged(line, len(record), columns.width)
        for column, position in enumerate(columns.roles.number_columns):
            what = cell_problem(record[position], layout.decimal)
            if what:
                return f"{_where(row, column, record, columns, line)} {what}"
    return ""


def _where(row: int, column: int, record: list[str], columns: Columns, line: int) -> str:
    roles = columns.roles
    heading = columns.header[roles.number_columns[column]] if columns.header else ""
    if roles.long:  # what stands in one line of it is neither a row nor a column
        return f"line {line} of the file" + (f', "{heading}",' if heading else "")
    name = "" if roles.index is None else record[roles.index].strip()
    return place(row, column, name, heading, line)


def _about_ragged(line: int, cells: int, width: int) -> str:
    these = f"{cells} cell{'s' if cells != 1 else ''}"
    return f"line {line} of the file has {these}, but the other lines have {width}"


def _records(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of numbers with the line each starts on, blank lines left out."""
    with open_text(path, layout.encoding) as handle:
        reader = csv.reader(handle, delimiter=layout.delimiter, skipinitialspace=True)
        is_header = layout.columns.header is not None
        for _ in range(layout.skip):
            next(handle)
        line = 1 + layout.skip
        for record in reader:
            start, line = line, reader.line_num + 1 + layout.skip
            if not record or (len(record) == 1 and not record[0].strip()):
                continue
            if not is_header:
                yield start, record
            is_header = False


def _shorten(cell: str) -> str:
    """Keep the message on one line whatever the cell holds."""
    text = " ".join(cell.split())
    return text if len(text) <= 40 else text[:37] + "..."
