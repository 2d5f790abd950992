"""Finding out how a text table is laid out: encoding, delimiter, decimal sign, columns.

Only the first lines are looked at. What is decided here is told to the user as notes, since a
wrong guess can only be noticed by a person.
"""

from __future__ import annotations

import codecs
import csv
import gzip
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from pyrocco.io.cells import is_number
from pyrocco.io.columns import SAMPLE_LINES, Columns, detect_columns
from pyrocco.io.errors import MatrixError

__all__ = ["Layout", "detect_layout", "is_compressed", "open_text"]

# Enough cells to judge a line by; a line of 20,000 genes is not parsed for every candidate.
SAMPLE_CELLS = 200
_MOST_REMARKS = 100

_SEPARATORS = ((",", "."), ("\t", "."), (";", "."), (";", ","), ("\t", ","))
_SEPARATOR_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons"}

Record = list[str]


@dataclass(frozen=True)
class Layout:
    r"""How the cells of a text table lie in the file.

    Attributes
    ----------
    delimiter, decimal, encoding : str
        How to split the lines and read the numbers.
    columns : Columns
        Headings of the columns and what they are for.
    skip : int
        Lines of remarks before the table.

    Examples
    --------
    >>> from pyrocco.io.roles import Roles
    >>> columns = Columns(3, ("gene", "a", "b"), Roles(0, (1, 2)))
    >>> print(*Layout(",", ".", "utf-8", columns).notes(), sep="\n")
    Cells are separated by commas.
    The first line holds the column names; every other line is a row of the matrix.
    The first column ("gene") holds the row names.
    """

    delimiter: str
    decimal: str
    encoding: str
    columns: Columns
    skip: int = 0

    def notes(self) -> list[str]:
        """Say in plain sentences what was detected."""
        cells = f"Cells are separated by {_SEPARATOR_NAMES[self.delimiter]}"
        cells += ", and numbers have a decimal comma." if self.decimal == "," else "."
        lines = "The first line is" if self.skip == 1 else f"The first {self.skip} lines are"
        remarks = [f"{lines} not part of the table."] if self.skip else []
        return [*remarks, cells, *self.columns.notes()]


def detect_layout(path: Path, how: str = "auto") -> Layout:
    r"""Detect delimiter, header and row names from the first lines of a file.

    Parameters
    ----------
    path : Path
        A text file, possibly compressed with gzip.
    how : {"auto", "wide", "long"}
        Whether the table is one row per line or one cell per line.

    Returns
    -------
    Layout

    Raises
    ------
    MatrixError
        The file holds nothing, or is not text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.tsv"
    ...     _ = path.write_text("a\tb\n1\t2\n3\t4\n")
    ...     layout = detect_layout(path)
    >>> layout.delimiter == "\t", layout.columns.header, layout.columns.roles.numbers
    (True, ('a', 'b'), (0, 1))
    """
    encoding = _encoding(path)
    with open_text(path, encoding) as handle:
        head = list(islice(handle, SAMPLE_LINES + _MOST_REMARKS))
    skip = _remarks(head)
    lines = [line for line in head[skip : skip + SAMPLE_LINES] if line.strip()]
    if not lines:
        raise MatrixError(f"{path}: the file is empty")
    delimiter, decimal = max(_SEPARATORS, key=lambda pair: _score(lines, *pair))
    columns = detect_columns(_split(lines, delimiter), decimal, how)
    return Layout(delimiter, decimal, encoding, columns, skip)


def is_compressed(path: Path) -> bool:
    """Whether a file is compressed with gzip, by its name.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_compressed(Path("table.csv.gz")), is_compressed(Path("table.csv"))
    (True, False)
    """
    return path.name.lower().endswith(".gz")


def open_text(path: Path, encoding: str) -> IO[str]:
    """Open a text file, compressed or not, so that the csv module can read it.

    Parameters
    ----------
    path : Path
        The file; names that end in .gz are decompressed on the way.
    encoding : str
        As `detect_layout` found it. Bytes that do not fit become a replacement sign: they can
        only be part of a name, and a name is no reason to refuse a matrix.

    Returns
    -------
    file object

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv.gz"
    ...     with gzip.open(path, "wt") as handle:
    ...         _ = handle.write("1,2")
    ...     with open_text(path, "utf-8") as handle:
    ...         handle.read()
    '1,2'
    """
    opener = gzip.open if is_compressed(path) else open
    return opener(path, "rt", encoding=encoding, errors="replace", newline="")


def _remarks(lines: list[str]) -> int:
    """Lines at the start that only talk about the table: ``# made by featureCounts``.

    A heading may begin with the same sign, as in ``#gene``; it has as many cells as the line
    below it.
    """
    if lines[:1] and lines[0].startswith("#1."):
        return 2  # the GCT format: its version, then its size
    count = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    if count == 0 or max(lines[count].count(sign) for sign in _SEPARATOR_NAMES) == 0:
        return count
    sign = max(_SEPARATOR_NAMES, key=lines[count].count)
    is_heading = lines[count - 1].count(sign) == lines[count].count(sign)
    return count - is_heading


def _encoding(path: Path) -> str:
    opener = gzip.open if is_compressed(path) else open
    with opener(path, "rb") as handle:
        head = handle.read(1 << 20)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in head:
        raise MatrixError(f"{path}: is not a text table; save it as CSV or TSV first")
    try:
        codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"  # what spreadsheets on Windows write
    return "utf-8-sig"


def _split(lines: list[str], delimiter: str) -> list[Record]:
    return list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))


def _score(lines: list[str], delimiter: str, decimal: str) -> tuple[bool, bool, float, int]:
    """Rank a separator: does it split, evenly, into numbers, and into how many."""
    try:
        records = _split(lines, delimiter)
    except csv.Error:  # a wide line that the wrong delimiter leaves in one piece
        return False, False, 0.0, 0
    widths = Counter(map(len, records[1:] or records))
    width, votes = widths.most_common(1)[0]
    cells = [cell for record in records for cell in record[:SAMPLE_CELLS]]
    numbers = sum(is_number(cell, decimal) for cell in cells)
    even = votes == widths.total()
    return width > 1, even, numbers / max(len(cells), 1), width
