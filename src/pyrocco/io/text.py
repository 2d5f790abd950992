"""Reading CSV and TSV: fast when the file is good, exact when it is not."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pyrocco.io.diagnose import first_problem
from pyrocco.io.layout import Layout, detect_layout
from pyrocco.io.matrix import Matrix, MatrixError, about_shape, default_names

__all__ = ["read_text"]


def read_text(path: Path) -> Matrix:
    r"""Read a table of numbers from a text file.

    Parameters
    ----------
    path : Path
        CSV, TSV or TXT, with or without column and row names.

    Returns
    -------
    Matrix

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
    ...     _ = path.write_text("1;2,5\n3;4\n")
    ...     matrix = read_text(path)
    >>> matrix.X.tolist(), matrix.column_names
    ([[1.0, 2.5], [3.0, 4.0]], ('column_0', 'column_1'))
    """
    try:
        layout = detect_layout(path)
    except csv.Error as error:
        raise MatrixError(f"{path}: is not a text table ({error})") from error
    _check_has_columns(layout, path)
    frame = _read_frame(path, layout)
    X = np.ascontiguousarray(frame.iloc[:, layout.first :].to_numpy(dtype=np.float64))
    _check_rows(X, path, layout)
    n_rows, n_columns = X.shape
    names = tuple(frame[0].str.strip()) if layout.has_index else default_names("row", n_rows)
    return Matrix(
        X,
        names,
        layout.header or default_names("column", n_columns),
        (*layout.notes(), about_shape(n_rows, n_columns)),
    )


def _check_has_columns(layout: Layout, path: Path) -> None:
    if layout.width == layout.first:
        raise MatrixError(
            f"{path}: the matrix has no columns of numbers "
            "(cells must be separated by commas, tabs or semicolons)"
        )


def _check_rows(X: np.ndarray[Any, Any], path: Path, layout: Layout) -> None:
    if len(X) == 0:
        raise MatrixError(f"{path}: the matrix has no rows: only column names were found")
    good = np.isfinite(X).all(axis=1)
    if not good.all():
        raise MatrixError(f"{path}: {first_problem(path, layout, skip=int(np.argmin(good)))}")


def _read_frame(path: Path, layout: Layout) -> pd.DataFrame:
    types: dict[int, Any] = dict.fromkeys(range(layout.width), np.float64)
    if layout.has_index:
        types[0] = str
    if layout.header is not None and len(layout.header) != layout.width - layout.first:
        raise MatrixError(f"{path}: {first_problem(path, layout)}")
    try:
        frame = pd.read_csv(
            path,
            sep=layout.delimiter,
            decimal=layout.decimal,
            encoding=layout.encoding,
            encoding_errors="replace",
            header=None if layout.header is None else 0,
            names=list(range(layout.width)),
            dtype=types,
            # Without the filter an empty cell is an error, and a gene called "NA" keeps its name.
            na_filter=False,
            skipinitialspace=True,
        )
    except ValueError as error:  # pandas' own errors among them
        message = first_problem(path, layout) or " ".join(str(error).split())
        raise MatrixError(f"{path}: {message}") from error
    # From a first line longer than the others pandas takes cells to make an index.
    if not isinstance(frame.index, pd.RangeIndex):
        raise MatrixError(f"{path}: {first_problem(path, layout)}")
    return frame
