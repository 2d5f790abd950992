"""Making a matrix of a long table: one line per cell, with row, column and value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.io.matrix import Matrix, named_matrix

__all__ = ["matrix_from_long"]

# A matrix with fewer of its cells filled is kept sparse.
_SPARSE_DENSITY = 0.5


def matrix_from_long(
    rows: pd.Series[Any],
    columns: pd.Series[Any],
    values: NDArray[np.float64],
    absent: str,
    notes: list[str],
    source: str,
) -> Matrix:
    r"""Make a matrix of the three columns of a long table.

    Parameters
    ----------
    rows, columns : Series of categories
        Names, one per line of the table. Rows and columns come in the order in which they
        appear first.
    values : ndarray
        One per line; NaN where it is missing.
    absent : {"zero", "missing"}
        What a pair is that no line names.
    notes : list of str
        What was detected before.
    source : str
        Name of the file, for messages.

    Returns
    -------
    Matrix
        Sparse where fewer than half of the pairs are named and the others are zero.

    Examples
    --------
    >>> rows, columns = (pd.Series(list(text), dtype="category") for text in ("bba", "xyx"))
    >>> matrix = matrix_from_long(rows, columns, np.array([1.0, 2.0, 3.0]), "zero", [], "a.csv")
    >>> matrix.row_names, matrix.X.tolist()
    (('b', 'a'), [[1.0, 2.0], [3.0, 0.0]])
    >>> print(*matrix.notes, sep="\n")
    The 1 pair that is not listed counts as 0.
    The matrix has 2 rows and 2 columns.
    """
    i, row_names = _codes(rows)
    j, column_names = _codes(columns)
    shape = (len(row_names), len(column_names))
    i, j, values, repeated = _merge(i, j, values, shape)
    n_absent = shape[0] * shape[1] - len(values)
    if absent == "missing":
        X: Any = np.full(shape, np.nan)
        X[i, j] = values
    else:
        X = sparse.csr_array(sparse.coo_array((values, (i, j)), shape))
        X = X if len(values) < _SPARSE_DENSITY * shape[0] * shape[1] else X.toarray()
    told = [*notes, *repeated, *_about_absent(n_absent, absent)]
    return named_matrix(X, row_names, column_names, told, source)


def _codes(names: pd.Series[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """Numbers of the names in order of first appearance, and the names, spaces around left out."""
    same, stripped = pd.factorize(np.array([str(name).strip() for name in names.cat.categories]))
    codes, order = pd.factorize(same[names.cat.codes.to_numpy()])
    return codes, [str(name) for name in stripped[order]]


def _merge(
    i: NDArray[np.int64],
    j: NDArray[np.int64],
    values: NDArray[np.float64],
    shape: tuple[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], list[str]]:
    """Lines that name the same pair become one: counts are added, other values averaged."""
    pairs, which, times = np.unique(i * shape[1] + j, return_inverse=True, return_counts=True)
    if len(pairs) == len(values):
        return i, j, values, []
    total = np.bincount(which, weights=values).astype(np.float64)
    whole = bool(np.all((values >= 0) & (values == np.floor(values))))
    merged: NDArray[np.float64] = total if whole else total / times
    n_repeated = int((times > 1).sum())
    pair = "1 pair is" if n_repeated == 1 else f"{n_repeated} pairs are"
    note = f"{pair} listed more than once; values were {'added' if whole else 'averaged'}."
    return pairs // shape[1], pairs % shape[1], merged, [note]


def _about_absent(count: int, absent: str) -> list[str]:
    if count == 0:
        return []
    pair = "The 1 pair that is" if count == 1 else f"The {count} pairs that are"
    verb = "counts" if count == 1 else "count"
    return [f"{pair} not listed {verb} as {'0' if absent == 'zero' else 'missing'}."]
