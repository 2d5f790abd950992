"""Simple facts about the values of a matrix: how many are zero or missing, and their scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike

from pyrocco._typing import Dense, Matrix, is_sparse, stored_values
from pyrocco.backends import ChunkedMatrix, over_rows

# The paper does not give the threshold of its sparsity test. In its text data 2-4 % of the
# cells are not zero, in its gene expression data all of them (see docs/how-it-works.md).
SPARSE_DENSITY = 0.5
# The smallest positive number.
SMALLEST = 5e-324
# Values processed at once: 32 MB of float64.
_VALUES_AT_ONCE = 1 << 22
# Values that stay in the cache of a processor while several functions of them are computed.
_VALUES_IN_CACHE = 1 << 18

Result = TypeVar("Result")


def to_dense(X: Matrix) -> Dense:
    """Return the matrix as an array."""
    return np.asarray(X.toarray() if is_sparse(X) else X)


def transpose(X: Matrix) -> Matrix:
    """Return the transpose; that of a CSR matrix is a CSR matrix too."""
    return X.T.tocsr() if is_sparse(X) else X.T


def over_slices(work: Callable[[Dense], Result], values: Dense) -> Iterator[Result]:
    """Do some work on slices of an array, each small enough for the cache.

    Examples
    --------
    >>> list(over_slices(len, np.ones((300_000, 2))))
    [131072, 131072, 37856]
    """
    step = max(1, _VALUES_IN_CACHE * len(values) // max(values.size, 1))
    return (work(values[start : start + step]) for start in range(0, len(values), step))


def row_slices(shape: tuple[int, int]) -> Iterator[slice]:
    """Cut the rows of a matrix into slices with few enough values to copy them.

    Examples
    --------
    >>> [(part.start, part.stop) for part in row_slices((5, 1 << 21))]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, _VALUES_AT_ONCE // max(shape[1], 1))
    for start in range(0, shape[0], step):
        yield slice(start, min(start + step, shape[0]))


def has_missing(X: Matrix) -> bool:
    """Whether a value is missing (NaN).

    Examples
    --------
    >>> has_missing(np.array([[1.0, np.nan]])), has_missing(np.eye(2))
    (True, False)
    """
    return any(over_slices(lambda values: np.isnan(values).any(), stored_values(X)))


def density(X: Matrix | ChunkedMatrix) -> float:
    """Return the share of nonzero cells among those that are not missing.

    Examples
    --------
    >>> density(np.array([[0.0, 1.0], [0.0, 0.0]])), density(np.array([[0.0, 1.0, np.nan]]))
    (0.25, 0.5)
    """
    nonzero, missing = np.sum(over_rows(_count_values, X), axis=0)
    return float(nonzero / max(X.shape[0] * X.shape[1] - missing, 1))


def _count_values(X: Matrix) -> tuple[int, int]:
    """Count the values that are neither zero nor missing, and the missing ones."""
    values = stored_values(X)
    missing = count_missing(values)
    return int(np.count_nonzero(values)) - missing, missing


def count_missing(values: Dense) -> int:
    """Count the values that are missing (NaN).

    Examples
    --------
    >>> count_missing(np.array([1.0, np.nan]))
    1
    """
    return sum(over_slices(lambda part: int(np.count_nonzero(np.isnan(part))), values))


def are_whole(X: Matrix) -> bool:
    """Whether all values that are not missing are whole numbers.

    Examples
    --------
    >>> are_whole(np.array([[1.0, np.nan]])), are_whole(np.array([[0.5]]))
    (True, False)
    """
    # Real numbers are found in the first slice.
    return all(over_slices(_are_whole, stored_values(X)))


def _are_whole(values: Dense) -> bool:
    return bool(np.all((values == np.floor(values)) | np.isnan(values)))


def are_between(values: Dense, least: float, most: float) -> bool:
    """Whether all values that are not missing are at least `least` and at most `most`.

    Examples
    --------
    >>> are_between(np.array([[1.0, np.nan]]), 0, 1), are_between(np.array([[2.0]]), 0, 1)
    (True, False)
    """
    return all(over_slices(lambda part: not ((part < least) | (part > most)).any(), values))


def is_mostly_zero(X: Matrix | ChunkedMatrix) -> bool:
    """Apply the paper's sparsity test: it looks at the values, not at the storage format.

    Examples
    --------
    >>> is_mostly_zero(np.eye(3)), is_mostly_zero(np.ones((3, 3)))
    (True, False)
    """
    return density(X) < SPARSE_DENSITY


def resolve_metric(metric: str, mostly_zero: bool) -> str:
    """Turn ``"auto"`` into cosine for mostly-zero data and Euclidean otherwise.

    Examples
    --------
    >>> resolve_metric("auto", True), resolve_metric("manhattan", True)
    ('cosine', 'manhattan')
    """
    if metric != "auto":
        return metric
    return "cosine" if mostly_zero else "euclidean"


def largest_value(X: Matrix) -> float:
    """Return the largest absolute value that is not missing; 0 if there is none.

    Examples
    --------
    >>> largest_value(np.array([[3.0, -4.0, np.nan]])), largest_value(np.zeros((2, 2)))
    (4.0, 0.0)
    """
    values = stored_values(X)
    # Without a copy of the absolute values.
    highest = np.fmax.reduce(values, axis=None, initial=0)
    return float(max(highest, -np.fmin.reduce(values, axis=None, initial=0)))


def divided(X: Matrix, scale: float) -> Matrix:
    """Divide a matrix by a positive scale, with the precision of the matrix.

    By multiplying, since SciPy's quotient of a float32 CSR matrix would be float64; where the
    inverse of the scale is out of range, by a power of two first.

    Examples
    --------
    >>> divided(np.array([[3e-320, 6e-320]]), 3e-320).round(2).tolist()
    [[1.0, 2.0]]
    """
    limits = np.finfo(X.dtype)
    if not 1 / float(limits.max) < scale < 1 / float(limits.tiny):
        scale, exponent = math.frexp(scale)
        X = times_power_of_two(X, -exponent)
    return X * X.dtype.type(1 / scale)


def times_power_of_two(X: Matrix, exponent: int) -> Matrix:
    """Multiply a matrix by two to the power of `exponent`, which may itself be out of range.

    Examples
    --------
    >>> float(times_power_of_two(np.array([[2.0**-1040]]), 1041)[0, 0])
    2.0
    """
    if not is_sparse(X):
        return np.ldexp(X, exponent)
    scaled = X.copy()
    scaled.data = np.ldexp(X.data, exponent)
    return scaled


def in_safe_range(X: Matrix) -> tuple[Matrix, int]:
    """Multiply extreme values by a power of two, so that their squares can be computed.

    Returns
    -------
    X : ndarray or CSR matrix
        The matrix itself if its values are not extreme.
    exponent : int
        The power of two by which it was divided; 0 for the matrix itself.

    Examples
    --------
    >>> X, exponent = in_safe_range(np.array([[3e300, 0.0]]))
    >>> bool(0.5 <= X.max() < 1), float(np.ldexp(X, exponent).max())
    (True, 3e+300)
    """
    largest = largest_value(X)
    if largest == 0 or has_safe_squares(largest, X.dtype):
        return X, 0
    exponent = math.frexp(largest)[1]
    return times_power_of_two(X, -exponent), exponent


def room_for_sums(X: Matrix, count: int) -> int:
    """Return the power of two by which to divide, so that sums of `count` values are finite.

    Examples
    --------
    >>> room_for_sums(np.array([[1e308, 1e308]]), 2), room_for_sums(np.ones((1, 2)), 2)
    (3, 0)
    """
    room = count.bit_length() + 1
    return room if largest_value(X) > math.ldexp(float(np.finfo(X.dtype).max), -room) else 0


def has_safe_squares(largest: float, dtype: DTypeLike) -> bool:
    """Whether squares of values of this size, and sums of many of them, are in range."""
    limits = np.finfo(dtype)
    room = 1e6
    return room * math.sqrt(limits.tiny) < largest < math.sqrt(limits.max) / room


def check_safe_squares(X: Matrix, method: str, remedy: str = "") -> None:
    """Raise a ValueError if a method that depends on units cannot use values of this size.

    Examples
    --------
    >>> check_safe_squares(np.array([[1e300]]), "standardize=False")
    Traceback (most recent call last):
    ...
    ValueError: The largest absolute value of X is 1e+300, which standardize=False cannot use: ...
    """
    check_safe_largest(largest_value(X), X.dtype, method, remedy)


def check_safe_largest(largest: float, dtype: DTypeLike, method: str, remedy: str = "") -> None:
    """Do the same for values of which the largest absolute one is known."""
    if largest == 0 or has_safe_squares(largest, dtype):
        return
    raise ValueError(
        f"The largest absolute value of X is {largest:g}, which {method} cannot use: choose "
        f"another unit, for instance divide X by {largest:.0e}{remedy}."
    )


def root_mean_square(X: Matrix) -> float:
    """Return the root mean square of the values that are not missing, or 1 if all are zero.

    Examples
    --------
    >>> root_mean_square(np.array([[3.0, -3.0]])), root_mean_square(np.zeros((2, 2)))
    (3.0, 1.0)
    """
    values = stored_values(X).ravel()
    n_cells = X.shape[0] * X.shape[1]
    if np.isnan(values).any():
        values = values[~np.isnan(values)]
        n_cells = len(values)
    if not values.any():
        return 1.0
    # Squares of very large or very small numbers would leave the range of floats.
    scaled, exponent = in_safe_range(values)
    total = float(np.einsum("i,i->", scaled, scaled, dtype=np.float64))
    # Not 0, by which nothing can be divided.
    return max(math.ldexp(math.sqrt(total / n_cells), exponent), SMALLEST)
