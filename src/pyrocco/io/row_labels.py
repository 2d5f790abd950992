"""Writing the labels of very many rows, a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from pyrocco.io.arrow import import_arrow
from pyrocco.io.parquet import write_parquet
from pyrocco.io.shards import import_dask

__all__ = ["MOST_ROWS_OF_CSV", "label_table", "row_label_writer"]

# About what a spreadsheet opens.
MOST_ROWS_OF_CSV = 1_000_000

_NAME = "row_labels"
Writer = Callable[[Path, Any, Any, Any], str]


def row_label_writer(ending: str, n_rows: int) -> Writer:
    """Find who writes the labels, and that all it needs is installed, before any work is done.

    Parameters
    ----------
    ending : {"csv", "parquet"}
        What was asked for.
    n_rows : int
        More rows than a million are written as Parquet whatever was asked for.

    Returns
    -------
    callable
        Takes a folder, labels, confidences and names (Dask arrays in the same chunks; names may
        be None), and returns the name of what it wrote: a file ``row_labels.csv``, or a folder
        ``row_labels.parquet`` with a file for every chunk.

    Raises
    ------
    MissingExtraError
        Parquet needs a package that is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import dask.array as da
    >>> labels, confidence = da.arange(4, chunks=2), da.ones(4, chunks=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     row_label_writer("parquet", 4)(Path(folder), labels, confidence, None)
    ...     sorted(path.name for path in (Path(folder) / "row_labels.parquet").iterdir())
    ...     pd.read_parquet(Path(folder) / "row_labels.parquet").to_numpy().tolist()[-1]
    'row_labels.parquet'
    ['part-0000.parquet', 'part-0001.parquet']
    ['row_3', 3, 1.0]
    """
    if ending == "csv" and n_rows <= MOST_ROWS_OF_CSV:
        return _write_csv
    import_arrow("Labels in Parquet files")
    return _write_parts


def label_table(names: Any, labels: Any, confidence: Any) -> dict[str, Any]:
    """Labels as the columns of a table.

    Parameters
    ----------
    names : sequence of str
        Names of rows or columns.
    labels : ndarray of int
        Their clusters.
    confidence : ndarray of float
        How sure each label is.

    Returns
    -------
    dict

    Examples
    --------
    >>> label_table(["a"], [0], [0.9])
    {'name': ['a'], 'label': [0], 'confidence': [0.9]}
    """
    return {"name": list(names), "label": labels, "confidence": confidence}


def _write_csv(folder: Path, labels: Any, confidence: Any, names: Any) -> str:
    path = folder / f"{_NAME}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        for part, table in enumerate(_tables(labels, confidence, names)):
            pd.DataFrame(table).to_csv(file, index=False, header=part == 0)
    return path.name


def _write_parts(folder: Path, labels: Any, confidence: Any, names: Any) -> str:
    parts = folder / f"{_NAME}.parquet"
    parts.mkdir()
    for part, table in enumerate(_tables(labels, confidence, names)):
        write_parquet(parts / f"part-{part:04d}.parquet", table)
    return parts.name


def _tables(labels: Any, confidence: Any, names: Any) -> Iterator[dict[str, Any]]:
    """One table for each block of rows: never more than one of them is here."""
    dask = import_dask()
    start = 0
    for i in range(labels.numblocks[0]):
        wanted = [labels.blocks[i], confidence.blocks[i]]
        if names is not None:
            wanted.append(names.blocks[i])
        found, sure, *named = dask.compute(*wanted)
        default = (f"row_{row}" for row in range(start, start + len(found)))
        yield label_table(named[0] if named else default, found, sure)
        start += len(found)
