"""The one home of pyarrow: Parquet files, and text files of gigabytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrocco.io.cells import MISSING
from pyrocco.io.columns import SAMPLE_LINES, Columns
from pyrocco.io.errors import MatrixError
from pyrocco.io.extras import MissingExtraError, extra
from pyrocco.io.layout import Layout, is_compressed
from pyrocco.io.matrix import Matrix
from pyrocco.io.request import Request, Watch
from pyrocco.io.roles import NEITHER, NUMBER, TEXT, assign_roles
from pyrocco.io.table import Loaded, check_columns, matrix_from_table
from pyrocco.io.watched import open_watched

__all__ = [
    "can_read",
    "import_arrow",
    "is_installed",
    "load_text",
    "read_parquet",
    "write_parquet",
]

# Hundreds of lines of a table with 20,000 columns.
_BLOCK = 32 << 20


def is_installed() -> bool:
    """Whether pyarrow is there to be used.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_installed() in (True, False)
    True
    """
    try:
        import_arrow()
    except MissingExtraError:
        return False
    return True


def import_arrow(what: str = "Parquet files") -> Any:
    """Import pyarrow, or say how to get it.

    Parameters
    ----------
    what : str
        What needs it.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        It is not installed.

    Examples
    --------
    >>> import_arrow().__name__
    'pyarrow'
    """
    with extra("arrow", what):
        import pyarrow  # noqa: PLC0415 - the one home of an optional package
        import pyarrow.csv  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415
    return pyarrow


def can_read(layout: Layout) -> bool:
    """Whether pyarrow reads text of this kind as pandas does.

    Parameters
    ----------
    layout : Layout
        What was detected.

    Returns
    -------
    bool

    Examples
    --------
    >>> from pyrocco.io.columns import detect_columns
    >>> columns = detect_columns([["1", "2"], ["3", "4"]])
    >>> [can_read(Layout(",", ".", code, columns)) for code in ("utf-8-sig", "utf-16")]
    [True, False]
    """
    return layout.encoding == "utf-8-sig"


def load_text(path: Path, layout: Layout, watch: Watch | None) -> Loaded | None:
    r"""Read the columns of a text file, in blocks and on all cores.

    Parameters
    ----------
    path : Path
        The file.
    layout : Layout
        What was detected.
    watch : callable or None
        Told how far reading has come.

    Returns
    -------
    Loaded or None
        None where anything is wrong with the file: another reader says what.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco.io.layout import detect_layout
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("1,2\n3,NA\n")
    ...     load_text(path, detect_layout(path), None).X.tolist()
    [[1.0, 2.0], [3.0, nan]]
    """
    pa = import_arrow("Large text files")
    csv = pa.csv
    roles = layout.columns.roles
    names = [str(position) for position in range(layout.columns.width)]
    wanted = [names[position] for position in (*roles.text_columns, *roles.number_columns)]
    types = dict.fromkeys(wanted, pa.dictionary(pa.int32(), pa.string()))
    types |= {names[position]: pa.float64() for position in roles.number_columns}
    reading = csv.ReadOptions(
        column_names=names,
        skip_rows=layout.skip + (layout.columns.header is not None),
        block_size=_BLOCK,
    )
    parsing = csv.ParseOptions(delimiter=layout.delimiter)
    converting = csv.ConvertOptions(
        column_types=types,
        include_columns=wanted,
        null_values=list(MISSING),
        strings_can_be_null=False,
        decimal_point=layout.decimal,
    )
    try:
        with open_watched(path, watch) as file:
            stream = pa.PythonFile(file, mode="r")
            if is_compressed(path):
                stream = pa.CompressedInputStream(stream, "gzip")
            table = csv.open_csv(stream, reading, parsing, converting).read_all()
    except (pa.ArrowInvalid, OSError):
        return None
    return _gather(table, len(roles.text_columns))


def _gather(table: Any, n_texts: int) -> Loaded:
    """Columns of names first, then the numbers as one array."""
    texts = [
        column.unify_dictionaries().to_pandas().astype("category")
        for column in table.columns[:n_texts]
    ]
    return Loaded(texts, _numbers(table.columns[n_texts:], table.num_rows))


def _numbers(columns: Sequence[Any], n_rows: int) -> NDArray[np.float64]:
    X = np.empty((n_rows, len(columns)))
    for j, column in enumerate(columns):
        X[:, j] = column.cast("float64").to_numpy()
    return X


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
    columns = _parquet_columns(table, request.layout)
    check_columns(columns, request, str(path))
    roles = columns.roles
    texts = [
        pd.Series(table.column(j).cast("string").to_pandas(), dtype="category")
        for j in roles.text_columns
    ]
    numbers = [table.column(j) for j in roles.number_columns]
    notes = ["A Parquet file; its rows are the rows of the matrix.", *roles.notes(columns.header)]
    loaded = Loaded(texts, _numbers(numbers, table.num_rows))
    return matrix_from_table(loaded, columns, notes, request, str(path))


def _parquet_columns(table: Any, how: str) -> Columns:
    names = tuple(table.column_names)
    kinds = [_kind(field.type) for field in table.schema]
    heads = [column.slice(0, SAMPLE_LINES).to_pylist() for column in table.columns]
    repeats = [len(set(map(str, cells))) < len(cells) for cells in heads]
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    kept = [names.index(name) for name in stored if isinstance(name, str) and name in names]
    roles = assign_roles(kinds, names, repeats, kept[0] if kept else None, how)
    return Columns(len(names), names, roles)


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
