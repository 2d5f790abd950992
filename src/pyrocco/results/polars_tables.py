"""Tables for users of polars: polars in, polars out."""

from __future__ import annotations

from typing import Any

import pandas as pd

__all__ = ["as_polars", "is_polars"]


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
