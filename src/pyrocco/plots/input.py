"""What users pass as data: a matrix with the names of its rows and of its columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pyrocco._typing import Matrix
from pyrocco.cells.input import check_matrix
from pyrocco.io.anndata import take_matrix
from pyrocco.io.cell_texts import NUMBER
from pyrocco.io.column_facts import ColumnFacts, is_identifier
from pyrocco.io.errors import list_some
from pyrocco.io.headings import SAMPLE_LINES
from pyrocco.io.named_matrix import Matrix as NamedMatrix
from pyrocco.io.named_matrix import default_names
from pyrocco.validation import shown

__all__ = [
    "NamedData",
    "as_frame",
    "is_annotated",
    "is_table",
    "named_by_identifiers",
    "read_data",
]


@dataclass(frozen=True)
class NamedData:
    """A matrix, the names of its rows and columns, and the annotations that came with them."""

    X: Matrix
    rows: pd.Index
    columns: pd.Index
    has_names: tuple[bool, bool]  # whether the data named their rows, and their columns
    words: tuple[str, str] = ("rows", "columns")
    row_annotations: pd.DataFrame | None = None
    column_annotations: pd.DataFrame | None = None

    def names(
        self, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> tuple[Sequence[str] | None, Sequence[str] | None]:
        """Return names of rows and columns: those that are given, or else those of the data."""
        own = [
            [str(name) for name in index] if named else None
            for index, named in zip((self.rows, self.columns), self.has_names, strict=True)
        ]
        return own[0] if rows is None else rows, own[1] if columns is None else columns


def read_data(data: Any, row_annotations: Sequence[str] = ()) -> NamedData:
    """Return the matrix of an array, a sparse matrix, a DataFrame or an AnnData object.

    Parameters
    ----------
    data : array, sparse matrix, DataFrame of pandas or polars, AnnData or io.Matrix
        The data. A DataFrame whose first column holds texts that are all different, and whose
        index only counts the rows, has the names of its rows in that column.
    row_annotations : sequence of str
        Columns of a DataFrame that are annotations of the rows, not part of the matrix.

    Returns
    -------
    NamedData

    Examples
    --------
    >>> table = pd.DataFrame({"gene": ["a", "b"], "dose": [1.0, 2.0], "kind": ["x", "y"]})
    >>> read = read_data(table, ["kind"])
    >>> read.X.tolist(), read.rows.tolist(), read.row_annotations["kind"].tolist()
    ([[1.0], [2.0]], ['a', 'b'], ['x', 'y'])
    """
    if isinstance(data, NamedData):
        return data
    if isinstance(data, NamedMatrix):
        return _read_named(data)
    if is_annotated(data):
        return _read_annotated(data)
    if is_table(data):
        return _read_frame(as_frame(data), row_annotations)
    if row_annotations:
        raise ValueError(
            f"row_annotations={list(row_annotations)!r} names columns of a DataFrame, but data is "
            f"of type {type(data).__name__}: pass the annotations themselves."
        )
    X = check_matrix(data)
    rows, columns = (pd.RangeIndex(n) for n in X.shape)
    return NamedData(X, rows, columns, (False, False))


def named_by_identifiers(data: Any, kept: Sequence[str] = ()) -> Any:
    """Name the rows of a DataFrame by a first column of numbers that are not measured.

    That is a column such as ``Entrez``, ``sample_id`` or ``Unnamed: 0`` of whole numbers that
    never repeat, if the index only counts the rows. A warning says so. Other data, and columns
    that are `kept`, stay as they are.
    """
    if is_annotated(data) or not is_table(data):
        return data
    table = as_frame(data)
    if table.shape[1] < 2 or not _only_counts(table.index) or not _identifies(table.iloc[:, 0]):
        return data
    name = table.columns[0]
    if name in kept:
        return data
    warnings.warn(
        f"The first column of data, {shown(name)}, is taken for the names of the rows. If it "
        "holds measurements, give it another name or another place.",
        UserWarning,
        stacklevel=3,
    )
    return table.set_index(name)


def _identifies(column: pd.Series[Any]) -> bool:
    """Whether a first column holds numbers of things, judged by its heading and its values."""
    if not isinstance(column.name, str) or column.dtype.kind not in "iuf":
        return False
    if column.isna().any() or not column.is_unique or (column % 1 != 0).any():
        return False
    facts = ColumnFacts(NUMBER, [str(int(value)) for value in column.iloc[:SAMPLE_LINES]])
    return is_identifier(facts, column.name, is_first=True)


def is_annotated(data: object) -> bool:
    """Whether data is an AnnData object, judged by its attributes."""
    return all(hasattr(data, part) for part in ("X", "obs", "var", "obs_names", "var_names"))


def is_table(data: object) -> bool:
    """Whether data is a DataFrame of pandas, polars or another library."""
    return hasattr(data, "columns") and hasattr(data, "dtypes")


def as_frame(table: Any) -> pd.DataFrame:
    """Return a table of any library as a DataFrame of pandas."""
    if isinstance(table, pd.DataFrame):
        return table
    return pd.DataFrame({name: _column_values(table[name]) for name in table.columns})


def _column_values(column: Any) -> Any:
    values = column.to_numpy()
    return values if values.dtype.kind in "fiubmM" else column.to_list()


def _read_named(data: NamedMatrix) -> NamedData:
    """Read what `pyrocco.io.read_matrix` returned."""
    named = [
        (pd.Index(names, dtype=object), list(names) != list(default_names(axis, len(names))))
        for axis, names in (("row", data.row_names), ("column", data.column_names))
    ]
    (rows, has_rows), (columns, has_columns) = named
    return NamedData(
        check_matrix(data.X),
        rows,
        columns,
        (has_rows, has_columns),
        (f"{data.axis_names[0]}s", f"{data.axis_names[1]}s"),
        row_annotations=data.row_annotations,
        column_annotations=data.column_annotations,
    )


def _read_annotated(adata: Any) -> NamedData:
    X, names = take_matrix(adata, None, use_raw=False)
    return NamedData(
        check_matrix(X),
        adata.obs_names,
        names,
        (True, True),
        ("cells", "genes"),
        adata.obs,
        adata.var,
    )


def _read_frame(table: pd.DataFrame, row_annotations: Sequence[str]) -> NamedData:
    table = _with_row_names(table)
    unknown = [name for name in row_annotations if name not in table.columns]
    if unknown:
        raise ValueError(
            f"row_annotations: data has no column {shown(unknown[0])}. It has "
            f"{', '.join(map(str, table.columns[:10]))}{', ...' if table.shape[1] > 10 else ''}."
        )
    aside = table[list(row_annotations)]
    cells = table.drop(columns=list(row_annotations)) if row_annotations else table
    _check_numbers(cells)
    named = (not _only_counts(cells.index), not _only_counts(cells.columns))
    read = NamedData(check_matrix(cells), cells.index, cells.columns, named)
    return replace(read, row_annotations=aside) if row_annotations else read


def _with_row_names(table: pd.DataFrame) -> pd.DataFrame:
    """Make the first column the index if it holds the names of the rows."""
    if table.shape[1] < 2 or not _only_counts(table.index):
        return table
    first = table.iloc[:, 0]
    is_text = pd.api.types.is_string_dtype(first) and not first.isna().any()
    return table.set_index(table.columns[0]) if is_text and first.is_unique else table


def _only_counts(index: pd.Index) -> bool:
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def _about_texts(names: Sequence[Any]) -> str:
    listed = list_some([shown(name) for name in names])
    if len(names) == 1:
        which, them, argument = f"column {listed} of data holds", "it", f"[{names[0]!r}]"
    else:
        which, them, argument = f"columns {listed} of data hold", "them", "[...]"
    return (
        f"{which} texts or categories, not numbers: name {them} in row_annotations={argument} to "
        f"draw {them} beside the heat map, drop {them}, or encode texts with "
        "pyrocco.prepare.encode."
    )


def _check_numbers(cells: pd.DataFrame) -> None:
    """Say what to do about columns of texts or categories."""
    if not cells.columns.is_unique:
        return  # refused by the check of the matrix
    types = zip(cells.columns, cells.dtypes, strict=True)
    texts = [name for name, dtype in types if _holds_texts(cells[name], dtype)]
    if texts:
        raise ValueError(_about_texts(texts))
    if not np.prod(cells.shape):
        raise ValueError(f"data has {cells.shape[0]} rows and {cells.shape[1]} columns of numbers")


def _holds_texts(column: pd.Series[Any], dtype: object) -> bool:
    if isinstance(dtype, pd.CategoricalDtype):
        return True
    if not pd.api.types.is_object_dtype(column) and not pd.api.types.is_string_dtype(column):
        return False
    return any(isinstance(value, str) for value in column)
