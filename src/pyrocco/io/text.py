"""Reading CSV and TSV: fast when the file is good, exact when it is not."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyrocco.io import arrow
from pyrocco.io.cells import MISSING
from pyrocco.io.diagnose import first_problem, header_problem, ragged_line
from pyrocco.io.errors import MatrixError
from pyrocco.io.layout import Layout, detect_layout, is_compressed
from pyrocco.io.matrix import Matrix
from pyrocco.io.request import Request, Watch
from pyrocco.io.table import Loaded, check_columns, matrix_from_table
from pyrocco.io.watched import open_watched

__all__ = ["load_rows", "read_text"]

# Bytes from which pyarrow is worth its import, and from which it is worth installing.
LARGE = 4 << 20
VERY_LARGE = 64 << 20
# Every digit counts: what newer versions of pandas do by themselves, and warn when asked for.
_EXACT: Any = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
_FASTER = 'Large text files are read faster after: pip install "pyrocco[arrow]".'


def read_text(path: Path, request: Request) -> Matrix:
    r"""Read a table of numbers from a text file.

    Parameters
    ----------
    path : Path
        CSV, TSV or TXT, with or without column and row names, wide or long.
    request : Request
        Options; those used are ``layout``, ``absent`` and ``watch``.

    Returns
    -------
    Matrix
        Missing cells are NaN. Columns of text are set aside.

    Raises
    ------
    MatrixError
        Names the row and the column of the first cell that is not a finite number, or the line
        with too few or too many cells.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("1;2,5\n3;NA\n")
    ...     matrix = read_text(path, Request())
    >>> matrix.X.tolist(), matrix.column_names
    ([[1.0, 2.5], [3.0, nan]], ('column_0', 'column_1'))
    """
    try:
        layout = detect_layout(path, request.layout)
    except csv.Error as error:
        raise MatrixError(f"{path}: is not a text table ({error})") from error
    check_columns(layout.columns, request, str(path))
    problem = header_problem(layout.columns)
    if problem:
        raise MatrixError(f"{path}: {problem}")
    loaded, how = _load(path, layout, request.watch)
    _check_finite(loaded, path, layout)
    return matrix_from_table(loaded, layout.columns, layout.notes() + how, request, str(path))


def load_rows(path: Path, layout: Layout) -> Loaded:
    r"""Read the columns of a text file whose layout is known, on one core.

    Parameters
    ----------
    path : Path
        The file.
    layout : Layout
        How its cells lie.

    Returns
    -------
    Loaded

    Raises
    ------
    MatrixError
        Names the first cell that is not a finite number, or a line of another length.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("1,2\n3,NA\n")
    ...     load_rows(path, detect_layout(path)).X.tolist()
    [[1.0, 2.0], [3.0, nan]]
    """
    loaded = _load_with_pandas(path, layout, None)
    _check_finite(loaded, path, layout)
    return loaded


def _check_finite(loaded: Loaded, path: Path, layout: Layout) -> None:
    infinite = np.isinf(loaded.X).any(axis=1)
    if infinite.any():
        problem = first_problem(path, layout, skip=int(np.argmax(infinite)))
        raise MatrixError(f"{path}: {problem}")


def _load(path: Path, layout: Layout, watch: Watch | None) -> tuple[Loaded, list[str]]:
    """Read the columns with the reader that suits the file, and say so where it matters."""
    size = path.stat().st_size
    hint = []
    if size >= LARGE and arrow.can_read(layout):
        loaded = arrow.load_text(path, layout, watch) if arrow.is_installed() else None
        if loaded is not None:  # what is wrong with a file is found the slow way
            return loaded, []
        hint = [] if size < VERY_LARGE or arrow.is_installed() else [_FASTER]
    return _load_with_pandas(path, layout, watch), hint


def _load_with_pandas(path: Path, layout: Layout, watch: Watch | None) -> Loaded:
    frame = _read_frame(path, layout, watch)
    roles = layout.columns.roles
    X = np.ascontiguousarray(frame[list(roles.number_columns)].to_numpy(dtype=np.float64))
    _check_last_column(frame, path, layout)
    return Loaded([frame[position] for position in roles.text_columns], X)


def _read_frame(path: Path, layout: Layout, watch: Watch | None) -> pd.DataFrame:
    columns = layout.columns
    numbers = columns.roles.number_columns
    # Only among the numbers does NA mean missing: a gene called "NA" keeps its name.
    types: dict[int, Any] = dict.fromkeys(range(columns.width), "category")
    types |= dict.fromkeys(numbers, np.float64)
    missing: Any = dict.fromkeys(numbers, MISSING)
    try:
        with open_watched(path, watch) as file:
            frame: pd.DataFrame = pd.read_csv(
                file,
                sep=layout.delimiter,
                decimal=layout.decimal,
                encoding=layout.encoding,
                encoding_errors="replace",
                compression="gzip" if is_compressed(path) else None,
                skiprows=layout.skip,
                header=None if columns.header is None else 0,
                names=list(range(columns.width)),
                dtype=types,
                keep_default_na=False,
                na_values=missing,
                skipinitialspace=True,
                **_EXACT,
            )
    except ValueError as error:  # pandas' own errors among them
        message = first_problem(path, layout) or " ".join(str(error).split())
        raise MatrixError(f"{path}: {message}") from error
    # From a first line longer than the others pandas takes cells to make an index.
    if not isinstance(frame.index, pd.RangeIndex):
        raise MatrixError(f"{path}: {first_problem(path, layout)}")
    return frame


def _check_last_column(frame: pd.DataFrame, path: Path, layout: Layout) -> None:
    """To pandas the end of a line that is too short is missing: look whether it is so."""
    last = frame[layout.columns.width - 1]
    if bool(last.isna().any()) or bool((last == "").any()):
        problem = ragged_line(path, layout)
        if problem:
            raise MatrixError(f"{path}: {problem}")
