"""Finding out how a text table is laid out: delimiter, header, row names.

Only the first lines are looked at. What is decided here is told to the user as notes, since a
wrong guess can only be noticed by a person.
"""

from __future__ import annotations

import codecs
import csv
import gzip
from collections import Counter
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import IO

from pyrocco.io.matrix import MatrixError

__all__ = ["Layout", "detect_layout", "is_missing", "is_number", "open_text"]

SAMPLE_LINES = 50
# Enough cells to judge a line by; a line of 20,000 genes is not parsed for every candidate.
SAMPLE_CELLS = 200

_SEPARATORS = ((",", "."), ("\t", "."), (";", "."), (";", ","), ("\t", ","))
_SEPARATOR_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons"}
_MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", ".", "?"}
# A first column of numbers under one of these headings counts the rows; it is not data.
_INDEX_NAMES = {"id", "index", "name", "row", "rownames", "unnamed: 0"}

Record = list[str]


@dataclass(frozen=True)
class Layout:
    r"""How the cells of a text table lie in the file.

    Attributes
    ----------
    delimiter, decimal, encoding : str
        How to split the lines and read the numbers.
    header : tuple of str or None
        Names of the columns of numbers; None when the first line is already numbers.
    has_index : bool
        Whether the first column holds the names of the rows.
    index_name : str
        Heading of that column, if any.
    width : int
        Cells on every line of numbers, the row name included.

    Examples
    --------
    >>> layout = Layout(",", ".", "utf-8", ("a", "b"), True, "gene", 3)
    >>> print(*layout.notes(), sep="\n")
    Cells are separated by commas.
    The first line holds the column names.
    The first column ("gene") holds the row names.
    """

    delimiter: str
    decimal: str
    encoding: str
    header: tuple[str, ...] | None
    has_index: bool
    index_name: str
    width: int

    @property
    def first(self) -> int:
        """Position of the first cell of numbers on a line."""
        return int(self.has_index)

    def notes(self) -> list[str]:
        """Say in plain sentences what was detected."""
        cells = f"Cells are separated by {_SEPARATOR_NAMES[self.delimiter]}"
        cells += ", and numbers have a decimal comma." if self.decimal == "," else "."
        heading = f' ("{self.index_name}")' if self.index_name else ""
        return [
            cells,
            "There is no line of column names."
            if self.header is None
            else "The first line holds the column names.",
            f"The first column{heading} holds the row names."
            if self.has_index
            else "There is no column of row names.",
        ]


def detect_layout(path: Path) -> Layout:
    r"""Detect delimiter, header and row names from the first lines of a file.

    Parameters
    ----------
    path : Path
        A text file, possibly compressed with gzip.

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
    >>> layout.delimiter == "\t", layout.header, layout.has_index
    (True, ('a', 'b'), False)
    """
    encoding = _encoding(path)
    with open_text(path, encoding) as handle:
        lines = [line for line in islice(handle, SAMPLE_LINES) if line.strip()]
    if not lines:
        raise MatrixError(f"{path}: the file is empty")
    delimiter, decimal = max(_SEPARATORS, key=lambda pair: _score(lines, *pair))
    first, *body = _split(lines, delimiter)
    width = _usual_width(first, body)
    has_header, has_index = _header_and_index(first, body, width, decimal)
    corner = first[0].strip() if has_header and has_index and len(first) >= width else ""
    skip = 1 if has_index and len(first) >= width else 0
    header = tuple(cell.strip() for cell in first[skip:]) if has_header else None
    return Layout(delimiter, decimal, encoding, header, has_index, corner, width)


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
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    return opener(path, "rt", encoding=encoding, errors="replace", newline="")


def is_missing(cell: str) -> bool:
    """Whether a cell is empty or says that there is no value.

    Parameters
    ----------
    cell : str
        Text of the cell.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_missing("NA"), is_missing(" "), is_missing("0")
    (True, True, False)
    """
    return cell.strip().lower() in _MISSING


def is_number(cell: str, decimal: str) -> bool:
    """Whether a cell holds a number, finite or not.

    Parameters
    ----------
    cell : str
        Text of the cell.
    decimal : str
        The decimal sign, a point or a comma.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_number("1,5", ","), is_number("1,5", "."), is_number("-2e3", ".")
    (True, False, True)
    """
    if decimal == ",":
        if "." in cell:
            return False
        cell = cell.replace(",", ".", 1)
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_000 as a number; tables do not write it


def _encoding(path: Path) -> str:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
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


def _usual_width(first: Record, body: list[Record]) -> int:
    """Cells on most lines below the first; where lines are at odds the first one decides."""
    widths = Counter(map(len, body)) or Counter([len(first)])
    return max(widths, key=lambda width: (widths[width], width == len(first)))


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


def _header_and_index(
    first: Record, body: list[Record], width: int, decimal: str
) -> tuple[bool, bool]:
    def texts(cells: list[str]) -> int:
        return sum(not is_missing(c) and not is_number(c, decimal) for c in cells)

    if len(first) == width - 1 and texts(first):
        return True, True  # the way R writes a table: no heading above the row names
    if not first[0].strip() and len(first) > 1:
        return True, True  # an unnamed corner
    names = [record[0] for record in body]
    has_index = 2 * texts(names) > len(names)
    cells = first[1:] if has_index else first
    has_header = 2 * texts(cells) > len(cells) or (
        has_index and _counts_upwards(cells, body, decimal)
    )
    if has_header and not has_index:
        has_index = len(first) > 1 and first[0].strip().lower() in _INDEX_NAMES
    return has_header, has_index


def _counts_upwards(cells: list[str], body: list[Record], decimal: str) -> bool:
    """Whether a first line of numbers is a heading: years, doses, time points.

    They rise from left to right, which three or more measured values seldom do, unless they do
    so on every line.
    """

    def rises(record: list[str]) -> bool:
        if not all(is_number(cell, decimal) for cell in record):
            return False
        values = [float(cell.replace(",", ".")) for cell in record]
        return all(a < b for a, b in pairwise(values))

    others = [rises(record[1:]) for record in body]
    return len(cells) >= 3 and rises(cells) and 2 * sum(others) < len(others)
