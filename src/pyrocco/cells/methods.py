"""How each preparation works: what values it takes, and what it learns from a matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from pyrocco._typing import Floats
from pyrocco.cells.side_sums import Extent, Table, missing, nonzero, present, squares
from pyrocco.cells.transforms import Affine

# How many values of average size the mean of a row is shrunken by.
ROW_MEAN_WEIGHT = 1.0
# How many values of average spread the spread of a row is shrunken by.
ROW_SPREAD_WEIGHT = 10.0


# From a matrix, what is known already (None means unknown) and the target of an earlier matrix:
# the transform, and its target.
Learner = Callable[[Table, Affine, float | None], tuple[Affine, float | None]]


def _learn_totals(table: Table, known: Affine, target: float | None) -> tuple[Affine, float]:
    """Scale rows to the median total of the rows that are not empty."""
    if known.row_factors is not None:
        return known, target or 0.0
    totals = table.row_sums(present)
    filled = totals > 0
    if target is None:
        target = float(np.median(totals[filled])) if filled.any() else 0.0
    # A row of zeros stays as it is, and so do all if there was nothing to scale to.
    factors = np.divide(target or totals, totals, out=np.ones_like(totals), where=filled)
    return Affine(row_factors=factors), target


def _learn_tfidf(table: Table, known: Affine, target: float | None) -> tuple[Affine, None]:
    """Weight columns by their inverse document frequency, and scale rows to length 1."""
    weights, factors = known.column_factors, known.row_factors
    if weights is None:
        # As in scikit-learn: as if one more document contained every word.
        weights = np.log((1 + table.shape[0]) / (1 + table.column_sums(nonzero))) + 1
    if factors is None:
        lengths = np.sqrt(table.row_sums(squares, np.square(weights)))
        factors = _inverse(lengths)
    return Affine(row_factors=factors, column_factors=weights), None


def _learn_balance(table: Table, known: Affine, target: float | None) -> tuple[Affine, float]:
    """Divide by the roots of both totals; each root is multiplied by the same target."""
    rows, columns = known.row_factors, known.column_factors
    if target is None:
        roots = [_inverse(np.sqrt(side.row_sums(present))) for side in (table, table.T)]
        energy = table.row_sums(squares, np.square(roots[1])) @ np.square(roots[0])
        n_cells = table.shape[0] * table.shape[1] - table.column_sums(missing).sum()
        target = float((n_cells / energy) ** 0.25) if energy else 1.0
        return Affine(row_factors=target * roots[0], column_factors=target * roots[1]), target
    if rows is None:
        rows = target * _inverse(np.sqrt(table.row_sums(present)))
    if columns is None:
        columns = target * _inverse(np.sqrt(table.column_sums(present)))
    return Affine(row_factors=rows, column_factors=columns), target


def _learn_row_means(table: Table, known: Affine, target: float | None) -> tuple[Affine, float]:
    """Subtract the means of rows, shrunken towards the mean of all values."""
    sums, counts = table.row_sums(present), table.T.column_counts()
    if target is None:
        target = float(sums.sum() / max(counts.sum(), 1))
    if known.row_shifts is not None:
        return known, target
    shifts = (sums + ROW_MEAN_WEIGHT * target) / (counts + ROW_MEAN_WEIGHT)
    return Affine(row_shifts=shifts), target


def _learn_row_spreads(table: Table, known: Affine, target: float | None) -> tuple[Affine, float]:
    """Scale rows to the same mean square, shrunken towards that of all values."""
    sums, counts = table.row_sums(squares), table.T.column_counts()
    if target is None:
        target = float(sums.sum() / max(counts.sum(), 1))
    if known.row_factors is not None:
        return known, target
    if not target:
        return Affine(row_factors=np.ones_like(sums)), target
    spreads = (sums / target + ROW_SPREAD_WEIGHT) / (counts + ROW_SPREAD_WEIGHT)
    return Affine(row_factors=1 / np.sqrt(spreads)), target


def _learn_moments(table: Table, known: Affine, target: float | None) -> tuple[Affine, None]:
    """Scale columns to mean 0 and standard deviation 1; constant columns are only shifted."""
    if known.column_factors is not None:
        return known, None
    _, means, deviations = table.column_moments()
    return Affine(column_shifts=means, column_factors=_inverse(deviations)), None


def _learn_mean(table: Table, known: Affine, target: float | None) -> tuple[Affine, float]:
    """Subtract the mean of all values."""
    if target is None:
        columns = table.column_moments()
        target = float(columns.counts @ columns.means / max(columns.counts.sum(), 1))
    return Affine(shift=target), target


def _inverse(values: Floats) -> Floats:
    """Return 1 / values, and 1 where a value is 0."""
    return np.divide(1.0, values, out=np.ones_like(values), where=values > 0)


@dataclass(frozen=True)
class Method:
    """How a preparation works.

    Parameters
    ----------
    check : callable
        Raises a ValueError if values of this extent cannot be prepared in this way.
    function : str, optional
        Function that is applied to every value first, a key of `FUNCTIONS`.
    learn : callable, optional
        Learns the affine transform that follows.
    takes_missing : bool
        Whether it can be learned from a matrix with missing values.
    """

    check: Callable[[Extent], None]
    function: str | None = None
    learn: Learner | None = None
    takes_missing: bool = True


def _refuse_negative(extent: Extent, name: str, remedy: str) -> None:
    if extent.minimum < 0:
        raise ValueError(
            f"{name} needs values of at least 0, but the smallest is {extent.minimum:g}: {remedy}."
        )


def _check_positive_values(extent: Extent) -> None:
    if extent.minimum <= 0:
        raise ValueError(
            f"log needs values above 0, but the smallest is {extent.minimum:g}: use log1p for "
            "counts, or leave out the logarithm."
        )


def _check_answers(extent: Extent) -> None:
    if extent.minimum < 0 or extent.maximum > 1:
        raise ValueError(
            "complement needs values from 0 to 1, but they are from "
            f"{extent.minimum:g} to {extent.maximum:g}: it is for yes and no."
        )


def _accept(extent: Extent) -> None:
    """Every value can be prepared."""


_NO_TOTALS = "rows with negative values cannot be scaled to a total"
# How each preparation works, in the order in which they are applied.
METHODS: dict[str, Method] = {
    "complement": Method(_check_answers, "complement"),
    "normalize": Method(
        partial(_refuse_negative, name="normalize", remedy=_NO_TOTALS), learn=_learn_totals
    ),
    "log1p": Method(
        partial(_refuse_negative, name="log1p", remedy="leave out the logarithm"), "log1p"
    ),
    "log": Method(_check_positive_values, "log", _learn_mean),
    "tfidf": Method(
        partial(_refuse_negative, name="tfidf", remedy="it is for counts of words"),
        learn=_learn_tfidf,
        takes_missing=False,
    ),
    "balance": Method(
        partial(_refuse_negative, name="balance", remedy=_NO_TOTALS), learn=_learn_balance
    ),
    "center_rows": Method(_accept, learn=_learn_row_means),
    "scale_rows": Method(_accept, learn=_learn_row_spreads),
    "zscore": Method(_accept, learn=_learn_moments),
    "center": Method(_accept, learn=_learn_mean),
}
