"""Reading and writing Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from pyrocco.io.arrow import import_arrow, numbers_of
from pyrocco.io.columns import SAMPLE_LINES, Columns
from pyrocco.io.errors import MatrixError
from pyrocco.io.matrix import Matrix
from pyrocco.io.request import Request
from pyrocco.io.roles import NEITHER, NUMBER, TEXT, assign_roles
from pyrocco.io.table import Loaded, check_columns, matrix_from_table

__all__ = ["column_kinds", "parquet_columns", "read_parquet", "write_parquet"]


def read_parquet(path: Path, request: Request) -> Matrix:
    """Read a table from a Parquet file.

    Parameters
    ----------
    path : Path
        A .parquet file, wide or long. Row names are the index that pandas wrote, or the first
        column of text.
    request : Request
        Options; those used are ``layout`` and ``absent``.

    Returns
    -------
    Matrix
        Missing cells are NaN. Columns that hold no numbers are set aside.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.parquet"
    ...     write_parquet(path, {"gene": ["TP53", "MYC"], "liver": [1, None]})
    ...     matrix = read_parquet(path, Request())
    >>> matrix.row_names, matrix.X.tolist()
    (('TP53', 'MYC'), [[1.0], [nan]])
    """
    pa = import_arrow()
    try:
        table = pa.parquet.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise MatrixError(f"{path}: is not a Parquet file, or is damaged") from error
    columns = parquet_columns(table, request.layout)
    check_columns(columns, request, str(path))
    roles = columns.roles
    texts = [
        pd.Series(table.column(j).cast("string").to_pandas(), dtype="category")
        for j in roles.text_columns
    ]
    numbers = [table.column(j) for j in roles.number_columns]
    notes = ["A Parquet file; its rows are the rows of the matrix.", *roles.notes(columns.header)]
    loaded = Loaded(texts, numbers_of(numbers, table.num_rows))
    return matrix_from_table(loaded, columns, notes, request, str(path))


def parquet_columns(table: Any, how: str = "auto") -> Columns:
    """Tell what the columns of an Arrow table are for.

    Parameters
    ----------
    table : Table
        The table, or the first rows of it.
    how : {"auto", "wide", "long"}
        Whether the table is one row per line or one cell per line.

    Returns
    -------
    Columns

    Examples
    --------
    >>> table = import_arrow().table({"gene": ["TP53", "MYC"], "liver": [1, 2]})
    >>> parquet_columns(table).roles.index
    0
    """
    names = tuple(table.column_names)
    kinds = column_kinds(table.schema)
    heads = [column.slice(0, SAMPLE_LINES).to_pylist() for column in table.columns]
    repeats = [len(set(map(str, cells))) < len(cells) for cells in heads]
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    kept = [names.index(name) for name in stored if isinstance(name, str) and name in names]
    roles = assign_roles(kinds, names, repeats, kept[0] if kept else None, how)
    return Columns(len(names), names, roles)


def column_kinds(schema: Any) -> list[str]:
    """Tell what each column of an Arrow table holds by its type.

    Parameters
    ----------
    schema : Schema
        Names and types.

    Returns
    -------
    list of str
        ``"number"``, ``"text"``, or ``"neither"``.

    Examples
    --------
    >>> column_kinds(import_arrow().table({"gene": ["TP53"], "liver": [1], "pair": [[1]]}).schema)
    ['text', 'number', 'neither']
    """
    return [_kind(field.type) for field in schema]


def _kind(data_type: Any) -> str:
    types = import_arrow().types
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    if any(test(data_type) for test in numbers):
        return NUMBER
    # Categories are text, and dates can serve as names.
    is_text = types.is_dictionary(data_type) or not types.is_nested(data_type)
    return TEXT if is_text else NEITHER


def write_parquet(path: Path, table: dict[str, Any]) -> None:
    """Write a table to a Parquet file.

    Parameters
    ----------
    path : Path
        Where to.
    table : dict
        Columns by their names.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.parquet"
    ...     write_parquet(path, {"name": ["a", "b"], "label": [0, 1]})
    ...     pd.read_parquet(path)["label"].tolist()
    [0, 1]
    """
    pa = import_arrow()
    pa.parquet.write_table(pa.table(table), path)
