"""A matrix with names of rows and columns, which every reader returns, and its checks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import sparse

from pyrocco._typing import Dense, is_sparse, stored_values
from pyrocco._typing import Matrix as Values
from pyrocco.cells.sparse_check import check_sparse_indices
from pyrocco.io.errors import MatrixError, cell_place, list_some, percent
from pyrocco.texts import counted

__all__ = [
    "INFINITE",
    "Matrix",
    "about_size",
    "check_index_types",
    "check_matrix_array",
    "check_numbers",
    "default_names",
    "match_columns",
    "named_matrix",
    "unique_names",
]

INFINITE = "is infinite: replace it by a number, or remove that row or column"
# A sparse matrix may have this many rows or columns, or this many for every stored value.
_MOST_EMPTY = 10_000_000
_MOST_EMPTY_PER_VALUE = 100
# Names of missing columns that a message lists.
_LISTED = 3
# The name of a second or later column of the same name.
_NUMBERED = re.compile(r"(.*) \(\d+\)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix with the names of its rows and columns.

    Attributes
    ----------
    X : ndarray or csr_array
        Values, floating point and not infinite; NaN for missing values.
    row_names, column_names : tuple of str
        One name per row and per column; ``row_0``, ``column_0``, ... if the file has none.
    notes : tuple of str
        Sentences about what was detected in the file.
    row_annotations, column_annotations : DataFrame or None
        What is known about the rows and the columns beside the values, such as a treatment or an
        age: one row per row or column of `X`, in the same order, under their names. Numbers are
        floats, categories are texts; NaN or None if missing. None if there are none.
    axis_names : pair of str
        What one row and one column are called: ``("cell", "gene")`` of an AnnData file.
    set_aside : tuple of str
        Names of the columns of the file that are not part of the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = Matrix(np.eye(2), ("a", "b"), ("x", "y"))
    >>> matrix.shape, matrix.density, matrix.n_missing
    ((2, 2), 0.5, 0)
    >>> matrix.transpose().row_names
    ('x', 'y')
    """

    X: Values
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    row_annotations: pd.DataFrame | None = None
    column_annotations: pd.DataFrame | None = None
    axis_names: tuple[str, str] = ("row", "column")
    set_aside: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        n_rows, n_columns = self.X.shape
        return int(n_rows), int(n_columns)

    @property
    def n_missing(self) -> int:
        """Number of missing values."""
        return int(np.isnan(stored_values(self.X)).sum())

    @property
    def density(self) -> float:
        """Fraction of the cells that hold a number other than zero."""
        nonzero = np.count_nonzero(stored_values(self.X)) - self.n_missing
        return float(nonzero) / (self.shape[0] * self.shape[1])

    @property
    def _transposed_axis_names(self) -> tuple[str, str]:
        first, second = self.axis_names
        return self.axis_names if first == "row" else (second, first)

    def transpose(self) -> Matrix:
        """Return the matrix with rows and columns swapped."""
        X = np.ascontiguousarray(self.X.T) if isinstance(self.X, np.ndarray) else self.X.T.tocsr()
        return replace(
            self,
            X=X,
            row_names=self.column_names,
            column_names=self.row_names,
            row_annotations=self.column_annotations,
            column_annotations=self.row_annotations,
            axis_names=self._transposed_axis_names,
        )

    def noting(self, *lines: str) -> Matrix:
        """Return the matrix with more notes."""
        return replace(self, notes=(*self.notes, *lines))


def default_names(kind: str, count: int) -> tuple[str, ...]:
    """Return names for rows or columns that have none: ``row_0``, ``row_1``, ..."""
    return tuple(f"{kind}_{i}" for i in range(count))


def named_matrix(
    X: Values,
    row_names: Sequence[str] | None,
    column_names: Sequence[str] | None,
    notes: Sequence[str],
    source: str,
) -> Matrix:
    """Check the values that a reader returns, add default names and notes about the size."""
    X = check_numbers(X, source)
    n_rows, n_columns = X.shape
    rows, of_rows = unique_names("row", _checked_names("row", n_rows, row_names, source))
    columns, of_columns = unique_names(
        "column", _checked_names("column", n_columns, column_names, source)
    )
    matrix = Matrix(X, rows, columns)
    return matrix.noting(*notes, *of_rows, *of_columns, *about_size(matrix))


def unique_names(kind: str, names: tuple[str, ...]) -> tuple[tuple[str, ...], list[str]]:
    """Number names that are there more than once, and say so: ``a``, ``a (2)``, ``a (3)``.

    Empty names become ``row_3`` or ``column_3``.
    """
    names = tuple(name or f"{kind}_{i}" for i, name in enumerate(names))
    if len(set(names)) == len(names):
        return names, []
    taken, times, unique = set(names), Counter[str](), []
    for name in names:
        times[name] += 1
        new = name
        while times[name] > 1 and new in taken:
            new = f"{name} ({times[name]})"
            times[name] += new in taken
        taken.add(new)
        unique.append(new)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    shown = list_some([f'"{" ".join(name.split())}"' for name in repeated], 3)
    verb = "name occurs" if len(repeated) == 1 else "names occur"
    example = unique[names.index(repeated[0], names.index(repeated[0]) + 1)]
    note = (
        f"{len(repeated)} {kind} {verb} more than once: {shown}. The later ones are numbered, as "
        f'in "{" ".join(example.split())}".'
    )
    return tuple(unique), [note]


def _checked_names(
    kind: str, count: int, names: Sequence[str] | None, source: str
) -> tuple[str, ...]:
    if names is None:
        return default_names(kind, count)
    if len(names) != count:
        raise MatrixError(
            f"{source}: is damaged: it holds {counted(len(names), 'name')} for "
            f"{counted(count, kind)}"
        )
    return tuple(names)


def about_size(matrix: Matrix) -> list[str]:
    """Return notes about the size of a matrix and its missing values."""
    n_rows, n_columns = matrix.shape
    lines = [f"The matrix has {counted(n_rows, 'row')} and {counted(n_columns, 'column')}."]
    n_missing = matrix.n_missing
    if n_missing:
        verb = "is" if n_missing == 1 else "are"
        share = percent(n_missing / (n_rows * n_columns))
        lines.append(
            f"{n_missing:,} of its {n_rows * n_columns:,} cells {verb} missing ({share})."
        )
    return lines


def check_numbers(X: Values, source: str) -> Values:
    """Return the matrix as floating point, dense or CSR, or say what is wrong with it.

    Numbers other than float32 become float64. Missing values are NaN.
    """
    check_matrix_array(X.shape, X.dtype, source)
    if is_sparse(X):
        _check_sparse(X, source)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else sparse.csr_array(X)
    if np.isinf(stored_values(X)).any():
        raise MatrixError(f"{source}: {cell_place(*_first_infinite(X))} {INFINITE}")
    return X


def check_index_types(arrays: Mapping[str, Dense], source: str) -> None:
    """Refuse indices that are not integers: SciPy would round them when it makes a matrix."""
    for name in ("indices", "indptr", "row", "col", "offsets"):
        if name in arrays and arrays[name].dtype.kind not in "iu":
            raise MatrixError(
                f"{source}: is damaged: its {name} are {arrays[name].dtype}, not integers"
            )


def _check_sparse(X: sparse.sparray, source: str) -> None:
    """Refuse indices outside of the matrix, and sizes that make no sense."""
    try:
        check_sparse_indices(X)
    except ValueError as error:
        raise MatrixError(f"{source}: {error}") from error
    if max(X.shape) > max(_MOST_EMPTY, _MOST_EMPTY_PER_VALUE * X.nnz):
        raise MatrixError(
            f"{source}: is damaged: a matrix of {X.shape[0]} x {X.shape[1]} with only "
            f"{counted(X.nnz, 'stored value')}"
        )


def check_matrix_array(shape: Sequence[int], dtype: np.dtype[np.generic], source: str) -> None:
    """Raise a `MatrixError` unless an array has two dimensions, cells, and real numbers."""
    if len(shape) != 2:
        raise MatrixError(
            f"{source}: the array has {len(shape)} dimension(s), but a matrix has two: "
            "rows and columns"
        )
    for kind, count in zip(("rows", "columns"), shape, strict=True):
        if count == 0:
            raise MatrixError(f"{source}: the matrix has no {kind} ({shape[0]} x {shape[1]})")
    if np.dtype(dtype).kind not in "biuf":
        raise MatrixError(
            f"{source}: holds values of type {dtype}, but a matrix of real numbers is needed"
        )


def _first_infinite(X: Values) -> tuple[int, int]:
    """Return row and column of the first infinite value, row by row."""
    if isinstance(X, np.ndarray):
        row, column = np.argwhere(np.isinf(X))[0]
        return int(row), int(column)
    entries = X.tocoo()
    bad = np.flatnonzero(np.isinf(entries.data))
    first = bad[np.lexsort((entries.col[bad], entries.row[bad]))[0]]
    return int(entries.row[first]), int(entries.col[first])


def match_columns(matrix: Matrix, names: Sequence[str], source: str, what: str) -> Matrix:
    """Select the named columns of a matrix, in the given order.

    Parameters
    ----------
    matrix : Matrix
        If its columns have default names and their number is right, they are taken to be in
        the given order.
    names : sequence of str
        Names of the columns to select.
    source : str
        Name of the file, for messages.
    what : {"column", "row"}
        What messages call a column: after a transposition, columns are rows of the file.

    Returns
    -------
    Matrix
        With a note if columns were dropped or matched by position.

    Raises
    ------
    MatrixError
        If columns are missing, or several have the same name.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = Matrix(np.array([[1.0, 2.0, 3.0]]), ("a",), ("x", "y", "z"))
    >>> selected = match_columns(matrix, ["z", "x"], "new.csv", "column")
    >>> selected.X.tolist(), selected.notes
    ([[3.0, 1.0]], ('1 column that the model does not know was left out.',))
    """
    wanted = list(unique_names(what, tuple(names))[0])
    given = list(unique_names(what, matrix.column_names)[0])
    if wanted == given:
        return matrix
    if given == list(default_names("column", len(wanted))):
        note = (
            f"Its {what}s have no names: they are assumed to be in the same order as those of "
            "the model."
        )
        return replace(matrix, column_names=tuple(wanted)).noting(note)
    _check_names(wanted, given, source, what)
    positions = {name: position for position, name in enumerate(given)}
    order = [positions[name] for name in wanted]
    annotations = matrix.column_annotations
    selected = replace(
        matrix,
        X=matrix.X[:, order],
        column_names=tuple(wanted),
        column_annotations=None if annotations is None else annotations.iloc[order],
    )
    n_dropped = len(given) - len(wanted)
    if not n_dropped:
        return selected
    verb = "was" if n_dropped == 1 else "were"
    return selected.noting(
        f"{counted(n_dropped, what)} that the model does not know {verb} left out."
    )


def _check_names(wanted: list[str], given: list[str], source: str, what: str) -> None:
    missing = sorted(set(wanted) - set(given), key=wanted.index)
    if missing:
        some = ", ".join(f'"{name}"' for name in missing[:_LISTED])
        dots = ", ..." if len(missing) > _LISTED else ""
        raise MatrixError(
            f"{source}: lacks {len(missing)} of the {len(wanted)} {what}s that the model was "
            f"fitted to: {some}{dots}; add them, under the same names"
        )
    known = set(wanted)
    kept = [name for name in given if name in known]
    bases = (_NUMBERED.fullmatch(name) for name in wanted)
    twice = [base[1] for base in bases if base is not None and base[1] in known]
    if twice and kept != wanted:  # they were numbered in the order of their file
        raise MatrixError(
            f'{source}: several {what}s are called "{twice[0]}", so they cannot be told apart: '
            f"give the {what}s different names and fit again, or provide the {what}s of the fit "
            "in the same order"
        )
