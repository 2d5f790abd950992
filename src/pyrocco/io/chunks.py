"""Chunks of rows of a matrix that is stored in many text or Parquet files, or in a Zarr store.

Opening the files finds out the numbers of rows, the names of columns and the type of the values.
The values of a chunk are read later, by a reader that can be sent to another process.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from pyrocco._typing import Array, Dense, Names
from pyrocco.io.arrow import (
    column_kinds,
    import_arrow,
    load_parquet,
    numbers_of,
    open_parquet,
    parquet_columns,
)
from pyrocco.io.cell_texts import NUMBER
from pyrocco.io.columns import Columns
from pyrocco.io.errors import MatrixError, damage_errors, extra, read_errors
from pyrocco.io.headings import SAMPLE_LINES
from pyrocco.io.named_matrix import (
    check_matrix_array,
    check_numbers,
    default_names,
    unique_names,
)
from pyrocco.io.sniff import Layout, iter_records, open_below_comments
from pyrocco.io.tables import check_columns
from pyrocco.io.text_tables import load_rows, table_layout
from pyrocco.texts import counted

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "Chunk",
    "ChunkReader",
    "Chunks",
    "parquet_chunks",
    "text_array",
    "text_chunks",
    "zarr_chunks",
]


# Arrays of names in a Zarr store, and the axis of the matrix that each belongs to.
_ZARR_NAMES = {"row_names": 0, "column_names": 1}


class Chunk(NamedTuple):
    """Rows of one file: `n_rows` of them, from row `start` on."""

    path: str
    start: int
    n_rows: int


class _ZarrArray(Array, Protocol):
    @property
    def chunks(self) -> tuple[int, ...]:
        """Shape of a chunk."""


class ChunkReader(Protocol):
    """Reads chunks of a matrix."""

    def read(self, chunk: Chunk) -> Dense:
        """Return the values of a chunk."""

    def read_names(self, chunk: Chunk) -> Dense:
        """Return the row names of a chunk."""


@dataclass(frozen=True)
class Chunks:
    """The chunks of a matrix, from its first row to its last."""

    chunks: tuple[Chunk, ...]
    column_names: tuple[str, ...]
    dtype: np.dtype[np.floating]  # float32 or float64
    reader: ChunkReader
    has_row_names: bool  # whether the reader can read row names
    notes: tuple[str, ...] = ()  # sentences about what was detected

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns of all chunks together."""
        return sum(chunk.n_rows for chunk in self.chunks), len(self.column_names)


def text_array(names: Names) -> Dense:
    """Return names as an array of Python strings."""
    texts = [name.decode() if isinstance(name, bytes) else str(name) for name in names]
    return np.array([text.strip() for text in texts], dtype=object)


def text_chunks(paths: Sequence[Path]) -> Chunks:
    """Open text files, each of which holds some rows of a matrix, in the order of the rows.

    The layout of the first file is used for all.
    """
    first = paths[0]
    with read_errors(first):
        layout = table_layout(first)
    columns = layout.columns
    _check_wide(columns, first)
    heads = [_first_cells(path, layout) for path in paths]
    for path, head in zip(paths, heads, strict=True):
        if columns.header is not None:
            _check_same_names(head, heads[0], path, first)
        elif len(head) != len(heads[0]):
            raise MatrixError(
                f"{path}: has {len(head)} columns, but {first} has {len(heads[0])}: all files of "
                "a matrix need the same columns"
            )
    names, repeated = unique_names(
        "column", columns.names or default_names("column", len(columns.roles.numbers))
    )
    return Chunks(
        chunks=tuple(Chunk(str(path), 0, _count_rows(path, layout)) for path in paths),
        column_names=names,
        dtype=np.dtype(np.float64),
        reader=_TextReader(layout),
        has_row_names=columns.roles.index is not None,
        notes=(*layout.notes(), *repeated),
    )


def _check_wide(columns: Columns, path: Path) -> None:
    if columns.roles.long:
        raise MatrixError(
            f"{path}: is a long table (row, column, value), which is read from a single file only"
        )


def _check_same_names(
    names: Sequence[str], others: Sequence[str], path: Path, first: Path
) -> None:
    """Refuse a file whose columns differ from those of the first."""
    if list(names) == list(others):
        return
    pairs = zip(names, others, strict=False)
    shared = min(len(names), len(others))
    at = next((j for j, (ours, theirs) in enumerate(pairs) if ours != theirs), shared)
    ours, theirs = (f'"{side[at]}"' if at < len(side) else "absent" for side in (names, others))
    raise MatrixError(
        f"{path}: column {at + 1} is {ours}, but {theirs} in {first}: all files of a matrix need "
        "the same columns in the same order"
    )


def _first_cells(path: Path, layout: Layout) -> list[str]:
    """Return the cells of the first line that is not blank."""
    with read_errors(path):
        record = next(iter_records(path, layout, header=True), (0, []))[1]
    if not record:
        raise MatrixError(f"{path}: the file is empty: remove it, or write it again")
    return [cell.strip() for cell in record]


def _count_rows(path: Path, layout: Layout) -> int:
    """Count the lines that are not blank, which is much faster than reading numbers."""
    blank = " \t\r\n".replace(layout.delimiter, "")
    with read_errors(path), open_below_comments(path, layout) as handle:
        n_lines = sum(1 for line in handle if line.strip(blank))
    n_rows = n_lines - (layout.columns.header is not None)
    if n_rows < 1:
        raise MatrixError(f"{path}: has no rows, only column names: remove it, or write it again")
    return n_rows


@dataclass(frozen=True)
class _TextReader:
    layout: Layout

    def read(self, chunk: Chunk) -> Dense:
        path = Path(chunk.path)
        with read_errors(path):
            return _check_count(load_rows(path, self.layout).X, chunk)

    def read_names(self, chunk: Chunk) -> Dense:
        path = Path(chunk.path)
        (index,) = self.layout.columns.roles.text_columns
        with read_errors(path):
            names = [record[index] for _, record in iter_records(path, self.layout)]
        return _check_count(text_array(names), chunk)


def _check_count(rows: Dense, chunk: Chunk) -> Dense:
    """Check that the number of rows is the number of lines that were counted."""
    if len(rows) != chunk.n_rows:
        raise MatrixError(
            f"{chunk.path}: has {chunk.n_rows} lines but {len(rows)} rows: a cell holds a line "
            "break, or the file was changed; write every row on one line"
        )
    return rows


def parquet_chunks(paths: Sequence[Path]) -> Chunks:
    """Open Parquet files, each of which holds some rows of a matrix, in the order of the rows.

    The columns of the first file are used for all. The type is float32 if that of every column
    of every file is.
    """
    files = [open_parquet(path) for path in paths]
    counts = [int(file.metadata.num_rows) for file in files]
    for path, n_rows in zip(paths, counts, strict=True):
        if n_rows == 0:
            raise MatrixError(f"{path}: has no rows: remove it, or write it again")
    with damage_errors(f"{paths[0]}: is not a Parquet file, or is damaged"):
        head = next(files[0].iter_batches(batch_size=SAMPLE_LINES))
        columns = parquet_columns(import_arrow().Table.from_batches([head]))
    _check_wide(columns, paths[0])
    check_columns(columns, str(paths[0]))
    if columns.roles.are_answers:
        raise MatrixError(
            f"{paths[0]}: holds yes/no answers, which are read from a single file only: write 1 "
            "for yes and 0 for no"
        )
    schemas = [file.schema_arrow for file in files]
    for path, schema in zip(paths, schemas, strict=True):
        _check_schema(schema, schemas[0], path, paths[0], columns)
    index, numbers = columns.roles.index, columns.roles.numbers
    names = schemas[0].names
    is_single = all(schema.types[j] == "float" for schema in schemas for j in numbers)
    dtype: np.dtype[np.floating] = np.dtype(np.float32 if is_single else np.float64)
    return Chunks(
        chunks=tuple(Chunk(str(path), 0, n) for path, n in zip(paths, counts, strict=True)),
        column_names=tuple(names[j] for j in numbers),
        dtype=dtype,
        reader=_ParquetReader("" if index is None else names[index], numbers, dtype),
        has_row_names=index is not None,
        notes=tuple(columns.roles.notes(columns.header)),
    )


def _check_schema(
    schema: pyarrow.Schema, others: pyarrow.Schema, path: Path, first: Path, columns: Columns
) -> None:
    _check_same_names(schema.names, others.names, path, first)
    is_null = import_arrow().types.is_null
    kinds = column_kinds(schema)
    for j in columns.roles.numbers:
        # A column without any value has no type; all its values are missing.
        if kinds[j] != NUMBER and not is_null(schema.types[j]):
            raise MatrixError(
                f'{path}: column {j + 1} ("{schema.names[j]}") holds {schema.types[j]}, but '
                f"numbers in {first}"
            )


def _changed(chunk: Chunk) -> str:
    return f"{chunk.path}: is damaged, or was changed after it was opened"


@dataclass(frozen=True)
class _ParquetReader:
    index_name: str
    numbers: tuple[int, ...]
    dtype: np.dtype[np.floating]

    def read(self, chunk: Chunk) -> Dense:
        with damage_errors(_changed(chunk)):
            table = load_parquet(Path(chunk.path), use_threads=False)
            X = numbers_of([table.column(j) for j in self.numbers], table.num_rows, self.dtype)
            return np.asarray(check_numbers(X, chunk.path))

    def read_names(self, chunk: Chunk) -> Dense:
        with damage_errors(_changed(chunk)):
            table = load_parquet(Path(chunk.path), [self.index_name], use_threads=False)
            # Nested columns whose names begin alike may be read too.
            position = table.schema.get_all_field_indices(self.index_name)[0]
            return text_array(table.column(position).cast("string").to_pylist())


def zarr_chunks(path: Path) -> Chunks:
    """Open a Zarr store, with one chunk for each chunk of rows in the store.

    It is an array of two dimensions, or a group with such an array called ``X`` and, if there
    are names, arrays called ``row_names`` and ``column_names``.
    """
    _check_regular(path)
    arrays = _open_zarr(path)
    X = arrays["X"]
    _check_complete(X, path)
    n_rows, n_columns = X.shape
    # A shard is a file of several chunks, which is read as a whole.
    step = (getattr(X, "shards", None) or X.chunks)[0]
    edges = [*range(0, n_rows, step), n_rows]
    names: Names = default_names("column", n_columns)
    if "column_names" in arrays:
        damaged = damage_errors(f"{path}: its column names are damaged: copy the store again")
        with read_errors(path), damaged:
            names = arrays["column_names"][:]
    held = [name.replace("_", " ") for name in _ZARR_NAMES if name in arrays]
    return Chunks(
        chunks=tuple(Chunk(str(path), start, stop - start) for start, stop in pairwise(edges)),
        column_names=tuple(text_array(names)),
        dtype=np.dtype(np.float32 if X.dtype == np.float32 else np.float64),
        reader=_ZarrReader(),
        has_row_names="row_names" in arrays,
        notes=(f"The store holds {' and '.join(held) or 'no names'}.",),
    )


def _open_zarr(path: Path) -> dict[str, _ZarrArray]:
    """Open the arrays of a store, by name, and check their shapes."""
    with extra("cluster", "Zarr stores"):
        import zarr  # noqa: PLC0415 - an optional package
    with read_errors(path), damage_errors(f"{path}: is not a Zarr store, or is damaged"):
        store: Any = zarr.open(str(path), mode="r")
        if hasattr(store, "chunks"):
            arrays = {"X": store}
        else:
            arrays = {name: store[name] for name in ("X", *_ZARR_NAMES) if name in store}
    X = arrays.get("X")
    if X is None or not hasattr(X, "chunks"):
        raise MatrixError(f'{path}: the group in this Zarr store holds no array called "X"')
    check_matrix_array(X.shape, X.dtype, str(path))
    for name, axis in _ZARR_NAMES.items():
        if name in arrays and arrays[name].shape != (X.shape[axis],):
            raise MatrixError(
                f"{path}: {name} has the shape {arrays[name].shape}, but the matrix needs "
                f"{(X.shape[axis],)}"
            )
    return arrays


def _check_regular(path: Path) -> None:
    """Refuse a store with pipes or devices among its files, which could be read for ever."""
    for folder, _, names in os.walk(path):
        for file in (Path(folder, name) for name in names):
            if file.exists() and not file.is_file():
                raise MatrixError(f"{path}: is damaged: {file} is not a regular file")


def _check_complete(X: Any, path: Path) -> None:
    """Refuse a store without some of its chunks, which Zarr would read as zeros."""
    with read_errors(path), damage_errors(f"{path}: is not a Zarr store, or is damaged"):
        missing = int(X.nchunks) - int(X.nchunks_initialized)
    if missing > 0:
        raise MatrixError(
            f"{path}: {missing} of its {counted(X.nchunks, 'chunk')} cannot be found. If they "
            "were lost, copy the store again. If they hold only zeros and were never written, "
            "write the store with write_empty_chunks=True"
        )


@dataclass(frozen=True)
class _ZarrReader:
    def read(self, chunk: Chunk) -> Dense:
        path, stop = Path(chunk.path), chunk.start + chunk.n_rows
        source = f"{path}, from row {chunk.start + 1} to row {stop}"
        damaged = damage_errors(f"{source}: the chunk is damaged: copy the store again")
        with read_errors(path), damaged:
            X = np.asarray(_open_zarr(path)["X"][chunk.start : stop])
        return np.asarray(check_numbers(X, source))

    def read_names(self, chunk: Chunk) -> Dense:
        stop = chunk.start + chunk.n_rows
        damaged = damage_errors(f"{chunk.path}: its row names are damaged: copy the store again")
        with read_errors(chunk.path), damaged:
            return text_array(_open_zarr(Path(chunk.path))["row_names"][chunk.start : stop])
