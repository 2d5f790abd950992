"""Sums over the rows and over the columns of a matrix, in memory or in chunks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pyrocco._typing import Dense, Floats, Matrix, is_sparse, stored_values
from pyrocco.backends import ChunkedMatrix, over_rows
from pyrocco.backends.threads import in_threads
from pyrocco.cells.values import are_whole, count_missing, row_slices

# Up to this number of slices of rows, starting threads takes longer than it saves.
_FEW_SLICES = 2

# A function of values, elementwise. Missing values (NaN) must not become NaN.
Elementwise = Callable[[Floats], Floats]


def present(values: Floats) -> Floats:
    """Return the values, with 0 where they are missing."""
    absent = np.isnan(values)
    return np.where(absent, 0.0, values) if absent.any() else values


def missing(values: Floats) -> Floats:
    """Return 1 where a value is missing, and 0 elsewhere."""
    return np.isnan(values).astype(np.float64)


def squares(values: Floats) -> Floats:
    """Return the squares, with 0 where a value is missing."""
    return np.asarray(np.square(present(values)))


def nonzero(values: Floats) -> Floats:
    """Return 1 where a value is neither zero nor missing."""
    return np.asarray((values != 0) & ~np.isnan(values), dtype=np.float64)


class ColumnMoments(NamedTuple):
    """Number, mean and standard deviation of the values of every column that are present."""

    counts: Floats
    means: Floats
    deviations: Floats


@dataclass(frozen=True)
class Table:
    """A matrix whose rows and columns can be summed up, wherever it lies.

    Sums have double precision, and depend on the chunks only by rounding errors.

    Parameters
    ----------
    X : ndarray, CSR matrix or chunked matrix
        The values; NaN marks missing ones.
    transposed : bool
        Whether the rows of the table are the columns of `X`.
    exponent : int
        Values are divided by two to this power.
    complete : bool
        Whether it is known that no value is missing.

    Examples
    --------
    >>> table = Table(np.array([[1.0, np.nan], [3.0, 4.0]]))
    >>> table.row_sums(present).tolist(), table.column_sums(present).tolist()
    ([1.0, 7.0], [4.0, 4.0])
    >>> Table(table.X, transposed=True).row_sums(present).tolist()
    [4.0, 4.0]
    """

    X: Matrix | ChunkedMatrix
    transposed: bool = False
    exponent: int = 0
    complete: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        n, m = self.X.shape
        return (m, n) if self.transposed else (n, m)

    @property
    def T(self) -> Table:  # noqa: N802 - as NumPy calls it
        """The transpose."""
        return replace(self, transposed=not self.transposed)

    def row_sums(
        self, function: Elementwise, weights: Floats | None = None, shifts: Floats | None = None
    ) -> Floats:
        """Sum a function of the values of every row, minus its shift, weighted by columns."""
        return self.T.column_sums(function, weights, shifts)

    def column_sums(
        self, function: Elementwise, weights: Floats | None = None, shifts: Floats | None = None
    ) -> Floats:
        """Sum a function of the values of every column, minus its shift, weighted by rows."""
        options: dict[str, Any] = {"function": function, "exponent": self.exponent}
        if self.transposed:
            work = partial(_stored_row_sums, weights=weights, **options)
            return np.concatenate(over_rows(work, self.X, *_given(shifts)))
        work = partial(_stored_column_sums, shifts=shifts, **options)
        return np.asarray(np.sum(over_rows(work, self.X, *_given(weights)), axis=0))

    def column_maxima(self) -> Floats:
        """Return the largest value of every column that is present; 0 if there is none."""
        return self._column_extremes(sign=1)

    def column_minima(self) -> Floats:
        """Return the smallest value of every column that is present; 0 if there is none.

        Examples
        --------
        >>> Table(np.array([[1.0, np.nan], [3.0, 4.0]])).column_minima().tolist()
        [1.0, 4.0]
        """
        return -self._column_extremes(sign=-1)

    def _column_extremes(self, sign: int) -> Floats:
        axis = 1 if self.transposed else 0
        parts = over_rows(partial(_maxima, axis=axis, sign=sign), self.X)
        maxima = np.concatenate(parts) if self.transposed else np.fmax.reduce(parts, axis=0)
        return np.asarray(np.ldexp(np.nan_to_num(maxima), -self.exponent))

    def column_counts(self) -> Floats:
        """Return the number of values of every column that are present."""
        if self.complete:
            return np.full(self.shape[1], float(self.shape[0]))
        return self.shape[0] - self.column_sums(missing)

    def column_moments(self) -> ColumnMoments:
        """Return numbers, means and standard deviations of the columns.

        Deviations are taken from the means, so that large means cost no precision. Those that
        are only rounding errors of the mean, as scikit-learn bounds them, are 0.

        Examples
        --------
        >>> Table(np.array([[1e9, 5.0], [1e9 + 2, np.nan]])).column_moments().deviations.tolist()
        [1.0, 0.0]
        """
        counts = self.column_counts()
        filled = np.maximum(counts, 1)
        means = self.column_sums(present) / filled
        variances = self.column_sums(squares, shifts=means) / filled
        deviations = np.sqrt(np.maximum(variances, 0))
        deviations[deviations <= counts * np.finfo(np.float64).eps * np.abs(means)] = 0
        return ColumnMoments(counts, means, deviations)


def _given(by_row: Floats | None) -> tuple[Floats, ...]:
    return () if by_row is None else (by_row,)


def _stored_row_sums(
    X: Matrix,
    shifts: Floats | None = None,
    *,
    weights: Floats | None,
    function: Elementwise,
    exponent: int,
) -> Floats:
    """Sum over the columns of a chunk: a number for each of its rows."""
    if is_sparse(X):
        return _sparse_sums(X.T, weights, shifts, function, exponent)

    def sums(rows: slice) -> Floats:
        values = _values(X[rows], exponent)
        values = function(values if shifts is None else values - shifts[rows, None])
        return np.asarray((values if weights is None else values * weights).sum(axis=1))

    return np.concatenate(_of_row_slices(sums, X))


def _stored_column_sums(
    X: Matrix,
    weights: Floats | None = None,
    *,
    shifts: Floats | None,
    function: Elementwise,
    exponent: int,
) -> Floats:
    """Sum over the rows of a chunk: a number for every column."""
    if is_sparse(X):
        return _sparse_sums(X, weights, shifts, function, exponent)

    def sums(rows: slice) -> Floats:
        values = _values(X[rows], exponent)
        values = function(values if shifts is None else values - shifts)
        weighted = values if weights is None else values * weights[rows, None]
        return np.asarray(weighted.sum(axis=0))

    return np.asarray(np.sum(_of_row_slices(sums, X), axis=0))


def _of_row_slices(work: Callable[[slice], Floats], X: Matrix) -> list[Floats]:
    """Do some work on slices of rows, in threads if there are many."""
    slices = list(row_slices(X.shape))
    return in_threads(work, slices) if len(slices) > _FEW_SLICES else list(map(work, slices))


def _sparse_sums(
    X: Any, weights: Floats | None, shifts: Floats | None, function: Elementwise, exponent: int
) -> Floats:
    """Sum over the rows of a sparse matrix: what stored values add to the sum of zeros."""
    X = X.tocsr()
    weights = np.ones(X.shape[0]) if weights is None else weights
    shifts = np.zeros(X.shape[1]) if shifts is None else shifts
    own = shifts[X.indices]
    changes = function(_values(X.data, exponent) - own) - function(-own)
    changed = sparse.csr_array((changes, X.indices, X.indptr), shape=X.shape)
    return np.asarray(changed.T @ weights + function(-shifts) * weights.sum())


def _values(values: Dense, exponent: int) -> Floats:
    values = values.astype(np.float64, copy=False)
    return np.ldexp(values, -exponent) if exponent else values


def _maxima(X: Matrix, axis: int, sign: int) -> Floats:
    """Return the largest values along an axis, or with sign -1 the smallest ones, negated."""
    if not is_sparse(X):
        extremes = (np.fmax if sign > 0 else np.fmin).reduce(X, axis=axis)
        return np.asarray(sign * extremes, dtype=np.float64)
    X = X.tocsr()
    data = np.nan_to_num(sign * X.data, nan=-np.inf)
    filled = sparse.csr_array((data, X.indices, X.indptr), X.shape)
    return np.asarray(filled.max(axis=axis).toarray().ravel(), dtype=np.float64)


class Extent(NamedTuple):
    """Numbers that every chunk of a matrix adds to."""

    n_missing: int
    n_nonzero: int
    minimum: float
    maximum: float
    is_whole: bool

    @property
    def largest(self) -> float:
        """The largest absolute value; 0 if all values are missing."""
        return float(np.nanmax(np.abs([0.0, self.minimum, self.maximum])))


def extent_of(X: Matrix | ChunkedMatrix) -> Extent:
    """Count missing and nonzero values, and find the smallest and the largest one.

    Examples
    --------
    >>> extent_of(np.array([[0.0, -2.0, np.nan]]))
    Extent(n_missing=1, n_nonzero=1, minimum=-2.0, maximum=0.0, is_whole=True)
    """
    n_missing, n_nonzero, minima, maxima, whole = zip(*over_rows(_extent, X), strict=True)
    low, high = float(np.fmin.reduce(minima)), float(np.fmax.reduce(maxima))
    return Extent(sum(n_missing), sum(n_nonzero), low, high, all(whole))


def _extent(X: Matrix) -> Extent:
    values = stored_values(X)
    n_missing = count_missing(values)
    has_zeros = is_sparse(X) and values.size < X.shape[0] * X.shape[1]
    bounds: dict[str, Any] = {"initial": 0.0} if has_zeros else {"initial": np.nan}
    return Extent(
        n_missing,
        int(np.count_nonzero(values)) - n_missing,
        float(np.fmin.reduce(values, axis=None, **bounds)),
        float(np.fmax.reduce(values, axis=None, **bounds)),
        are_whole(X),
    )


def count_of(X: Matrix | ChunkedMatrix, value: float) -> int:
    """Count the cells with a value.

    Examples
    --------
    >>> count_of(np.array([[0.0, 3.0], [3.0, np.nan]]), 3.0)
    2
    """
    return sum(over_rows(partial(_count_of, value=value), X))


def _count_of(X: Matrix, value: float) -> int:
    values = stored_values(X)
    not_stored = X.shape[0] * X.shape[1] - values.size if is_sparse(X) and value == 0 else 0
    return int(np.count_nonzero(values == value)) + not_stored
