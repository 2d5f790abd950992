"""Make a matrix of the columns of a wide or long table, whatever file they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from pyrocco._typing import Dense, Floats
from pyrocco.cells.inspection import machine_memory
from pyrocco.io.columns import Columns
from pyrocco.io.errors import MatrixError, list_some
from pyrocco.io.long_tables import absent_value
from pyrocco.io.named_matrix import Matrix, named_matrix
from pyrocco.io.table_options import TABLE_OPTIONS, TableOptions, find_columns
from pyrocco.texts import one_line

if TYPE_CHECKING:
    from pyrocco._typing import Matrix as Values

__all__ = ["LoadedColumns", "check_columns", "matrix_from_long", "matrix_from_table"]

_ABOUT_NUMBERS = (
    "numbers must stand alone in their cells, and cells of a text file must be separated by "
    "commas, tabs or semicolons"
)

# A matrix with a smaller fraction of listed cells stays sparse.
_SPARSE_DENSITY = 0.5
# What a last row or column of sums is called.
_TOTALS = {"total", "totals", "grand total", "sum", "all", "overall", "gesamt", "gesamtergebnis"}
_TOTALS |= {"summe", "insgesamt", "total général", "total general", "totale", "totaal", "suma"}
# Rounded numbers add up to this share of the total.
_ROUNDING = 1e-3
_FEWEST_ROWS = 2
# A note below a table has so many words.
_FEWEST_WORDS = 3


@dataclass(frozen=True)
class LoadedColumns:
    """Columns as they were read from a file."""

    texts: list[pd.Series[Any]]  # names, as categories
    X: Dense  # numbers; NaN for missing values


def check_columns(
    columns: Columns,
    source: str,
    options: TableOptions = TABLE_OPTIONS,
    advice: str = _ABOUT_NUMBERS,
) -> None:
    """Refuse a table without numbers, and options that have no effect on it.

    `advice` says what to do about a table without numbers.
    """
    is_long = columns.roles.long is not None
    if options.layout == "long" and not is_long:
        raise MatrixError(
            f"{source}: a long table has three columns (row, column, value), "
            f"but this one has {columns.width}"
        )
    if options.absent is not None and not is_long:
        raise MatrixError(
            f"{source}: is not a long table (row, column, value), so the option absent has no "
            "effect; if it is one, ask for the long layout"
        )
    _check_chosen(columns, source, options)
    if not columns.roles.number_columns:
        raise MatrixError(f"{source}: the matrix has no columns of numbers: {advice}")


def _check_chosen(columns: Columns, source: str, options: TableOptions) -> None:
    """Refuse columns of texts among those that are asked for."""
    if not options.columns or columns.roles.long:
        return
    names = columns.header
    asked = find_columns(options.columns, names, columns.width, "--columns")
    texts = [columns.name_of(j) for j in asked if j in columns.roles.ignored]
    if texts:
        verb = "holds" if len(texts) == 1 else "hold"
        listed = ", ".join(f'"{name}"' for name in texts[:3])
        raise MatrixError(
            f"{source}: --columns: {listed} {verb} no numbers: leave out, or encode texts with "
            "--encode (pyrocco.prepare.encode in Python)"
        )


def matrix_from_table(
    loaded: LoadedColumns,
    columns: Columns,
    notes: Sequence[str],
    source: str,
    options: TableOptions = TABLE_OPTIONS,
) -> Matrix:
    """Make a matrix of a wide or long table."""
    if len(loaded.X) == 0:
        raise MatrixError(f"{source}: the matrix has no rows, only column names")
    if columns.roles.long:
        return _matrix_from_long(loaded, columns, notes, source, options.absent)
    names = [str(name).strip() for name in loaded.texts[0]] if loaded.texts else None
    X, headings, ignored = _without_empty(loaded.X, columns)
    table, below = _without_notes_below(_Wide(X, names, headings))
    ignored += below
    if not options.keep_totals:
        table, totals = _without_totals(table)
        ignored += totals
    notes = [*notes, *ignored, *_about_empty(table)]
    matrix = named_matrix(table.X, table.row_names, table.column_names, notes, source)
    return replace(matrix, set_aside=columns.set_aside)


def _matrix_from_long(
    loaded: LoadedColumns,
    columns: Columns,
    notes: Sequence[str],
    source: str,
    absent: str | None,
) -> Matrix:
    """Make a matrix of a long table; its values show how to treat pairs that are not listed."""
    rows, others = loaded.texts
    values = loaded.X[:, 0]
    heading = columns.header[columns.roles.number_columns[0]] if columns.header else None
    chosen = absent or absent_value(values, heading, bool(columns.roles.ignored))
    return matrix_from_long(rows, others, values, chosen, notes, source, is_guess=absent is None)


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
    is_guess: bool = False,
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
        _check_memory(shape, source)
        X = np.full(shape, np.nan)
        X[i, j] = values
    else:
        X = sparse.csr_array(sparse.coo_array((values, (i, j)), shape))
        X = X if len(values) < _SPARSE_DENSITY * shape[0] * shape[1] else X.toarray()
    all_notes = [*notes, *repeated, *_about_absent(n_absent, absent, is_guess)]
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


def _check_memory(shape: tuple[int, int], source: str) -> None:
    """Refuse a dense matrix that this machine cannot hold."""
    needed, available = 8 * shape[0] * shape[1], machine_memory()
    if available is not None and needed > available:
        raise MatrixError(
            f"{source}: the matrix of {shape[0]} rows and {shape[1]} columns needs "
            f"{needed / 1e9:.0f} GB if pairs that are not listed are missing: use --absent zero, "
            "or fewer rows and columns"
        )


def _about_absent(count: int, absent: str, is_guess: bool) -> list[str]:
    if count == 0:
        return []
    pair = "The 1 pair that is" if count == 1 else f"The {count} pairs that are"
    verb = "counts" if count == 1 else "count"
    lines = [f"{pair} not listed {verb} as {'0' if absent == 'zero' else 'missing'}."]
    other = {"zero": "unknown, use --absent missing", "missing": "0, use --absent zero"}[absent]
    return [*lines, f"If {'it is' if count == 1 else 'they are'} {other}."] if is_guess else lines


@dataclass(frozen=True)
class _Wide:
    """The values of a wide table, and names of its rows and columns, if it has any."""

    X: Dense
    row_names: Sequence[str] | None
    column_names: Sequence[str] | None


def _about_empty(table: _Wide) -> list[str]:
    """Name the columns without values."""
    suspects = np.flatnonzero(np.isnan(table.X[0])).tolist()  # most columns are none
    empty = [j for j in suspects if np.isnan(table.X[:, j]).all()]
    if not empty or not table.column_names:
        return []
    columns, verb = ("column", "has") if len(empty) == 1 else ("columns", "have")
    listed = list_some([f'"{table.column_names[j]}"' for j in empty])
    return [f"The {columns} {listed} {verb} no values; --ignore leaves out columns."]


def _without_notes_below(table: _Wide) -> tuple[_Wide, list[str]]:
    """Remove last rows that hold a sentence instead of a name, and no values."""
    n_rows = len(table.X)
    names = table.row_names or ()
    while n_rows > 1 and names and np.isnan(table.X[n_rows - 1]).all():
        if len(names[n_rows - 1].split()) < _FEWEST_WORDS:
            break
        n_rows -= 1
    left_out = [one_line(name) for name in names[n_rows:]]
    if not left_out:
        return table, []
    which = "row" if len(left_out) == 1 else f"{len(left_out)} rows"
    verb, are = ("has", "is") if len(left_out) == 1 else ("have", "are")
    listed = list_some([f'"{name}"' for name in left_out])
    note = f"The last {which}, {listed}, {verb} no values and {are} left out."
    return _Wide(table.X[:n_rows], names[:n_rows], table.column_names), [note]


def _without_totals(table: _Wide) -> tuple[_Wide, list[str]]:
    """Remove a last column and a last row called "Total" if they are the sums of the others."""
    X, rows, columns = table.X, table.row_names, table.column_names
    notes = []
    if columns and _is_total(X.T, columns[-1]):
        notes.append(_note_total("column", columns[-1]))
        X, columns = X[:, :-1], columns[:-1]
    if rows and _is_total(X, rows[-1]):
        notes.append(_note_total("row", rows[-1]))
        X, rows = X[:-1], rows[:-1]
    return _Wide(X, rows, columns), notes


def _is_total(X: Dense, name: str) -> bool:
    """Whether the last row is called a total, and is one."""
    if name.strip().casefold() not in _TOTALS or len(X) <= _FEWEST_ROWS:
        return False
    last, sums = X[-1], np.nansum(X[:-1], axis=0)
    known = ~np.isnan(last)
    return bool(known.any() and np.allclose(last[known], sums[known], rtol=_ROUNDING, atol=1e-9))


def _note_total(kind: str, name: str) -> str:
    return (
        f'The last {kind}, "{name.strip()}", is the sum of the others and is left out; '
        "--keep-totals keeps it."
    )
