"""The one home of pyarrow: Parquet files, and large text files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike

from pyrocco._typing import Dense
from pyrocco.io.cell_texts import MISSING, NEITHER, NUMBER, TEXT, column_kind, to_number
from pyrocco.io.column_facts import ColumnFacts
from pyrocco.io.columns import Columns
from pyrocco.io.errors import MissingExtraError, damage_errors, extra
from pyrocco.io.headings import SAMPLE_LINES
from pyrocco.io.named_matrix import Matrix
from pyrocco.io.roles import assign_roles
from pyrocco.io.sniff import Layout, Watch, is_compressed, open_watched
from pyrocco.io.table_options import TABLE_OPTIONS, TableOptions
from pyrocco.io.tables import LoadedColumns, check_columns, matrix_from_table
from pyrocco.texts import plain_text

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

__all__ = [
    "can_read",
    "column_kinds",
    "import_arrow",
    "is_installed",
    "load_frame",
    "load_parquet",
    "load_text",
    "numbers_of",
    "open_parquet",
    "parquet_columns",
    "parquet_head",
    "read_parquet",
    "write_parquet",
]

# Hundreds of lines of a table with 20,000 columns.
_BLOCK_BYTES = 32 << 20


def import_arrow(what: str = "Parquet files") -> ModuleType:
    """Import pyarrow, or raise a `MissingExtraError` that says what needs it."""
    with extra("arrow", what):
        import pyarrow  # noqa: PLC0415 - an optional package
        import pyarrow.csv  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415
    return pyarrow  # type: ignore[no-any-return]


def is_installed() -> bool:
    """Whether pyarrow is installed."""
    try:
        import_arrow()
    except MissingExtraError:
        return False
    return True


def can_read(layout: Layout) -> bool:
    """Whether pyarrow reads a text file of this layout as pandas does."""
    return layout.encoding == "utf-8-sig"


def load_text(path: Path, layout: Layout, watch: Watch | None) -> LoadedColumns | None:
    """Read the columns of a text file on all cores; None if anything is wrong with the file."""
    pa = import_arrow("Large text files")
    roles = layout.columns.roles
    names = [str(position) for position in range(layout.columns.width)]
    wanted = [names[position] for position in (*roles.text_columns, *roles.number_columns)]
    types = dict.fromkeys(wanted, pa.dictionary(pa.int32(), pa.string()))
    types |= {names[position]: pa.float64() for position in roles.number_columns}
    reading = pa.csv.ReadOptions(
        column_names=names,
        skip_rows=layout.skip + (layout.columns.header is not None),
        block_size=_BLOCK_BYTES,
    )
    parsing = pa.csv.ParseOptions(delimiter=layout.delimiter)
    converting = pa.csv.ConvertOptions(
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
            table = pa.csv.open_csv(stream, reading, parsing, converting).read_all()
    except (pa.ArrowInvalid, OSError):
        return None
    n_texts = len(roles.text_columns)
    texts = [
        column.unify_dictionaries().to_pandas().astype("category")
        for column in table.columns[:n_texts]
    ]
    return LoadedColumns(texts, numbers_of(table.columns[n_texts:], table.num_rows))


def numbers_of(
    columns: Sequence[pyarrow.ChunkedArray], n_rows: int, dtype: DTypeLike = float
) -> Dense:
    """Return columns of an Arrow table as one array, with NaN for missing values."""
    X = np.empty((n_rows, len(columns)), dtype=dtype)
    for j, column in enumerate(columns):
        X[:, j] = column.cast("float64").to_numpy()
    return X


def read_parquet(path: Path, options: TableOptions = TABLE_OPTIONS) -> Matrix:
    """Read a wide or long table from a Parquet file.

    Row names are the index that pandas wrote, or the first column of text or of identifiers.
    """
    with damage_errors(_no_parquet(path)):
        table = load_parquet(path)
        columns = parquet_columns(table, options)
        check_columns(columns, str(path), options)
        roles = columns.roles
        texts = [_names(table.column(j)) for j in roles.text_columns]
        columns_of_numbers = [table.column(j) for j in roles.number_columns]
        if roles.are_answers:
            columns_of_numbers = [_answers(column) for column in columns_of_numbers]
        numbers = numbers_of(columns_of_numbers, table.num_rows)
    about = "A Parquet file; its rows are the rows of the matrix."
    notes = [about, *roles.notes(columns.header)]
    return matrix_from_table(LoadedColumns(texts, numbers), columns, notes, str(path), options)


def _names(column: pyarrow.ChunkedArray) -> pd.Series[Any]:
    """Return names as categories."""
    is_float = import_arrow().types.is_floating(column.type)
    names = _texts(column) if is_float else column.cast("string").to_pandas()
    return pd.Series(names, dtype="category")


def _texts(column: pyarrow.ChunkedArray) -> list[str]:
    """Return cells as texts; whole numbers have no decimal point, and missing cells are empty."""
    return ["" if cell is None else plain_text(cell) for cell in column.to_pylist()]


def _answers(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Return 1 for yes, 0 for no and null for missing answers."""
    pa = import_arrow()
    numbers = [to_number(text) for text in _texts(column)]
    return pa.chunked_array([pa.array(numbers, from_pandas=True, type=pa.float64())])


def _no_parquet(path: Path) -> str:
    return f"{path}: is not a Parquet file, or is damaged"


def open_parquet(path: Path) -> pyarrow.parquet.ParquetFile:
    """Open a Parquet file without reading its rows."""
    pa = import_arrow()
    with damage_errors(_no_parquet(path)):
        return pa.parquet.ParquetFile(path)


def load_parquet(
    path: Path, columns: list[str] | None = None, use_threads: bool = True
) -> pyarrow.Table:
    """Read a Parquet file, or some of its columns."""
    pa = import_arrow()
    with damage_errors(_no_parquet(path)):
        return pa.parquet.ParquetFile(path).read(columns=columns, use_threads=use_threads)


def parquet_head(
    path: Path, options: TableOptions = TABLE_OPTIONS
) -> tuple[Columns, pd.DataFrame]:
    """Return what the columns of a Parquet file are used for, and its first rows."""
    with damage_errors(_no_parquet(path)):
        file = open_parquet(path)
        batches = list(islice(file.iter_batches(batch_size=SAMPLE_LINES), 1))
        table = import_arrow().Table.from_batches(batches, file.schema_arrow)
        return parquet_columns(table, options), table.to_pandas()


def load_frame(path: Path) -> pd.DataFrame:
    """Read a Parquet file as a table with all types of columns."""
    with damage_errors(_no_parquet(path)):
        return load_parquet(path).to_pandas()  # type: ignore[no-any-return]


def parquet_columns(table: pyarrow.Table, options: TableOptions = TABLE_OPTIONS) -> Columns:
    """Return what the columns of an Arrow table, or of its first rows, are used for."""
    names = tuple(table.column_names)
    heads = [_texts(column.slice(0, SAMPLE_LINES)) for column in table.columns]
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = [names.index(name) for name in stored if isinstance(name, str) and name in names]
    facts = [
        ColumnFacts(column_kind(cells) if kind == TEXT else kind, cells)
        for kind, cells in zip(column_kinds(table.schema), heads, strict=True)
    ]
    roles = assign_roles(facts, names, index[0] if index else None, options)
    return Columns(len(names), names, roles)


def column_kinds(schema: pyarrow.Schema) -> list[str]:
    """Return what the columns of an Arrow table hold, judged by their types."""
    return [_kind(field.type) for field in schema]


def _kind(data_type: pyarrow.DataType) -> str:
    types = import_arrow().types
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    if any(test(data_type) for test in numbers):
        return NUMBER
    # Categories are text, and dates can serve as names.
    is_text = types.is_dictionary(data_type) or not types.is_nested(data_type)
    return TEXT if is_text else NEITHER


def write_parquet(path: Path, table: Mapping[str, Any]) -> None:
    """Write a table, given as columns by name, to a Parquet file."""
    pa = import_arrow()
    pa.parquet.write_table(pa.table(dict(table)), path)
