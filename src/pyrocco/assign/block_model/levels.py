"""Another alternative to blocks: rows and columns have levels, and nothing else differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import expit, logit

from pyrocco._typing import Floats
from pyrocco.assign.block_model.factors import (
    PROGRESS,
    ROUNDS,
    Factor,
    GradientFit,
    Masked,
    Spent,
    masked,
)
from pyrocco.assign.block_model.products import Pair

# Expected values of cells, and how much they change with the sum of both levels.
_Link = Callable[[Floats], tuple[Floats, Floats]]


def has_two_values(X: Floats) -> bool:
    """Whether there are two different values, such as no and yes; NaN marks missing ones.

    Examples
    --------
    >>> has_two_values(np.array([[1.0, -1.0, np.nan]])), has_two_values(np.ones((2, 2)))
    (True, False)
    """
    low, high = np.nanmin(X), np.nanmax(X)
    return bool(low != high and np.all((low == X) | (high == X) | np.isnan(X)))


def fit_levels(X: Floats, least_noise: float = 0.0) -> GradientFit:
    """Fit every value by a level of its row plus one of its column, and noise.

    If there are only two values, such as no and yes, the levels are those of the log odds (Rasch,
    "Probabilistic models for some intelligence and attainment tests", 1960). Raters who are
    generous or strict, and samples of which more or less was measured, differ by levels alone.
    The levels have normal priors like the positions along a gradient, and NaN marks missing
    values; see `gradient.fit_gradient`.
    """
    data = masked(X, least_noise)[1]
    low, mean, high = float(np.nanmin(X)), float(np.nanmean(X)), float(np.nanmax(X))
    if not has_two_values(X):
        return _fit(data, _sums, _starts(data))
    height, share = high - low, (mean - low) / (high - low)

    def answers(levels: Floats) -> tuple[Floats, Floats]:
        shares = expit(levels)
        return low - mean + height * shares, height * shares * (1 - shares)

    slope = height * share * (1 - share)
    rows, columns = (start / slope for start in _starts(data))
    return _fit(data, answers, (rows + logit(share), columns))


def _sums(levels: Floats) -> tuple[Floats, Floats]:
    return levels, np.ones_like(levels)


def _starts(data: Masked) -> Pair:
    """Return the means of the rows and of the columns."""
    counts = (data.powers(axis, np.ones(data.X.shape[1 - axis])) for axis in (0, 1))
    rows, columns = (
        data.X.sum(axis=1 - axis) / np.maximum(count, 1) for axis, count in enumerate(counts)
    )
    return rows, columns


def _fit(data: Masked, link: _Link, starts: Pair) -> GradientFit:
    """Fit by rounds of least squares, linearised around the levels of the round before."""
    variance = max(float((data.X**2).sum()) / max(data.n_cells, 1), data.least)
    factors = [Factor(start, np.full(len(start), variance)) for start in starts]
    rest, slopes = _linearised(data, link, factors)
    bound = -np.inf
    for _ in range(ROUNDS):
        for axis, factor in enumerate(factors):
            powers = (slopes**2).sum(axis=1 - axis)
            products = (slopes * rest.X).sum(axis=1 - axis) + powers * factor.mean
            factor.update(products, powers, variance)
            rest, slopes = _linearised(data, link, factors)
        spread = sum(
            float((slopes**2).sum(axis=1 - axis) @ factor.spread)
            for axis, factor in enumerate(factors)
        )
        variance, likelihood = data.likelihood(float((rest.X**2).sum()) + spread)
        cost = factors[0].cost + factors[1].cost
        previous, bound = bound, likelihood - cost
        if abs(bound - previous) < PROGRESS:
            break
    (rows, row_error), (columns, column_error) = (
        _levels(rest, slopes, factor.mean, variance, axis) for axis, factor in enumerate(factors)
    )
    errors, spent = (row_error, column_error), Spent(cost, spread)
    return GradientFit(float(bound), rest, (rows, columns), errors, spent)


def _linearised(data: Masked, link: _Link, factors: Sequence[Factor]) -> tuple[Masked, Floats]:
    """Return what levels leave unexplained, and the slopes of the expected values."""
    expected, slopes = link(factors[0].mean[:, None] + factors[1].mean)
    return data.less(expected), slopes if data.present is None else slopes * data.present


def _levels(
    rest: Masked, slopes: Floats, means: Floats, variance: float, axis: int
) -> tuple[Floats, float]:
    """Return the levels of one side, not drawn towards their mean, and their standard error."""
    powers = np.maximum((slopes**2).sum(axis=1 - axis), np.finfo(float).tiny)
    levels = means + (slopes * rest.X).sum(axis=1 - axis) / powers
    return levels, float(np.sqrt(variance / np.median(powers)))
