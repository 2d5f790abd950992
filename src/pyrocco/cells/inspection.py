"""Facts about the values of a matrix, and the cost of a fit."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pyrocco._typing import Dense, Floats, Matrix
from pyrocco.cells.input import check_matrix
from pyrocco.cells.side_sums import ColumnMoments, Table, count_of, extent_of, present, squares
from pyrocco.cells.values import SMALLEST, has_safe_squares
from pyrocco.texts import format_seconds
from pyrocco.validation import check_count

# Relative difference up to which lengths and totals of rows count as equal, and up to which those
# of percentages do, which are often rounded; and the share of the rows that must have it, since a
# few outlier cells change the totals of their rows.
_SAME_TOTAL, _SAME_SUM = 1e-3, 1e-2
_NEARLY_ALL = 0.95
# Difference up to which a mean counts as 0 and a standard deviation as 1.
_SCALED = 0.05
# Values that a column of counts would have, and lacks.
_EXPECTED = 3
# The variance of counts is at least their mean. This share of it is too little, and so is what
# is this many standard errors below it.
_STEADY, _ERRORS = 0.5, 3.0
# Larger values are no logarithms of counts.
_LARGEST_LOGARITHM = 50

# Measured with ROCCO() on two cores of a 2.8 GHz Xeon, 1,000 x 1,000 to 20,000 x 1,000. They
# agree with benchmarks/speed/results/growth_refined.md to within a factor of two.
_SECONDS, _WORK, _EXPONENT = 5.0, 7e10, 0.65
_BASE_BYTES, _COPIES = 350e6, 7


@dataclass(frozen=True)
class Facts:
    """Numbers that describe the values of a matrix.

    Attributes
    ----------
    n_rows, n_columns, n_missing : int
        Numbers of rows, columns and missing values.
    density : float
        Fraction of the cells that hold a number other than zero.
    minimum, maximum, mean, deviation : float
        Of the values that are not missing; `deviation` is their standard deviation.
    is_whole : bool
        Whether all of them are whole numbers.
    has_unit_rows : bool
        Whether nearly all rows have length 1, as after tf-idf.
    has_equal_sums, has_equal_column_sums : bool
        Whether nearly all rows, or columns, have the same total, up to the rounding of
        percentages; False if there are negative values.
    has_equal_totals : bool
        Whether nearly all rows have the same total once a logarithm is undone.
    has_unit_columns : bool
        Whether columns have mean 0 and standard deviation 1.
    skew, row_skew : float
        Largest value of a column, or of a row, divided by its mean, the median over the columns,
        or over the rows; 1 if there are negative values.
    spread : float
        Ratio of the 95 % to the 5 % quantile of the columns' standard deviations.
    row_effect : float
        Share of the variance of the values that lies between rows, from 0 to 1.
    n_largest : int
        Number of cells with the largest value.
    scales : float
        Share of the columns that cannot be counts, because they have no zeros, or only 0 and 1,
        where counts with the same mean would have others; 0 if values are negative or not whole.
    steady : float
        Share of the columns that cannot be counts, because their variance is far below their
        mean; 0 if values are negative or not whole.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.inspection import gather_facts
    >>> facts = gather_facts(np.array([[1.0, 0.0], [np.nan, 3.0]]))
    >>> facts.n_missing, facts.density, facts.maximum, facts.is_whole
    (1, 0.5, 3.0, True)
    """

    n_rows: int
    n_columns: int
    n_missing: int
    density: float
    minimum: float
    maximum: float
    mean: float
    deviation: float
    is_whole: bool
    has_unit_rows: bool
    has_equal_sums: bool
    has_equal_column_sums: bool
    has_equal_totals: bool
    has_unit_columns: bool
    skew: float
    row_skew: float
    spread: float
    row_effect: float
    n_largest: int
    scales: float
    steady: float

    @property
    def filled(self) -> float:
        """Fraction of the values that are not zero among those that are not missing."""
        n_cells = self.n_rows * self.n_columns
        return self.density * n_cells / max(n_cells - self.n_missing, 1)


def gather_facts(X: Matrix) -> Facts:
    """Compute facts about the values of a matrix.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data; NaN marks missing values.

    Returns
    -------
    Facts

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.inspection import gather_facts
    >>> gather_facts(np.eye(4)).has_unit_rows
    True
    """
    return facts_of(Table(check_matrix(X)))


def facts_of(table: Table) -> Facts:
    """Compute facts about a matrix that may be in chunks; `table.exponent` is ignored.

    Examples
    --------
    >>> facts_of(Table(np.array([[1.0, 0.0], [np.nan, 3.0]]), transposed=True)).n_rows
    2
    """
    extent, n_cells = extent_of(table.X), table.shape[0] * table.shape[1]
    # Sums of squares of extreme values would be out of range.
    exponent = _safe_exponent(extent.largest)
    table = replace(table, complete=not extent.n_missing)
    safe = replace(table, exponent=exponent)
    columns = safe.column_moments()
    total, row_sums = Spread.of(columns), safe.row_sums(present)
    row_counts = safe.T.column_counts()
    not_negative = extent.minimum >= 0
    may_be_counts = not_negative and extent.is_whole
    may_be_logs = not_negative and extent.maximum < _LARGEST_LOGARITHM
    # No value of a row of length 1 is larger.
    may_be_unit = extent.largest < 1 + _SAME_TOTAL and not exponent
    return Facts(
        n_rows=table.shape[0],
        n_columns=table.shape[1],
        n_missing=extent.n_missing,
        density=extent.n_nonzero / n_cells,
        minimum=extent.minimum,
        maximum=extent.maximum,
        mean=math.ldexp(total.mean, exponent),
        deviation=math.ldexp(total.deviation, exponent),
        is_whole=extent.is_whole,
        has_unit_rows=may_be_unit and _are_equal(table.row_sums(squares), 1.0),
        has_equal_sums=not_negative and _are_equal(row_sums, within=_SAME_SUM),
        has_equal_column_sums=not_negative
        and _are_equal(columns.counts * columns.means, within=_SAME_SUM),
        has_equal_totals=may_be_logs and _are_equal(table.row_sums(_undo_log)),
        has_unit_columns=_are_scaled(*(np.ldexp(part, exponent) for part in columns[1:])),
        skew=_skew(columns.means, safe.column_maxima()) if not_negative else 1.0,
        row_skew=_skew(row_sums / np.maximum(row_counts, 1), safe.T.column_maxima())
        if not_negative
        else 1.0,
        spread=_spread(columns.deviations),
        row_effect=_row_effect(row_sums, row_counts, total),
        n_largest=count_of(table.X, extent.maximum),
        scales=_share_of_scales(safe, columns) if may_be_counts else 0.0,
        steady=_share_of_steady(columns) if may_be_counts and not exponent else 0.0,
    )


def _safe_exponent(largest: float) -> int:
    if largest == 0 or has_safe_squares(largest, np.float64):
        return 0
    return math.frexp(largest)[1]


class Spread(NamedTuple):
    """Number of all values, their mean, and their standard deviation."""

    number: float
    mean: float
    deviation: float

    @classmethod
    def of(cls, columns: ColumnMoments) -> Spread:
        """Put the columns together.

        Examples
        --------
        >>> table = Table(np.array([[1.0, 5.0], [3.0, 7.0]]))
        >>> Spread.of(table.column_moments()).mean
        4.0
        """
        counts, means, deviations = columns
        number = max(float(counts.sum()), 1.0)
        mean = float(counts @ means) / number
        scatter = counts @ (np.square(deviations) + np.square(means - mean))
        return cls(number, mean, math.sqrt(float(scatter) / number))


def _share_of_scales(table: Table, columns: ColumnMoments) -> float:
    """Return the share of the columns whose whole numbers are on a scale, such as 1 to 5.

    Counts with the same mean would have zeros, or numbers above 1, even with the smallest noise
    that counts can have, that of Poisson.
    """
    if table.exponent:  # numbers out of the usual range
        return 0.0
    counts, means, _ = columns
    none = np.exp(-means)
    lacks_zeros = (table.column_minima() >= 1) & (counts * none >= _EXPECTED)
    is_binary = table.column_maxima() == 1
    lacks_more = is_binary & (counts * (1 - none * (1 + means)) >= _EXPECTED)
    return float(np.mean(lacks_zeros | lacks_more))


def _share_of_steady(columns: ColumnMoments) -> float:
    """Return the share of the columns that vary less than counts with the same mean could."""
    counts, means, deviations = columns
    # The relative standard error of the variance of normal values.
    error = np.sqrt(2 / np.maximum(counts - 1, 1))
    limit = np.clip(1 - _ERRORS * error, 0, _STEADY) * means
    return float(np.mean(np.square(deviations) < limit))


def _row_effect(sums: Floats, counts: Floats, total: Spread) -> float:
    """Return the share of the variance that lies between rows (intraclass correlation)."""
    n_rows = np.count_nonzero(counts)
    means = sums / np.maximum(counts, 1)
    between = float(counts @ np.square(means - total.mean))
    within = max(total.number * total.deviation**2 - between, 0.0)
    if not between or n_rows < 2 or total.number <= n_rows:
        return 0.0
    between, within = between / (n_rows - 1), within / (total.number - n_rows)
    of_rows = max(between - within, 0.0) / (total.number / n_rows)
    return float(of_rows / (of_rows + within))


def _undo_log(values: Floats) -> Floats:
    """Return the counts whose logarithm the values may be."""
    return np.asarray(np.expm1(present(values)))


def _are_equal(sums: Dense, value: float | None = None, within: float = _SAME_TOTAL) -> bool:
    """Whether nearly all sums of nonzero rows are equal to each other, or to `value`."""
    sums = sums[sums != 0]
    if len(sums) < 2:
        return False
    target = np.median(sums) if value is None else value
    return bool(np.mean(np.abs(sums - target) < within * abs(target)) >= _NEARLY_ALL)


def _are_scaled(means: Floats, deviations: Floats) -> bool:
    varying = deviations > 0
    if not varying.any():
        return False
    centred = np.abs(means[varying]) < _SCALED
    return bool(np.mean(centred & (np.abs(deviations[varying] - 1) < _SCALED)) > 0.9)


def _skew(means: Floats, maxima: Dense) -> float:
    positive = means > 0
    return float(np.median(maxima[positive] / means[positive])) if positive.any() else 1.0


def _spread(deviations: Floats) -> float:
    varying = deviations[deviations > 0]
    if len(varying) < 2:
        return 1.0
    low, high = np.quantile(varying / varying.max(), [0.05, 0.95])
    return float(high / max(low, SMALLEST))


@dataclass(frozen=True)
class Cost:
    """Time and memory of a fit.

    Attributes
    ----------
    seconds : float
        Time on two cores.
    memory : float
        Peak memory in bytes.

    Examples
    --------
    >>> from pyrocco.inspection import Cost
    >>> print(Cost(12.3, 2.5e9))
    about 12 s on two cores and 2.5 GB of memory
    """

    seconds: float
    memory: float

    def __str__(self) -> str:
        time = format_seconds(self.seconds)
        return f"about {time} on two cores and {self.memory / 1e9:.1f} GB of memory"


def estimate_cost(n_rows: int, n_columns: int, itemsize: int = 8) -> Cost:
    """Estimate time and memory of ``ROCCO().fit`` to within a factor of three.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the matrix. A sparse matrix costs as much as a dense one, because the
        representation is dense.
    itemsize : int
        Bytes per number: 8 for float64, 4 for float32.

    Returns
    -------
    Cost

    Examples
    --------
    >>> from pyrocco.inspection import estimate_cost
    >>> print(estimate_cost(5000, 2000))
    about 5 s on two cores and 0.9 GB of memory
    """
    n_rows, n_columns = check_count("n_rows", n_rows), check_count("n_columns", n_columns)
    check_count("itemsize", itemsize)
    work = n_rows**2 * n_columns + n_columns**2 * n_rows
    memory = _BASE_BYTES + _COPIES * itemsize * n_rows * n_columns
    return Cost(_SECONDS * (work / _WORK) ** _EXPONENT, memory)


def machine_memory() -> float | None:
    """Return the memory of this machine in bytes, or None if the system does not report it.

    Returns
    -------
    float or None

    Examples
    --------
    >>> from pyrocco.inspection import machine_memory
    >>> machine_memory() is None or machine_memory() > 0
    True
    """
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None
