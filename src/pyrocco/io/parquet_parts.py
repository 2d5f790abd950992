"""A matrix in many Parquet files: names and sizes come from what the files say of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pyrocco.io.arrow import import_arrow, numbers_of
from pyrocco.io.checks import check_numbers
from pyrocco.io.columns import SAMPLE_LINES, Columns
from pyrocco.io.errors import MatrixError
from pyrocco.io.parquet import column_kinds, parquet_columns
from pyrocco.io.parts import Parts, check_same_names, text_array
from pyrocco.io.request import Request
from pyrocco.io.roles import NUMBER
from pyrocco.io.table import check_columns

__all__ = ["parquet_parts"]


@dataclass(frozen=True)
class _How:
    """What the readers of all parts need: which columns, and as what."""

    index: int | None
    index_name: str | None
    numbers: tuple[int, ...]
    dtype: Any


def parquet_parts(paths: Sequence[Path]) -> Parts:
    """Look at the Parquet files of a matrix without reading their numbers.

    Parameters
    ----------
    paths : sequence of Path
        The files in the order of the rows. What the columns of the first are for holds for all.

    Returns
    -------
    Parts
        float32 where every column of every file is.

    Raises
    ------
    MatrixError
        Files have different columns, one has no rows, or text where others have numbers.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco.io.parquet import write_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [Path(folder) / name for name in ("1.parquet", "2.parquet")]
    ...     for path in paths:
    ...         write_parquet(path, {"gene": ["TP53", "MYC"], "liver": [1, 2]})
    ...     parts = parquet_parts(paths)
    ...     parts.shape, parts.read_names(parts.places[1], parts.how).tolist()
    ((4, 1), ['TP53', 'MYC'])
    """
    files = [_open(path) for path in paths]
    counts = tuple(_count_rows(file, path) for file, path in zip(files, paths, strict=True))
    columns = _columns(files[0], paths[0])
    schemas = [file.schema_arrow for file in files]
    for path, schema in zip(paths, schemas, strict=True):
        _check_schema(schema, schemas[0], path, paths[0], columns)
    index, numbers = columns.roles.index, columns.roles.numbers
    names = schemas[0].names
    is_small = all(schema.types[j] == "float" for schema in schemas for j in numbers)
    dtype = np.dtype(np.float32 if is_small else np.float64)
    return Parts(
        places=tuple(map(str, paths)),
        n_rows=counts,
        column_names=tuple(names[j] for j in numbers),
        dtype=dtype,
        how=_How(index, None if index is None else names[index], numbers, dtype),
        read=_read,
        read_names=None if index is None else _read_names,
        notes=tuple(columns.roles.notes(columns.header)),
    )


def _open(path: Path) -> Any:
    pa = import_arrow()
    try:
        return pa.parquet.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise MatrixError(f"{path}: is not a Parquet file, or is damaged") from error


def _count_rows(file: Any, path: Path) -> int:
    n_rows = int(file.metadata.num_rows)
    if n_rows == 0:
        raise MatrixError(f"{path}: has no rows: remove it, or write it again")
    return n_rows


def _columns(file: Any, path: Path) -> Columns:
    batches = file.iter_batches(batch_size=SAMPLE_LINES)
    columns = parquet_columns(import_arrow().Table.from_batches([next(batches)]))
    if columns.roles.long:
        raise MatrixError(
            f"{path}: is a long table (row, column, value), and these are read from one file only"
        )
    check_columns(columns, Request(), str(path))
    return columns


def _check_schema(schema: Any, others: Any, path: Path, first: Path, columns: Columns) -> None:
    check_same_names(schema.names, others.names, path, first)
    is_null = import_arrow().types.is_null
    kinds = column_kinds(schema)
    for j in columns.roles.numbers:
        # A column without any value has no type, and is missing cells throughout.
        if kinds[j] != NUMBER and not is_null(schema.types[j]):
            raise MatrixError(
                f'{path}: column {j + 1} ("{schema.names[j]}") holds {schema.types[j]}, but '
                f"numbers in {first}"
            )


def _read(path: str, how: _How) -> Any:
    table = _open(Path(path)).read(use_threads=False)
    X = numbers_of([table.column(j) for j in how.numbers], table.num_rows, how.dtype)
    return check_numbers(X, path)


def _read_names(path: str, how: _How) -> Any:
    table = _open(Path(path)).read(columns=[how.index_name], use_threads=False)
    # Columns whose names only begin alike may come along.
    position = table.schema.get_all_field_indices(how.index_name)[0]
    return text_array(table.column(position).cast("string").to_pylist())
