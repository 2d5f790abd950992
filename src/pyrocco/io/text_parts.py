"""A matrix in many text files: lines are counted at once, numbers are read a file at a time."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from pyrocco.io.diagnose import header_problem
from pyrocco.io.errors import MatrixError, read_errors
from pyrocco.io.layout import Layout, detect_layout, open_text
from pyrocco.io.matrix import default_names
from pyrocco.io.parts import Parts, check_same_names, text_array
from pyrocco.io.request import Request
from pyrocco.io.table import check_columns
from pyrocco.io.text import load_rows

__all__ = ["text_parts"]


def text_parts(paths: Sequence[Path]) -> Parts:
    r"""Look at the text files of a matrix without reading their numbers.

    Parameters
    ----------
    paths : sequence of Path
        CSV, TSV or TXT, compressed or not, in the order of the rows. How the first is laid out
        holds for all.

    Returns
    -------
    Parts

    Raises
    ------
    MatrixError
        Files have different columns, one has no rows, or the table is a long one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [Path(folder) / name for name in ("1.csv", "2.csv")]
    ...     for path in paths:
    ...         _ = path.write_text("gene,liver,heart\nTP53,1,2\nMYC,3,4\n")
    ...     parts = text_parts(paths)
    ...     parts.shape, parts.read(parts.places[1], parts.how).tolist()
    ((4, 2), [[1.0, 2.0], [3.0, 4.0]])
    """
    first = paths[0]
    layout = _layout(first)
    heads = [_first_record(path, layout) for path in paths]
    for path, head in zip(paths, heads, strict=True):
        _check_head(head, heads[0], path, first, layout)
    counts = tuple(_count_rows(path, layout) for path in paths)
    numbers = layout.columns.roles.numbers
    names = layout.columns.names or default_names("column", len(numbers))
    return Parts(
        places=tuple(zip(map(str, paths), counts, strict=True)),
        n_rows=counts,
        column_names=names,
        dtype=np.dtype(np.float64),
        how=layout,
        read=_read,
        read_names=None if layout.columns.roles.index is None else _read_names,
        notes=tuple(layout.notes()),
    )


def _layout(first: Path) -> Layout:
    try:
        with read_errors(first):
            layout = detect_layout(first)
    except csv.Error as error:
        raise MatrixError(f"{first}: is not a text table ({error})") from error
    if layout.columns.roles.long:
        raise MatrixError(
            f"{first}: is a long table (row, column, value), and these are read from one file only"
        )
    check_columns(layout.columns, Request(), str(first))
    problem = header_problem(layout.columns)
    if problem:
        raise MatrixError(f"{first}: {problem}")
    return layout


def _open_below_remarks(path: Path, layout: Layout) -> IO[str]:
    handle = open_text(path, layout.encoding)
    for _ in islice(handle, layout.skip):
        pass
    return handle


def _first_record(path: Path, layout: Layout) -> list[str]:
    with read_errors(path), _open_below_remarks(path, layout) as handle:
        reader = csv.reader(handle, delimiter=layout.delimiter, skipinitialspace=True)
        record = next((record for record in reader if record), [])
    if not record:
        raise MatrixError(f"{path}: the file is empty: remove it, or write it again")
    return [cell.strip() for cell in record]


def _check_head(
    head: Sequence[str], others: Sequence[str], path: Path, first: Path, layout: Layout
) -> None:
    if layout.columns.header is not None:
        check_same_names(head, others, path, first)
    elif len(head) != len(others):
        raise MatrixError(
            f"{path}: has {len(head)} columns, but {first} has {len(others)}: all files of a "
            "matrix need the same columns"
        )


def _count_rows(path: Path, layout: Layout) -> int:
    """Count lines that hold anything: much faster than to split them into numbers."""
    blank = " \t\r\n".replace(layout.delimiter, "")
    with read_errors(path), _open_below_remarks(path, layout) as handle:
        lines = sum(1 for line in handle if line.strip(blank))
    rows = lines - (layout.columns.header is not None)
    if rows < 1:
        raise MatrixError(f"{path}: has no rows, only column names: remove it, or write it again")
    return rows


def _read(place: tuple[str, int], layout: Layout) -> Any:
    path, n_rows = Path(place[0]), place[1]
    with read_errors(path):
        return _checked(load_rows(path, layout).X, path, n_rows)


def _read_names(place: tuple[str, int], layout: Layout) -> Any:
    path, n_rows = Path(place[0]), place[1]
    (index,) = layout.columns.roles.text_columns
    with read_errors(path), _open_below_remarks(path, layout) as handle:
        reader = csv.reader(handle, delimiter=layout.delimiter, skipinitialspace=True)
        records = (
            record for record in reader if record and (len(record) > 1 or record[0].strip())
        )
        start = int(layout.columns.header is not None)
        names = [record[index] for record in islice(records, start, None)]
    return _checked(text_array(names), path, n_rows)


def _checked(rows: Any, path: Path, n_rows: int) -> Any:
    """The lines that were counted must be the rows that are there."""
    if len(rows) != n_rows:
        raise MatrixError(
            f"{path}: has {n_rows} lines but {len(rows)} rows: a cell holds a line break, or the "
            "file was changed; write every row on one line"
        )
    return rows
