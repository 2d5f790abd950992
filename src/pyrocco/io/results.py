"""Writing what a fit found: tables as CSV or Parquet, or one AnnData file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pyrocco.io import arrow, h5ad
from pyrocco.io.matrix import Matrix
from pyrocco.io.parquet import write_parquet
from pyrocco.io.write import OutputError, staged_folder

__all__ = ["RESULT_FORMATS", "Results", "means_table", "result_writer", "write_table"]

# The name of the column or entry that AnnData files keep the results under.
KEY = "rocco"

Table = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Results:
    """What a fit found, with what is needed to write it down.

    Attributes
    ----------
    matrix : Matrix
        Numbers and names as they were grouped.
    row_labels, column_labels : ndarray of int
        Cluster of every row and of every column.
    block_means : ndarray of shape (n_row_clusters, n_column_clusters)
        Mean of every block.
    summary : dict
        What JSON can hold about the fit.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = Matrix(np.eye(2), ("a", "b"), ("x", "y"))
    >>> results = Results(matrix, np.array([0, 1]), np.array([0, 1]), np.eye(2), {})
    >>> results.tables()["row_labels"]["name"]
    ['a', 'b']
    """

    matrix: Matrix
    row_labels: Any
    column_labels: Any
    block_means: Any
    summary: dict[str, Any]

    def tables(self) -> dict[str, Table]:
        """The results as tables: columns by name, tables by the name of their file."""
        return {
            "row_labels": _labels(self.matrix.row_names, self.row_labels),
            "column_labels": _labels(self.matrix.column_names, self.column_labels),
            "block_means": means_table(self.block_means),
        }


Writer = Callable[[Path, Results], list[str]]


def result_writer(name: str) -> Writer:
    """Find who writes a format, and that all it needs is installed, before any work is done.

    Parameters
    ----------
    name : {"csv", "parquet", "h5ad"}
        The format.

    Returns
    -------
    callable
        Takes a folder and `Results`, and returns the names of the files it wrote.

    Raises
    ------
    MissingExtraError
        The format needs a package that is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> matrix = Matrix(np.eye(2), ("a", "b"), ("x", "y"))
    >>> results = Results(matrix, np.array([0, 1]), np.array([0, 1]), np.eye(2), {})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result_writer("csv")(Path(folder), results)
    ...     (Path(folder) / "row_labels.csv").read_text().split()
    ['row_labels.csv', 'column_labels.csv', 'block_means.csv']
    ['name,label', 'a,0', 'b,1']
    """
    check, write = RESULT_FORMATS[name]
    check()
    return write


def means_table(block_means: Any) -> Table:
    """Means of blocks as the columns of a table.

    Parameters
    ----------
    block_means : ndarray of shape (n_row_clusters, n_column_clusters)
        Mean of every block.

    Returns
    -------
    dict

    Examples
    --------
    >>> import numpy as np
    >>> list(means_table(np.eye(2)))
    ['row_cluster', 'column_cluster_0', 'column_cluster_1']
    """
    means = {f"column_cluster_{k}": mean for k, mean in enumerate(block_means.T)}
    return {"row_cluster": range(len(block_means)), **means}


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as the end of the name says: CSV or Parquet.

    Parameters
    ----------
    path : Path
        The file. It is written whole or not at all.
    table : DataFrame
        Its index is not written.

    Raises
    ------
    OutputError
        The name ends in something else, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(Path(folder) / "labels.csv", pd.DataFrame({"name": ["a"], "label": [0]}))
    ...     (Path(folder) / "labels.csv").read_text().split()
    ['name,label', 'a,0']
    """
    writers = {".csv": _csv, ".parquet": write_parquet}
    if path.suffix not in writers:
        raise OutputError(f"{path}: name a file that ends in .csv or .parquet")
    with staged_folder(path.parent) as stage:
        writers[path.suffix](stage / path.name, {str(name): table[name] for name in table})


def _labels(names: Iterable[str], labels: Any) -> Table:
    return {"name": list(names), "label": labels}


def _write_csv(folder: Path, results: Results) -> list[str]:
    return _write_tables(folder, results, ".csv", _csv)


def _write_parquet(folder: Path, results: Results) -> list[str]:
    return _write_tables(folder, results, ".parquet", write_parquet)


def _write_tables(
    folder: Path, results: Results, ending: str, write: Callable[[Path, Table], None]
) -> list[str]:
    for name, table in results.tables().items():
        write(folder / (name + ending), table)
    return [name + ending for name in results.tables()]


def _csv(path: Path, table: Table) -> None:
    pd.DataFrame(table).to_csv(path, index=False)


def _write_h5ad(folder: Path, results: Results) -> list[str]:
    about = {"block_means": results.block_means, "summary": json.dumps(results.summary)}
    h5ad.write_h5ad(
        folder / "clusters.h5ad",
        results.matrix,
        obs={KEY: results.row_labels},
        var={KEY: results.column_labels},
        uns={KEY: about},
    )
    return ["clusters.h5ad"]


def _needs_nothing() -> None:
    pass


RESULT_FORMATS: dict[str, tuple[Callable[[], object], Writer]] = {
    "csv": (_needs_nothing, _write_csv),
    "parquet": (arrow.import_arrow, _write_parquet),
    "h5ad": (h5ad.import_anndata, _write_h5ad),
}
