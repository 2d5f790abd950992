"""Opening a matrix that is larger than memory: many files, or a Zarr store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco.io.extras import extra
from pyrocco.io.finding import find_parts
from pyrocco.io.parts import Parts, text_array

__all__ = ["Shards", "import_dask", "open_shards", "split_rows"]

# Blocks of a matrix that was read whole: small enough to travel, large enough to be worth it.
_BLOCK_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class Shards:
    """A matrix in blocks of rows that nobody has read yet.

    Attributes
    ----------
    X : dask array of shape (n_rows, n_columns)
        float32 or float64, in chunks of whole rows. Each is read by a task of its own.
    column_names : tuple of str
        One name per column; ``column_0``, ... where the files had none.
    row_names : dask array of str, or None
        One name per row, in the chunks of X; None where rows have no names.
    notes : tuple of str
        Plain sentences about what was detected.

    Examples
    --------
    >>> import dask.array as da
    >>> Shards(da.ones((4, 2), chunks=(2, 2)), ("a", "b")).shape
    (4, 2)
    """

    X: Any
    column_names: tuple[str, ...]
    row_names: Any = None
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n_rows, n_columns = self.X.shape
        return int(n_rows), int(n_columns)


def import_dask() -> Any:
    """Import Dask's arrays, or say how to get them.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        Dask is not installed.

    Examples
    --------
    >>> import_dask().__name__
    'dask'
    """
    with extra("cluster", "Matrices in many files"):
        import dask  # noqa: PLC0415 - an optional package
        import dask.array  # noqa: PLC0415
    return dask


def open_shards(path: str | os.PathLike[str]) -> Shards:
    r"""Open a matrix that lies in many files or in a Zarr store, without reading it.

    Parameters
    ----------
    path : str or path
        A pattern of names of Parquet files or of CSV, TSV or TXT files (which may be compressed
        with gzip), such as ``data/*.parquet``: each file holds some of the rows, and all have the
        same columns. Files are taken in the order of their names, ``part-2`` before ``part-10``.
        Or a folder that ends in ``.zarr``.

    Returns
    -------
    Shards

    Raises
    ------
    MatrixError
        No file matches, the files do not fit together, or one of them is empty. What is wrong
        with a single number is found when its block is read.
    MissingExtraError
        Dask, or the package for the format, is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in (1, 2):
    ...         text = f"gene,liver,heart\nA{part},1,2\nB{part},3,{part}\n"
    ...         _ = (Path(folder) / f"part-{part}.csv").write_text(text)
    ...     shards = open_shards(f"{folder}/*.csv")
    ...     shards.X.chunks, shards.X.sum().compute().item(), shards.row_names.compute().tolist()
    (((2, 2), (2,)), 15.0, ['A1', 'B1', 'A2', 'B2'])
    """
    import_dask()
    parts = find_parts(Path(path))
    stamp = _stamp(parts)
    blocks = _lazy(parts, parts.read, (parts.shape[1],), parts.dtype, f"rows-{stamp}")
    names = None
    if parts.read_names is not None:
        names = _lazy(parts, parts.read_names, (), np.dtype(object), f"names-{stamp}")
    return Shards(blocks, parts.column_names, names, (_about(parts), *parts.notes))


def split_rows(X: Any, row_names: Sequence[str], at_least: int = 1) -> tuple[Any, Any]:
    """Cut a matrix that is in memory into blocks of rows.

    Parameters
    ----------
    X : ndarray or csr_array
        The numbers.
    row_names : sequence of str
        One name per row.
    at_least : int, default=1
        Into how many blocks, such as one for each worker; large ones are cut further.

    Returns
    -------
    X, row_names : dask array
        Blocks of rows, and their names. They lie on the workers where a Dask client is active.

    Examples
    --------
    >>> X, names = split_rows(np.ones((10, 2)), [""] * 10, at_least=2)
    >>> X.chunks, names.chunks
    (((5, 5), (2,)), ((5, 5),))
    """
    dask = import_dask()
    stored = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
    n_blocks = min(max(at_least, -(-stored // _BLOCK_BYTES)), X.shape[0])
    bounds = np.linspace(0, X.shape[0], n_blocks + 1).astype(int)
    counts = tuple(int(count) for count in np.diff(bounds))
    name = f"block-{dask.base.tokenize(X)}"
    graph: dict[Any, Any] = {}
    for i, (start, stop) in enumerate(pairwise(bounds)):
        graph[name, i, 0] = _placed(X[start:stop], (name, i, 0))
    blocks = dask.array.Array(graph, name, (counts, (X.shape[1],)), meta=X[:0])
    return blocks, dask.array.from_array(text_array(row_names), chunks=(counts,))


def _placed(block: Any, key: tuple[str, int, int]) -> Any:
    """The block on a worker, where there are workers: it then is in no graph that is sent.

    It lies there as the result of work: if the worker dies, another has it.
    """
    try:
        from distributed import get_client  # noqa: PLC0415 - an optional package

        client: Any = get_client()
    except (ImportError, ValueError):
        return block
    # Dask warns of tasks of ten megabytes, and these are meant to be large.
    with import_dask().config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(_same, block, key=key)


def _same(block: Any) -> Any:
    return block


def _stamp(parts: Parts) -> str:
    """A name for the content: the same when the files are opened again, another once changed."""
    files = [place if isinstance(place, str) else place[0] for place in parts.places]
    about = [(file, os.stat(file).st_mtime_ns, os.stat(file).st_size) for file in files]
    return str(import_dask().base.tokenize(about, parts.places, parts.column_names))


def _lazy(parts: Parts, read: Any, shape: tuple[int, ...], dtype: Any, name: str) -> Any:
    """A Dask array with a task for every part."""
    dask = import_dask()
    # What all parts share is one entry of the graph, not one in each task.
    how = dask.delayed(parts.how, name=f"how-{name}", traverse=False)
    task = dask.delayed(read, pure=True)
    blocks = [
        dask.array.from_delayed(
            task(place, how, dask_key_name=f"{name}-{i}"), (n_rows, *shape), dtype=dtype
        )
        for i, (place, n_rows) in enumerate(zip(parts.places, parts.n_rows, strict=True))
    ]
    return dask.array.concatenate(blocks)


def _about(parts: Parts) -> str:
    sizes = zip((*parts.shape, len(parts.places)), ("row", "column", "part"), strict=True)
    rows, columns, blocks = (f"{n} {what}{'s'[: n != 1]}" for n, what in sizes)
    return f"The matrix has {rows} and {columns}, in {blocks} that are read one by one."
