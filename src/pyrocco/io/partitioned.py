"""Open a matrix that is larger than memory as a Dask array: many files, or a Zarr store."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from pyrocco._typing import Dense, Names
from pyrocco._typing import Matrix as Values
from pyrocco.io.chunks import (
    Chunk,
    ChunkReader,
    Chunks,
    parquet_chunks,
    text_array,
    text_chunks,
    zarr_chunks,
)
from pyrocco.io.errors import MatrixError, extra
from pyrocco.texts import counted, natural_order

if TYPE_CHECKING:
    from dask.array import Array as DaskArray

__all__ = [
    "PartitionedMatrix",
    "import_dask",
    "is_partitioned",
    "matching_files",
    "open_partitioned",
    "split_rows",
]

# Chunks of a matrix in memory: small enough to send, large enough to be worth a task.
_CHUNK_BYTES = 64 << 20

_TEXT = re.compile(r"\.(csv|tsv|txt)(\.gz)?$")
_OPENERS = {"parquet": parquet_chunks, "text": text_chunks}


@dataclass(frozen=True, eq=False)
class PartitionedMatrix:
    """A matrix in chunks of rows that have not been read yet.

    Attributes
    ----------
    X : dask array of shape (n_rows, n_columns)
        float32 or float64, in chunks of whole rows. Each is read by a task of its own.
    column_names : tuple of str
        One name per column; ``column_0``, ... if the files have none.
    row_names : dask array of str, or None
        One name per row, in the chunks of X; None if rows have no names.
    notes : tuple of str
        Sentences about what was detected.

    Examples
    --------
    >>> import dask.array as da
    >>> PartitionedMatrix(da.ones((4, 2), chunks=(2, 2)), ("a", "b")).shape
    (4, 2)
    """

    X: DaskArray
    column_names: tuple[str, ...]
    row_names: DaskArray | None = None
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        n_rows, n_columns = self.X.shape
        return int(n_rows), int(n_columns)


def import_dask() -> ModuleType:
    """Import Dask with its arrays, or say how to install it."""
    with extra("cluster", "Matrices in many files"):
        import dask  # noqa: PLC0415 - an optional package
        import dask.array  # noqa: PLC0415
    return dask


def is_partitioned(path: str | os.PathLike[str]) -> bool:
    """Whether a path names a matrix in chunks: a pattern of file names, or a Zarr store."""
    # A file may have brackets in its name.
    is_pattern = glob.has_magic(str(path)) and not Path(path).exists()
    return is_pattern or Path(path).suffix.lower() == ".zarr"


def open_partitioned(path: str | os.PathLike[str]) -> PartitionedMatrix:
    r"""Open a matrix that is stored in many files or in a Zarr store, without reading it.

    Parameters
    ----------
    path : str or path
        A pattern of names of Parquet files or of CSV, TSV or TXT files (which may be compressed
        with gzip), such as ``data/*.parquet``: each file holds some of the rows, and all have the
        same columns. Files are sorted by name, ``part-2`` before ``part-10``. Or a folder that
        ends in ``.zarr``.

    Returns
    -------
    PartitionedMatrix

    Raises
    ------
    MatrixError
        If no file matches, files do not fit together, or one of them is empty. A wrong cell is
        found when its chunk is read.
    MissingExtraError
        If Dask, or the package for the format, is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in (1, 2):
    ...         text = f"gene,liver,heart\nA{i},1,2\nB{i},3,{i}\n"
    ...         _ = (Path(folder) / f"part-{i}.csv").write_text(text)
    ...     matrix = open_partitioned(f"{folder}/*.csv")
    ...     matrix.X.chunks, matrix.X.sum().compute().item(), matrix.row_names.compute().tolist()
    (((2, 2), (2,)), 15.0, ['A1', 'B1', 'A2', 'B2'])
    """
    import_dask()
    opened = _open_chunks(Path(path))
    token = _token(opened)
    X = _lazy(opened, _read, (opened.shape[1],), opened.dtype, f"rows-{token}")
    names = None
    if opened.has_row_names:
        names = _lazy(opened, _read_names, (), np.dtype(object), f"names-{token}")
    rows, columns = opened.shape
    size = f"{counted(rows, 'row')} and {counted(columns, 'column')}"
    chunks = counted(len(opened.chunks), "chunk")
    about = f"The matrix has {size}, in {chunks} that are read one by one."
    return PartitionedMatrix(X, opened.column_names, names, (about, *opened.notes))


def _open_chunks(path: Path) -> Chunks:
    if path.suffix.lower() == ".zarr" and not glob.has_magic(str(path)):
        if not path.exists():
            raise MatrixError(f"{path}: there is no such Zarr store")
        return zarr_chunks(path)
    paths = matching_files(path)
    first = paths[0]
    other = next((path for path in paths if _format(path) != _format(first)), None)
    if other is not None:
        raise MatrixError(
            f"the pattern matches files of different kinds, {first} and {other}: name one kind, "
            "such as 'data/*.parquet'"
        )
    return _OPENERS[_format(first)](paths)


def matching_files(pattern: Path) -> list[Path]:
    """Return the files that match a pattern, sorted by name."""
    paths = [Path(name) for name in glob.glob(str(pattern), recursive=True)]
    files = sorted(
        (path for path in paths if path.is_file()), key=lambda path: natural_order(str(path))
    )
    if not files:
        raise MatrixError(
            f"{pattern}: no file matches this pattern (put it in quotation marks, so that the "
            "shell does not expand it)"
        )
    return files


def _format(path: Path) -> str:
    name = path.name.lower()
    if name.endswith(".parquet"):
        return "parquet"
    if _TEXT.search(name):
        return "text"
    raise MatrixError(
        f"{path}: only .parquet, .csv, .tsv and .txt files (the last three may end in .gz) can "
        "be chunks of a matrix"
    )


def _token(opened: Chunks) -> str:
    """Return a name for the content: the same for the same files, another if they change."""
    stats = [(chunk.path, os.stat(chunk.path)) for chunk in opened.chunks]
    about = [(path, stat.st_mtime_ns, stat.st_size) for path, stat in stats]
    rows = [tuple(chunk) for chunk in opened.chunks]
    return str(import_dask().base.tokenize(about, rows, opened.column_names))


def _read(reader: ChunkReader, chunk: Sequence[Any]) -> Dense:
    return reader.read(Chunk(*chunk))


def _read_names(reader: ChunkReader, chunk: Sequence[Any]) -> Dense:
    return reader.read_names(Chunk(*chunk))


def _lazy(
    opened: Chunks, read: Any, shape: tuple[int, ...], dtype: np.dtype[Any], name: str
) -> DaskArray:
    """Return a Dask array with one task per chunk."""
    dask = import_dask()
    # The reader is one entry of the graph, not one in each task.
    reader = dask.delayed(opened.reader, name=f"reader-{name}", traverse=False)
    task = dask.delayed(read, pure=True)
    arrays: list[DaskArray] = [
        dask.array.from_delayed(
            task(reader, tuple(chunk), dask_key_name=f"{name}-{i}"),
            (chunk.n_rows, *shape),
            dtype=dtype,
        )
        for i, chunk in enumerate(opened.chunks)
    ]
    joined: DaskArray = dask.array.concatenate(arrays)
    return joined


def split_rows(X: Values, row_names: Names, at_least: int = 1) -> tuple[DaskArray, DaskArray]:
    """Split a matrix in memory, and its row names, into at least `at_least` chunks of rows.

    Large chunks are split further. If a Dask client is active, they are sent to its workers.
    """
    dask = import_dask()
    n_bytes = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
    n_chunks = min(max(at_least, -(-n_bytes // _CHUNK_BYTES)), X.shape[0])
    bounds = np.linspace(0, X.shape[0], n_chunks + 1).astype(int)
    counts = tuple(int(count) for count in np.diff(bounds))
    name = f"chunk-{dask.base.tokenize(X)}"
    graph = {
        (name, i, 0): _placed(X[start:stop], (name, i, 0))
        for i, (start, stop) in enumerate(pairwise(bounds))
    }
    chunks = dask.array.Array(graph, name, (counts, (X.shape[1],)), meta=X[:0])
    return chunks, dask.array.from_array(text_array(row_names), chunks=(counts,))


def _placed(chunk: Values, key: tuple[str, int, int]) -> Any:
    """Send a chunk to a worker if there are workers, so that it is in no graph that is sent.

    It is stored as the result of a task: if the worker dies, another one computes it again.
    """
    try:
        from distributed import get_client  # noqa: PLC0415 - an optional package

        client = get_client()
    except (ImportError, ValueError):
        return chunk
    # Dask warns of tasks of ten megabytes, and these are meant to be large.
    with import_dask().config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(_same, chunk, key=key)


def _same(chunk: Values) -> Values:
    return chunk
