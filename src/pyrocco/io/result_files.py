"""Write results: tables as CSV or Parquet, or one AnnData file. No half-written file remains."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pyrocco._typing import Floats, Labels, Names
from pyrocco.io.anndata import import_anndata, write_h5ad
from pyrocco.io.arrow import import_arrow, write_parquet
from pyrocco.io.cell_texts import is_number
from pyrocco.io.errors import OutputError
from pyrocco.io.named_matrix import Matrix
from pyrocco.io.partitioned import import_dask
from pyrocco.io.result_folder import EXPLANATION, ROW_LABELS
from pyrocco.io.unfinished import replacing, write_errors

if TYPE_CHECKING:
    from dask.array import Array as DaskArray

__all__ = [
    "MOST_ROWS_OF_CSV",
    "RESULT_FORMATS",
    "ChunkedRows",
    "Results",
    "SideClusters",
    "check_table_path",
    "csv_text",
    "escape_formulas",
    "label_table",
    "means_table",
    "result_writer",
    "row_label_writer",
    "write_matrix",
    "write_table",
]

# Key of the results in AnnData files.
KEY = "rocco"
# Characters with which a formula begins in a spreadsheet program.
_FORMULA_SIGNS = frozenset("=+-@\t\r")
# About as many rows as a spreadsheet program opens.
MOST_ROWS_OF_CSV = 1_000_000

Table = dict[str, Any]


def write_matrix(path: Path, matrix: Matrix) -> None:
    """Write a matrix with its names, so that `read_matrix` returns it again.

    Parameters
    ----------
    path : Path
        A CSV file.
    matrix : Matrix
        Values and names.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "matrix.csv"
    ...     write_matrix(path, Matrix(np.eye(2), ("a", "b"), ("x", "y")))
    ...     path.read_text().split()
    [',x,y', 'a,1.0,0.0', 'b,0.0,1.0']
    """
    X = matrix.X if isinstance(matrix.X, np.ndarray) else matrix.X.toarray()
    table = pd.DataFrame(X, index=list(matrix.row_names), columns=list(matrix.column_names))
    table.to_csv(path)


@dataclass(frozen=True, eq=False)
class SideClusters:
    """The clusters of the rows, or of the columns, of a fit."""

    labels: Labels
    membership: Floats | None = None  # probability of each label under the fitted model
    stability: Floats | None = None  # of each cluster

    def table(self, names: Names) -> Table:
        """Return them as a table, with the names of the rows or columns."""
        return label_table(names, self.labels, self.membership, self.stability)


@dataclass(frozen=True, eq=False)
class Results:
    """Results of a fit, with all that is needed to write them."""

    matrix: Matrix
    rows: SideClusters
    columns: SideClusters
    block_means: Floats  # of shape (n_row_clusters, n_column_clusters)
    explanation: Table  # what distinguishes the clusters
    summary: dict[str, Any]  # what JSON can hold about the fit
    escape: bool = True  # whether to escape names in CSV files that look like formulas

    def tables(self) -> dict[str, Table]:
        """Return the results as tables by name; a table is a dict of columns."""
        return {
            ROW_LABELS: self.rows.table(self.matrix.row_names),
            "column_labels": self.columns.table(self.matrix.column_names),
            "block_means": means_table(self.block_means),
            EXPLANATION: self.explanation,
        }


def label_table(
    names: Names,
    labels: Labels,
    membership: Floats | None = None,
    stability: Floats | None = None,
) -> Table:
    """Return labels as the columns of a table.

    Parameters
    ----------
    names : sequence of str
        Names of rows or columns.
    labels : ndarray of int
        Their clusters.
    membership : ndarray of float, optional
        Probability of each label under the fitted model.
    stability : ndarray of float, optional
        Stability of each cluster; the table has that of the cluster of each row.

    Returns
    -------
    dict

    Examples
    --------
    >>> label_table(["a"], [0], [0.9])
    {'name': ['a'], 'label': [0], 'membership': [0.9]}
    """
    table: Table = {"name": list(names), "label": labels}
    if membership is not None:
        table["membership"] = membership
    if stability is not None:
        table["stability"] = np.asarray(stability)[np.asarray(labels)]
    return table


def means_table(block_means: Floats) -> Table:
    """Return the means of blocks as the columns of a table.

    Parameters
    ----------
    block_means : ndarray of shape (n_row_clusters, n_column_clusters)
        Mean of every block.

    Returns
    -------
    dict

    Examples
    --------
    >>> list(means_table(np.eye(2)))
    ['row_cluster', 'column_cluster_0', 'column_cluster_1']
    """
    means = {f"column_cluster_{k}": mean for k, mean in enumerate(block_means.T)}
    return {"row_cluster": range(len(block_means)), **means}


def write_table(path: Path, table: pd.DataFrame, escape: bool = True) -> None:
    """Write a table as CSV or Parquet, depending on the name of the file.

    Parameters
    ----------
    path : Path
        The file. It is written as a whole or not at all; an existing file is replaced, an
        existing folder is not.
    table : DataFrame
        Its index is not written.
    escape : bool, default=True
        Whether to put an apostrophe before texts in CSV files that a spreadsheet program would
        run as formulas, see `escape_formulas`.

    Raises
    ------
    OutputError
        If the name has another ending, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(Path(folder) / "labels.csv", pd.DataFrame({"name": ["a"], "label": [0]}))
    ...     (Path(folder) / "labels.csv").read_text().split()
    ['name,label', 'a,0']
    """
    check_table_path(path)
    columns = {str(name): table[name] for name in table}
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            _write_columns(unfinished, path.suffix, columns, escape)


def check_table_path(path: Path) -> None:
    """Raise an `OutputError` unless a table can be written to a path, judged by its name."""
    if path.suffix not in (".csv", ".parquet"):
        raise OutputError(f"{path}: name a file that ends in .csv or .parquet")
    if path.is_dir():
        raise OutputError(f"{path}: is a folder: name a file to write to")


def _write_columns(path: Path, ending: str, table: Mapping[str, Any], escape: bool) -> None:
    if ending == ".parquet":
        write_parquet(path, table)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(csv_text(table, escape))


def csv_text(table: Mapping[str, Any], escape: bool, header: bool = True) -> str:
    """Return a table, given as columns by name, as the text of a CSV file."""
    columns = {name: pd.Series(column) for name, column in table.items()}
    for name, column in columns.items():
        if escape and not pd.api.types.is_numeric_dtype(column):
            columns[name] = pd.Series(escape_formulas(column), dtype=object)
    return pd.DataFrame(columns).to_csv(index=False, header=header)


def escape_formulas(texts: Iterable[object]) -> list[object]:
    """Put an apostrophe before texts that a spreadsheet program would run as formulas.

    These are texts that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return and
    are not numbers. A file from a stranger may hold such names to run a program or to send data
    away when the table is opened.

    Examples
    --------
    >>> escape_formulas(["TP53", "=HYPERLINK(A1)", "-1.5", "-80C"])
    ['TP53', "'=HYPERLINK(A1)", '-1.5', "'-80C"]
    """
    return [f"'{text}" if _is_formula(text) else text for text in texts]


def _is_formula(text: object) -> bool:
    return isinstance(text, str) and text[:1] in _FORMULA_SIGNS and not is_number(text)


ResultWriter = Callable[[Path, Results], list[str]]


def result_writer(name: str) -> ResultWriter:
    """Return the function that writes a format, after checking that all it needs is installed.

    The function takes a folder and `Results`, and returns the names of the files it wrote.
    """
    check_installed, write = RESULT_FORMATS[name]
    check_installed()
    return write


def _write_tables(ending: str, folder: Path, results: Results) -> list[str]:
    tables = {name + ending: table for name, table in results.tables().items()}
    for name, table in tables.items():
        _write_columns(folder / name, ending, table, results.escape)
    return list(tables)


def _h5ad_results(folder: Path, results: Results) -> list[str]:
    about = {"block_means": results.block_means, "summary": json.dumps(results.summary)}
    write_h5ad(
        folder / "clusters.h5ad",
        results.matrix,
        obs=_annotations(results.rows),
        var=_annotations(results.columns),
        uns={KEY: about},
    )
    explanation = f"{EXPLANATION}.csv"
    _write_columns(folder / explanation, ".csv", results.explanation, results.escape)
    return ["clusters.h5ad", explanation]


def _annotations(side: SideClusters) -> dict[str, Any]:
    table = side.table([""] * len(side.labels))
    names = {"label": KEY, "membership": f"{KEY}_membership", "stability": f"{KEY}_stability"}
    return {names[column]: values for column, values in table.items() if column in names}


def _needs_nothing() -> None:
    pass


RESULT_FORMATS: dict[str, tuple[Callable[[], object], ResultWriter]] = {
    "csv": (_needs_nothing, partial(_write_tables, ".csv")),
    "parquet": (import_arrow, partial(_write_tables, ".parquet")),
    "h5ad": (import_anndata, _h5ad_results),
}

RowLabelWriter = Callable[[Path, "ChunkedRows"], str]


@dataclass(frozen=True, eq=False)
class ChunkedRows:
    """Labels, membership and names of rows as Dask arrays in the same chunks."""

    labels: DaskArray
    membership: DaskArray
    names: DaskArray | None  # None for numbers
    stability: Floats  # of each cluster, in memory


def row_label_writer(ending: str, n_rows: int, escape: bool = True) -> RowLabelWriter:
    """Return the function that writes row labels in chunks; `ending` is "csv" or "parquet".

    More than a million rows are written as Parquet in any case. `escape` is that of
    `write_table`. The function takes a folder and the labels, and returns the name of what it
    wrote: a file, or a folder with one Parquet file per chunk.
    """
    if ending == "csv" and n_rows <= MOST_ROWS_OF_CSV:
        return partial(_write_row_labels_csv, escape)
    import_arrow("Labels in Parquet files")
    return _write_row_labels_parquet


def _write_row_labels_csv(escape: bool, folder: Path, rows: ChunkedRows) -> str:
    path = folder / f"{ROW_LABELS}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        for i, table in enumerate(_chunk_tables(rows)):
            file.write(csv_text(table, escape, header=i == 0))
    return path.name


def _write_row_labels_parquet(folder: Path, rows: ChunkedRows) -> str:
    target = folder / f"{ROW_LABELS}.parquet"
    target.mkdir()
    for i, table in enumerate(_chunk_tables(rows)):
        write_parquet(target / f"part-{i:04d}.parquet", table)
    return target.name


def _chunk_tables(rows: ChunkedRows) -> Iterator[Table]:
    """Yield one table per chunk of rows; only one of them is in memory at a time."""
    dask = import_dask()
    start = 0
    parts = [part for part in (rows.labels, rows.membership, rows.names) if part is not None]
    for i in range(rows.labels.numblocks[0]):
        labels, membership, *chunk_names = dask.compute(*(part.blocks[i] for part in parts))
        stop = start + len(labels)
        default = [f"row_{row}" for row in range(start, stop)]
        chunk = chunk_names[0] if chunk_names else default
        yield label_table(chunk, labels, membership, rows.stability)
        start = stop
