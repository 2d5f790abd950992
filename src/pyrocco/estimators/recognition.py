"""Rows, and columns, that a model has seen before: recognised by their values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends import ChunkedMatrix
from pyrocco.backends.kernels.hashing import MIXER, weighted_sums
from pyrocco.estimators.chunks import row_slices

Numbers = NDArray[np.uint64]


@dataclass(frozen=True)
class SeenRows:
    """A number for the values of each row seen, sorted.

    Values are compared in single precision, so that a row is the same row as float32 and as
    float64, dense and sparse. Of rows with the same values, the first of a query is the first
    of the fit, the second the second, and so on.

    Parameters
    ----------
    numbers : ndarray of uint64
        Sorted.
    rows : ndarray of int
        The row that each number belongs to.
    exponent : int
        Values are compared over two to this power: no unit is too large or too small.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 0.0]])
    >>> seen = SeenRows.of(X)
    >>> seen.find(np.array([[2.0, 3.0], [1.0, 0.5], [1.0, 0.0], [1.0, 0.0]])).tolist()
    [1, -1, 0, 2]
    """

    numbers: Numbers
    rows: NDArray[np.intp]
    exponent: int

    @classmethod
    def of(cls, X: Any) -> SeenRows:
        """Remember the rows of `X`, dense or CSR."""
        exponent = _exponent(X)
        numbers = _numbers(X, exponent)
        rows = np.argsort(numbers, kind="stable")
        return cls(numbers[rows], rows, exponent)

    def find(self, X: Any) -> NDArray[np.intp]:
        """Row of the fit that each row of `X` is; -1 where it is new."""
        numbers = _numbers(X, self.exponent)
        first = np.searchsorted(self.numbers, numbers, side="left")
        copies = np.searchsorted(self.numbers, numbers, side="right") - first
        place = first + _occurrence(numbers) % np.maximum(copies, 1)
        found = self.rows[np.minimum(place, len(self.rows) - 1)]
        return np.where(copies > 0, found, -1)


def has_repeated(X: Any) -> bool:
    """Whether rows of `X` are the same to the last bit: cheap, for it is asked of every fit.

    Examples
    --------
    >>> import numpy as np
    >>> has_repeated(np.eye(3)), has_repeated(np.ones((2, 3)))
    (False, True)
    """
    if sparse.issparse(X):
        numbers = _numbers(X, _exponent(X))
    else:
        bits = np.ascontiguousarray(X).view(np.dtype(f"u{X.itemsize}"))
        numbers = weighted_sums(bits, _multipliers(X.shape[1]))
    numbers = np.sort(numbers)
    return bool((numbers[1:] == numbers[:-1]).any())


def order_by_values(X: Any) -> NDArray[np.intp]:
    """Order the rows of `X` in a way that their own order does not matter for.

    Rows with the same values stand side by side.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 0.0]])
    >>> order, turned = order_by_values(X), order_by_values(X[::-1])
    >>> bool((X[order] == X[::-1][turned]).all())
    True
    """
    return np.argsort(_numbers(X, _exponent(X)), kind="stable")


def order_where_repeated(X: ChunkedMatrix, largest: float) -> NDArray[np.intp] | None:
    """The order of `order_by_values` where rows are repeated; None where every one is alone.

    `largest` is the size of the largest cell.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends import ChunkedMatrix, ScratchStore
    >>> X = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 0.0]])
    >>> blocks = ChunkedMatrix.split(X, [0, 2, 3], ScratchStore())
    >>> bool((order_where_repeated(blocks, 3.0) == order_by_values(X)).all())
    True
    """
    exponent = math.frexp(largest)[1]
    numbers = np.concatenate(X.results(partial(_numbers, exponent=exponent)))
    order = np.argsort(numbers, kind="stable")
    repeated = (numbers[order][1:] == numbers[order][:-1]).any()
    return order if repeated else None


def _occurrence(numbers: Numbers) -> NDArray[np.intp]:
    """How many times each number came before."""
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], numbers[order], side="left")
    before = np.empty(len(numbers), dtype=np.intp)
    before[order] = np.arange(len(numbers)) - starts
    return before


def _exponent(X: Any) -> int:
    values = np.abs(X.data if sparse.issparse(X) else X)
    largest = float(np.nanmax(values, initial=0.0))
    return math.frexp(largest)[1]


def _numbers(X: Any, exponent: int) -> Numbers:
    """Sum of the bits of the cells, each mixed and times the number of its column."""
    columns = _multipliers(X.shape[1])
    if sparse.issparse(X):
        X = X.tocsr().copy()
        X.sum_duplicates()
        mixed = sparse.csr_array((_mixed(X.data, exponent), X.indices, X.indptr), shape=X.shape)
        return np.asarray(mixed @ columns)
    return np.concatenate([_mixed(X[part], exponent) @ columns for part in row_slices(X.shape)])


def _multipliers(count: int) -> Numbers:
    """One odd number for every column."""
    numbers = np.random.RandomState(0).randint(0, 2**63, count, dtype=np.uint64)
    return np.asarray(2 * numbers + np.uint64(1))


def _mixed(values: NDArray[Any], exponent: int) -> Numbers:
    """Bits of values in single precision, mixed so that all count; those of zero are zero."""
    with np.errstate(over="ignore", under="ignore"):
        single = np.ldexp(values.astype(np.float64), -exponent).astype(np.float32)
    single += np.float32(0)  # minus zero is zero
    single[np.isnan(single)] = np.nan  # one kind of NaN
    bits = single.view(np.uint32).astype(np.uint64)
    bits *= np.uint64(MIXER)
    bits ^= bits >> np.uint64(32)
    return bits
