"""Tables of results by name: the names that the data had, and tables of polars for its users."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrocco._typing import Floats, Labels, Names

__all__ = ["SideNames", "as_polars", "cluster_table", "is_polars", "row_names_of"]


class SideNames(NamedTuple):
    """The names of the rows and of the columns; None where the data had none."""

    rows: Names | None = None
    columns: Names | None = None


def row_names_of(X: object) -> NDArray[Any] | None:
    """Return the index of a DataFrame whose row names are all texts, otherwise None.

    Examples
    --------
    >>> row_names_of(pd.DataFrame({"a": [1, 2]}, index=["x", "y"])).tolist()
    ['x', 'y']
    >>> row_names_of(pd.DataFrame({"a": [1, 2]})) is None
    True
    """
    if not isinstance(X, pd.DataFrame) or not all(isinstance(name, str) for name in X.index):
        return None
    return np.array(X.index, dtype=object)


def cluster_table(labels: Labels, membership: Floats, names: Names | None) -> pd.DataFrame:
    """Return the cluster and the membership of every row, or of every column, by name.

    Examples
    --------
    >>> cluster_table(np.array([0, 1]), np.array([0.9, 1.0]), ["a", "b"])
       cluster  membership
    a        0         0.9
    b        1         1.0
    """
    index = None if names is None else pd.Index(names)
    return pd.DataFrame({"cluster": labels, "membership": membership}, index)


def is_polars(X: object) -> bool:
    """Return whether an object is a DataFrame of polars.

    Examples
    --------
    >>> is_polars(pd.DataFrame())
    False
    """
    kind = type(X)
    return kind.__module__.partition(".")[0] == "polars" and kind.__name__ == "DataFrame"


def as_polars(table: pd.DataFrame, name: str | None = None) -> Any:
    """Return a table as a DataFrame of polars; missing values become null.

    polars has no index: that of `table` becomes the first column, called `name`, if it has names.
    """
    import polars as pl  # noqa: PLC0415 - an optional package, which the user has imported

    columns = {str(label): _values(table[label]) for label in table.columns}
    if name is not None and not isinstance(table.index, pd.RangeIndex):
        columns = {name: list(table.index), **columns}
    return pl.DataFrame(columns, strict=False)


def _values(column: pd.Series[Any]) -> Any:
    if isinstance(column.dtype, pd.Int64Dtype) or not pd.api.types.is_numeric_dtype(column):
        return [None if pd.isna(value) else value for value in column]
    return column.to_numpy()
