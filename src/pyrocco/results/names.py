"""Names of the rows and columns of a fit, as the data had them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrocco._typing import Floats, Labels, Names

__all__ = ["SideNames", "cluster_table", "row_names_of"]


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
