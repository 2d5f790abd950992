"""Detect how a text table is written: encoding, delimiter, decimal sign, comment lines, columns.

Only the first lines are examined. The decisions are reported to the user as notes, since only a
person can notice a wrong guess.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO

from pyrocco.io.cell_texts import NumberFormat, is_missing, is_number
from pyrocco.io.columns import Columns, detect_columns
from pyrocco.io.errors import MatrixError
from pyrocco.io.headings import SAMPLE_LINES, count_titles, usual_width
from pyrocco.io.table_options import TABLE_OPTIONS, TableOptions
from pyrocco.texts import counted

__all__ = [
    "Layout",
    "Watch",
    "detect_layout",
    "is_compressed",
    "iter_records",
    "open_below_comments",
    "open_text",
    "open_watched",
]

# Called with the number of bytes read so far and the size of the file.
Watch = Callable[[int, int], None]

# Cells by which a line is judged; all 20,000 of a wide table would take seconds.
_SAMPLE_CELLS = 200
_MOST_COMMENTS = 100
_LONGEST_TITLE = 40

_SEPARATORS = ((",", "."), ("\t", "."), (";", "."), (";", ","), ("\t", ","))
_SEPARATOR_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons"}
# What separates thousands, for each decimal sign; the last two are spaces of typesetters.
_THOUSANDS = {".": (",", "'", " ", "\u00a0", "\u202f"), ",": (".", " ", "'", "\u00a0", "\u202f")}
# Signs of units that may stand beside every number.
_SIGNS = "%$€£¥"
_THOUSANDS_NAMES = {",": "commas", ".": "points", "'": "apostrophes"}

Record = list[str]


@dataclass(frozen=True)
class Layout:
    """How a text table is written."""

    delimiter: str
    numbers: NumberFormat
    encoding: str
    columns: Columns
    skip: int = 0  # lines before the table: comments and titles
    blank: int = 0  # blank lines between them and the table
    title: str = ""  # the first words above the table
    ambiguous: str = ""  # a number whose comma or point may be a decimal sign or not

    @property
    def decimal(self) -> str:
        """The decimal sign."""
        return self.numbers.decimal

    def notes(self) -> list[str]:
        """Return sentences that say what was detected."""
        cells = f"Cells are separated by {_SEPARATOR_NAMES[self.delimiter]}"
        about = _about_numbers(self.numbers)
        cells += f", and numbers have {about}." if about else "."
        lines = "The first line is" if self.skip == 1 else f"The first {self.skip} lines are"
        title = f': "{self.title}". If it is, use --skip-rows 0.' if self.title else "."
        above = [f"{lines} not part of the table{title}"] if self.skip else []
        unsure = [self._about_ambiguous()] if self.ambiguous else []
        return [*above, cells, *unsure, *self.columns.notes(below=bool(self.skip))]

    def _about_ambiguous(self) -> str:
        sign = "," if "," in self.ambiguous else "."
        fraction, whole = (self.ambiguous.replace(sign, new) for new in (".", ""))
        if self.numbers.thousands == sign:
            return f"{self.ambiguous} is read as {whole}; with --decimal {sign} it is {fraction}."
        other = "." if sign == "," else ","
        return f"{self.ambiguous} is read as {fraction}; with --decimal {other} it is {whole}."


def _about_numbers(form: NumberFormat) -> str:
    decimal = "a decimal comma" if form.decimal == "," else ""
    name = _THOUSANDS_NAMES.get(form.thousands, "spaces")
    thousands = f"{name} between thousands" if form.thousands else ""
    sign = "the sign" if len(form.signs) == 1 else "the signs"
    signs = f"{sign} {' '.join(form.signs)}, which is not part of their value"
    return " and ".join(filter(None, (decimal, thousands, signs if form.signs else "")))


def detect_layout(path: Path, options: TableOptions = TABLE_OPTIONS) -> Layout:
    """Detect delimiter, header and row names from the first lines of a file."""
    encoding = _encoding(path)
    with open_text(path, encoding) as handle:
        head = list(islice(handle, SAMPLE_LINES + _MOST_COMMENTS + (options.skip_rows or 0)))
    is_all = len(head) < SAMPLE_LINES + _MOST_COMMENTS + (options.skip_rows or 0)
    skip = _count_comments(head) if options.skip_rows is None else options.skip_rows
    below = head[skip : skip + SAMPLE_LINES]
    lines = [line for line in below if line.strip()]
    if not lines:
        about = f" below the first {counted(skip, 'line')}" if options.skip_rows else ""
        raise MatrixError(f"{path}: the file is empty{about}")
    delimiter, numbers = _best_format(lines, options.decimal)
    try:
        starts, records = _split_with_starts(below, delimiter)
    except csv.Error as error:
        raise MatrixError(f"{path}: is not a text table ({error})") from error
    n_titles = count_titles(records, numbers) if options.skip_rows is None else 0
    title = _title(records[:n_titles])
    columns = detect_columns(records[n_titles:], numbers, options)
    if columns.header is not None and len(records) == n_titles + 1 and is_all:
        raise MatrixError(f"{path}: the matrix has no rows, only column names")
    blank = starts[0]
    if n_titles:
        skip, blank = skip + starts[n_titles], 0
    ambiguous = _ambiguous(records[n_titles:], columns, numbers)
    return Layout(delimiter, numbers, encoding, columns, skip, blank, title, ambiguous)


def _ambiguous(records: list[Record], columns: Columns, form: NumberFormat) -> str:
    """Return a number such as 1.234 if all numbers may have been misread; else an empty text."""
    cells = [
        record[j].strip()
        for record in records[columns.header is not None :]
        for j in columns.roles.number_columns
        if j < len(record) and not is_missing(record[j])
    ]
    for sign in ",.":
        grouped = [cell for cell in cells if sign in cell]
        rest = [cell for cell in cells if sign not in cell]
        if (
            grouped
            and sign in (form.thousands, form.decimal)
            and all(re.fullmatch(rf"[+-]?[1-9]\d{{0,2}}\{sign}\d{{3}}", cell) for cell in grouped)
            and all(re.fullmatch(r"[+-]?\d{1,3}", cell) for cell in rest)
        ):
            return grouped[0]
    return ""


def _title(records: list[Record]) -> str:
    """Return the first words of the titles, shortened."""
    cells = (" ".join(cell.split()) for record in records for cell in record)
    first = next(filter(None, cells), "")
    return first if len(first) <= _LONGEST_TITLE else f"{first[: _LONGEST_TITLE - 3]}..."


def is_compressed(path: Path) -> bool:
    """Whether the name of a file says that it is compressed with gzip."""
    return path.name.lower().endswith(".gz")


def open_text(path: Path, encoding: str) -> IO[str]:
    """Open a text file, compressed or not, for the csv module.

    Bytes that do not fit the encoding are replaced: they can only be part of a name, which is no
    reason to refuse a matrix.
    """
    opener = gzip.open if is_compressed(path) else open
    return opener(path, "rt", encoding=encoding, errors="replace", newline="")


def open_below_comments(path: Path, layout: Layout) -> IO[str]:
    """Open a text table at its first line below the comments."""
    handle = open_text(path, layout.encoding)
    for _ in islice(handle, layout.skip):
        pass
    return handle


def iter_records(path: Path, layout: Layout, header: bool = False) -> Iterator[tuple[int, Record]]:
    """Yield the records of a table with the line each starts on, without blank lines.

    The headings are left out unless `header` is true.
    """
    with open_below_comments(path, layout) as handle:
        reader = csv.reader(handle, delimiter=layout.delimiter, skipinitialspace=True)
        is_header = layout.columns.header is not None and not header
        line = 1 + layout.skip
        for record in reader:
            start, line = line, reader.line_num + 1 + layout.skip
            if not record or (len(record) == 1 and not record[0].strip()):
                continue
            if not is_header:
                yield start, record
            is_header = False


class _WatchedFile(io.RawIOBase):
    """Bytes of a file, counted as they are read."""

    def __init__(self, path: Path, watch: Watch):
        self._file = path.open("rb")
        self._size = path.stat().st_size
        self._watch = watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._file.readinto(buffer)
        self._watch(self._file.tell(), self._size)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def open_watched(path: Path, watch: Watch | None) -> io.BufferedIOBase:
    """Open a file for reading bytes, and report progress to `watch` after every megabyte."""
    if watch is None:
        return path.open("rb")
    return io.BufferedReader(_WatchedFile(path, watch), 1 << 20)


def _count_comments(lines: list[str]) -> int:
    """Count the comment lines at the start, such as ``# made by featureCounts``.

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
        return "cp1252"  # as spreadsheet programs on Windows write it
    return "utf-8-sig"


def _split(lines: list[str], delimiter: str) -> list[Record]:
    return list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))


def _split_with_starts(lines: list[str], delimiter: str) -> tuple[list[int], list[Record]]:
    """Return the records that are not blank, and the position of the first line of each."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    starts, records, start = [], [], 0
    for record in reader:
        if record and not (len(record) == 1 and not record[0].strip()):
            starts.append(start)
            records.append(record)
        start = reader.line_num
    return starts, records


def _best_format(lines: list[str], decimal: str | None) -> tuple[str, NumberFormat]:
    """Return the delimiter, and how numbers are written, that explain most cells."""
    pairs = [pair for pair in _SEPARATORS if decimal in (None, pair[1])]
    if decimal == ",":
        pairs.append((",", ","))  # cells in quotation marks
    signs = "".join(sign for sign in _SIGNS if any(sign in line for line in lines[1:]))
    plain = {sign: NumberFormat(sign, "", signs) for _, sign in pairs}
    scores = {
        (delimiter, plain[sign]): _score(lines, delimiter, plain[sign])
        for delimiter, sign in pairs
    }
    for delimiter, sign in pairs:
        if scores[delimiter, plain[sign]][0]:
            for thousands in _THOUSANDS[sign]:
                form = replace(plain[sign], thousands=thousands)
                if any(thousands in line for line in lines):
                    scores[delimiter, form] = _score(lines, delimiter, form)
    # The first of equals has no separator of thousands.
    delimiter, form = best = max(scores, key=scores.__getitem__)
    records = _split(lines, delimiter)
    cells = [cell for record in records for cell in record]
    other = (delimiter, NumberFormat(".", ",", signs))
    if (
        form == plain.get(",")
        and scores.get(other) == scores[best]
        and _are_thousands(cells, form)
    ):
        form = other[1]
    # Signs in the first column alone are part of names, as in doses.
    others = [cell for record in records for cell in record[1:] or record]
    return delimiter, replace(form, signs=_signs_of_numbers(others, form))


def _signs_of_numbers(cells: list[str], form: NumberFormat) -> str:
    """Return those of the signs that stand beside numbers, and not only in texts."""
    bare = replace(form, signs="")
    signed = [cell for cell in cells if is_number(cell, form) and not is_number(cell, bare)]
    return "".join(sign for sign in form.signs if any(sign in cell for cell in signed))


def _are_thousands(cells: list[str], form: NumberFormat) -> bool:
    """Whether commas in numbers separate thousands: only small numbers have none."""
    numbers = [cell.strip(f" {form.signs}") for cell in cells if is_number(cell, form)]
    whole = [cell for cell in numbers if "," not in cell]
    grouped = [cell for cell in numbers if "," in cell]
    return (
        bool(grouped)
        and 4 * len(whole) >= len(grouped)
        and all(len(cell.lstrip("+-")) <= 3 for cell in whole)
        and not any(cell.lstrip("+-").startswith("0") for cell in grouped)
    )


def _score(lines: list[str], delimiter: str, form: NumberFormat) -> tuple[bool, bool, float, int]:
    """Rank a separator: whether it splits lines, evenly, into numbers, and into how many cells."""
    try:
        records = _split(lines, delimiter)
    except csv.Error:  # a wide line that the wrong delimiter leaves in one piece
        return False, False, 0.0, 0
    width = usual_width(records[len(records) // 2 :])
    first = next((i for i, record in enumerate(records) if len(record) >= width - 1 > 0), 0)
    below = records[first:]
    widths = Counter(map(len, below[1:] or below))
    cells = [cell for record in records for cell in record[:_SAMPLE_CELLS]]
    numbers = sum(is_number(cell, form) for cell in cells)
    even = widths[width] == widths.total()
    return width > 1, even, numbers / max(len(cells), 1), width
