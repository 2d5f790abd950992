"""Make a matrix of the columns of a wide or long table, whatever file they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from pyrocco._typing import Dense, Floats
from pyrocco.io.columns import Columns
from pyrocco.io.errors import MatrixError
from pyrocco.io.named_matrix import Matrix, named_matrix

if TYPE_CHECKING:
    from pyrocco._typing import Matrix as Values

__all__ = ["LoadedColumns", "check_columns", "matrix_from_long", "matrix_from_table"]

# A matrix with a smaller fraction of listed cells stays sparse.
_SPARSE_DENSITY = 0.5


@dataclass(frozen=True)
class LoadedColumns:
    """Columns as they were read from a file."""

    texts: list[pd.Series[Any]]  # names, as categories
    X: Dense  # numbers; NaN for missing values


def check_columns(
    columns: Columns, source: str, layout: str = "auto", absent: str | None = None
) -> None:
    """Refuse a table without numbers, and options that have no effect on it."""
    is_long = columns.roles.long is not None
    if layout == "long" and not is_long:
        raise MatrixError(
            f"{source}: a long table has three columns (row, column, value), "
            f"but this one has {columns.width}"
        )
    if absent is not None and not is_long:
        raise MatrixError(
            f"{source}: is not a long table (row, column, value), so the option absent has no "
            "effect; if it is one, ask for the long layout"
        )
    if not columns.roles.number_columns:
        raise MatrixError(
            f"{source}: the matrix has no columns of numbers "
            "(cells must be separated by commas, tabs or semicolons)"
        )


def matrix_from_table(
    loaded: LoadedColumns,
    columns: Columns,
    notes: Sequence[str],
    source: str,
    absent: str | None = None,
) -> Matrix:
    """Make a matrix of a wide or long table.

    `absent` is the value of pairs that a long table does not list: zero (also if it is None) or
    missing.
    """
    if len(loaded.X) == 0:
        raise MatrixError(f"{source}: the matrix has no rows, only column names")
    if columns.roles.long:
        rows, others = loaded.texts
        return matrix_from_long(rows, others, loaded.X[:, 0], absent or "zero", notes, source)
    names = [str(name).strip() for name in loaded.texts[0]] if loaded.texts else None
    X, headings, ignored = _without_empty(loaded.X, columns)
    return named_matrix(X, names, headings, [*notes, *ignored], source)


def _without_empty(X: Dense, columns: Columns) -> tuple[Dense, tuple[str, ...] | None, list[str]]:
    """Remove columns without name and numbers, as a superfluous separator makes them."""
    names = columns.names or ("",) * X.shape[1]
    # The first row alone rules out most columns.
    suspects = [j for j in np.flatnonzero(np.isnan(X[0])) if not names[j]]
    empty = [j for j in suspects if np.isnan(X[:, j]).all()]
    if not empty or len(empty) == X.shape[1]:
        return X, columns.names, []
    others = np.setdiff1d(np.arange(X.shape[1]), empty)
    headings = tuple(names[j] for j in others) if columns.names else None
    reason = "it is empty and has" if len(empty) == 1 else "they are empty and have"
    listed = ", ".join(f"column {columns.roles.numbers[j] + 1}" for j in empty)
    return X[:, others], headings, [f"Ignored, because {reason} no name: {listed}."]


def matrix_from_long(
    rows: pd.Series[Any],
    columns: pd.Series[Any],
    values: Floats,
    absent: str,
    notes: Sequence[str],
    source: str,
) -> Matrix:
    """Make a matrix of a long table, which has one line per cell.

    Rows and columns come in the order of their first appearance. The matrix is sparse if fewer
    than half of the pairs are listed and the others are zero.
    """
    i, row_names = _codes(rows)
    j, column_names = _codes(columns)
    shape = (len(row_names), len(column_names))
    i, j, values, repeated = _merge_repeated(i, j, values, shape)
    n_absent = shape[0] * shape[1] - len(values)
    X: Values
    if absent == "missing":
        X = np.full(shape, np.nan)
        X[i, j] = values
    else:
        X = sparse.csr_array(sparse.coo_array((values, (i, j)), shape))
        X = X if len(values) < _SPARSE_DENSITY * shape[0] * shape[1] else X.toarray()
    all_notes = [*notes, *repeated, *_about_absent(n_absent, absent)]
    return named_matrix(X, row_names, column_names, all_notes, source)


def _codes(names: pd.Series[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """Number the names in order of first appearance; blanks around a name do not count."""
    same, stripped = pd.factorize(np.array([str(name).strip() for name in names.cat.categories]))
    codes, order = pd.factorize(same[names.cat.codes.to_numpy()])
    return codes, [str(name) for name in stripped[order]]


def _merge_repeated(
    i: NDArray[np.int64], j: NDArray[np.int64], values: Floats, shape: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, list[str]]:
    """Merge lines that list the same pair: counts are added, other values averaged."""
    pairs, which, times = np.unique(i * shape[1] + j, return_inverse=True, return_counts=True)
    if len(pairs) == len(values):
        return i, j, values, []
    total = np.bincount(which, weights=values).astype(np.float64)
    whole = bool(np.all((values >= 0) & (values == np.floor(values))))
    merged: Floats = total if whole else total / times
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
