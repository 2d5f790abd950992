"""Transforms of values that can be undone: the parts of which preparations are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyrocco._typing import (
    Dense,
    Floats,
    Labels,
    Matrix,
    is_sparse,
    stored_values,
    with_stored_values,
)
from pyrocco.cells.values import to_dense

# Rows to select.
Rows = slice | Labels


@dataclass(frozen=True)
class Affine:
    """y_ij = (x_ij - shift - row_shifts_i - column_shifts_j) * row_factors_i * column_factors_j.

    Parameters
    ----------
    shift : float
        What is subtracted from every value.
    row_shifts, column_shifts : ndarray, optional
        What is subtracted from the values of every row, and of every column.
    row_factors, column_factors : ndarray, optional
        By what the values of every row, and of every column, are multiplied.

    Examples
    --------
    >>> halved = Affine(column_shifts=np.array([1.0, 0.0]), row_factors=np.array([0.5]))
    >>> halved.apply(np.array([[5.0, 4.0]]))
    array([[2., 2.]])
    >>> halved.undo(np.array([[2.0, 2.0]]))
    array([[5., 4.]])
    """

    shift: float = 0.0
    row_shifts: Floats | None = None
    column_shifts: Floats | None = None
    row_factors: Floats | None = None
    column_factors: Floats | None = None

    @property
    def keeps_zeros(self) -> bool:
        """Whether zeros stay zeros."""
        return not self.shift and self.row_shifts is None and self.column_shifts is None

    def apply(self, X: Matrix) -> Matrix:
        """Transform a matrix; a sparse one stays sparse if zeros stay zeros."""
        if is_sparse(X) and self.keeps_zeros:
            X = X.tocsr()  # chunks of a transpose are CSC
            return with_stored_values(X, self._scaled(X.data.copy(), *_positions(X), np.multiply))
        values = self._shifted(np.array(to_dense(X)), np.subtract)
        return self._scaled(values, *_EVERYWHERE, np.multiply)

    def undo(self, Y: Matrix) -> Matrix:
        """Return the matrix that `apply` transformed."""
        if is_sparse(Y) and self.keeps_zeros:
            Y = Y.tocsr()
            return with_stored_values(Y, self._scaled(Y.data.copy(), *_positions(Y), np.divide))
        values = self._scaled(np.array(to_dense(Y)), *_EVERYWHERE, np.divide)
        return self._shifted(values, np.add)

    def transposed(self) -> Affine:
        """Return the same transform of the transpose."""
        shifts = self.column_shifts, self.row_shifts
        return Affine(self.shift, *shifts, self.column_factors, self.row_factors)

    def rows(self, rows: Rows) -> Affine:
        """Return the same transform of some rows."""
        shifts, factors = self.row_shifts, self.row_factors
        return replace(
            self,
            row_shifts=None if shifts is None else shifts[rows],
            row_factors=None if factors is None else factors[rows],
        )

    def without_rows(self) -> Affine:
        """Return the transform without what it does to single rows."""
        return replace(self, row_shifts=None, row_factors=None)

    def spread_columns(self, columns: Labels, size: int) -> Affine:
        """Return the transform of a matrix with further columns, which get means of the others."""
        return replace(
            self,
            column_shifts=_spread(self.column_shifts, columns, size),
            column_factors=_spread(self.column_factors, columns, size),
        )

    def _shifted(self, values: Dense, operation: np.ufunc) -> Dense:
        """Subtract or add all shifts, in place."""
        sides = (self.row_shifts, (-1, 1)), (self.column_shifts, (1, -1))
        for shifts, shape in sides:
            if shifts is not None:
                operation(values, shifts.astype(values.dtype).reshape(shape), out=values)
        if self.shift:
            operation(values, values.dtype.type(self.shift), out=values)
        return values

    def _scaled(self, values: Dense, rows: Any, columns: Any, operation: np.ufunc) -> Dense:
        """Multiply or divide the values at these rows and columns, in place."""
        sides = (self.row_factors, rows), (self.column_factors, columns)
        for factors, places in sides:
            if factors is not None:
                operation(values, factors.astype(values.dtype)[places], out=values)
        return values


# Indices of factors that belong to the cells of a dense matrix.
_EVERYWHERE = np.s_[:, None], np.s_[None, :]


@dataclass(frozen=True)
class Pointwise:
    """A function of every value by itself.

    Parameters
    ----------
    function : {"log1p", "log", "complement"}
        Its name.

    Examples
    --------
    >>> Pointwise("log1p").apply(np.array([[0.0, np.e - 1]]))
    array([[0., 1.]])
    """

    function: str

    @property
    def keeps_zeros(self) -> bool:
        """Whether zeros stay zeros."""
        return self.function in _KEEP_ZEROS

    def apply(self, X: Matrix) -> Matrix:
        """Transform a matrix; a sparse one stays sparse if zeros stay zeros."""
        return self._map(X, FUNCTIONS[self.function][0])

    def undo(self, Y: Matrix) -> Matrix:
        """Return the matrix that `apply` transformed; too large values become infinite."""
        with np.errstate(over="ignore"):
            return self._map(Y, FUNCTIONS[self.function][1])

    def transposed(self) -> Pointwise:
        """Return the same transform of the transpose."""
        return self

    def rows(self, rows: Rows) -> Pointwise:
        """Return the same transform of some rows."""
        return self

    def without_rows(self) -> Pointwise:
        """Return the transform without what it does to single rows."""
        return self

    def spread_columns(self, columns: Labels, size: int) -> Pointwise:
        """Return the transform of a matrix with further columns."""
        return self

    def _map(self, X: Matrix, function: Callable[[Dense], Dense]) -> Matrix:
        X = X if self.keeps_zeros else to_dense(X)
        return with_stored_values(X, function(stored_values(X)))


Transform = Affine | Pointwise


def _complement(values: Dense) -> Dense:
    return np.asarray(1 - values)


# Each function with its inverse.
FUNCTIONS: dict[str, tuple[Callable[[Dense], Dense], Callable[[Dense], Dense]]] = {
    "log1p": (np.log1p, np.expm1),
    "log": (np.log, np.exp),
    "complement": (_complement, _complement),
}
_KEEP_ZEROS = ("log1p",)


def _spread(numbers: Floats | None, places: Labels, size: int) -> Floats | None:
    if numbers is None:
        return None
    spread = np.full(size, numbers.mean())
    spread[places] = numbers
    return spread


def _positions(X: Any) -> tuple[Labels, Labels]:
    """Return the row and the column of every stored value of a CSR matrix."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices
