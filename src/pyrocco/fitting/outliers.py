"""Outlier cells: values far from what their neighbours suggest (Geman-McClure weights)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from pyrocco._typing import Dense, Mask, Matrix, is_sparse, stored_values
from pyrocco.backends import ChunkedMatrix, over_rows

# Distance, in standard deviations of the noise, at which the weight is a quarter.
_WIDTH = 4.0
# Cells beyond this many standard deviations are replaced before the first smoothing.
_FIRST_CUT = 3.0
_ROUNDS = 4
_MEDIAN_ROUNDS = 5
# A sparse matrix has outlier cells if cells this many times the median have half the energy.
DOMINANT = 20.0
# Values of a chunked matrix whose median stands for that of all.
_MEDIAN_VALUES = 100_000


class WeightedCells(NamedTuple):
    """The data with outlier cells moved to their expected values, and the weights of all cells."""

    X: Matrix
    weights: Matrix


def weigh_cells(X: Dense, smooth: Callable[[Dense], Dense]) -> WeightedCells:
    """Weigh every cell by its distance from the representation.

    The weighted least-squares problem is solved by majorisation: each round smooths the data
    after every cell was moved towards the previous representation by as much as its weight is
    below one.

    Parameters
    ----------
    X : ndarray
        The data. Missing values (NaN) stay missing, and their weight is NaN.
    smooth : callable
        Builds graphs and learns the representation of a matrix.

    Returns
    -------
    WeightedCells

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((30, 20))
    >>> X[3, 4] = 99.0
    >>> cells = weigh_cells(X, lambda Z: np.full_like(Z, Z.mean()))
    >>> bool(cells.weights[3, 4] < 0.01), bool(np.median(cells.weights) > 0.9)
    (True, True)
    """
    candidates = _additive_fit(X), _ranked_fit(X, smooth)
    expected = min(candidates, key=lambda candidate: noise_level(X - candidate))
    residual = X - expected
    outside = np.abs(residual) > _FIRST_CUT * noise_level(residual)
    cleaned = np.where(outside, expected, X)
    for _ in range(_ROUNDS):
        expected = smooth(cleaned)
        residual = X - expected
        weights = cell_weights(residual, noise_level(residual))
        cleaned = expected + weights * residual
    return WeightedCells(cleaned, weights)


def is_dominated(X: Matrix | ChunkedMatrix) -> bool:
    """Whether a few cells of a mostly-zero matrix hold half of its energy.

    The median of a chunked matrix is computed from a sample of its values.

    Examples
    --------
    >>> from scipy import sparse
    >>> X = sparse.random(50, 40, 0.1, format="csr", random_state=0)
    >>> outliers = X.copy()
    >>> outliers.data[0] = 1e4
    >>> is_dominated(X), is_dominated(outliers)
    (False, True)
    """
    most = -(-_MEDIAN_VALUES // len(X.chunks)) if isinstance(X, ChunkedMatrix) else None
    sizes = np.concatenate(over_rows(partial(_nonzero_sizes, most=most), X))
    if not len(sizes):
        return False
    limit = DOMINANT * float(np.median(sizes))
    beyond, total = np.sum(over_rows(partial(_energy, limit=limit), X), axis=0)
    return bool(beyond > 0.5 * total)


def _nonzero_sizes(X: Matrix, most: int | None) -> Dense:
    """Absolute values that are not zero; about `most` of them, at even steps."""
    values = np.abs(nonzero_values(X))
    return values if most is None else np.asarray(values[:: max(1, len(values) // most)])


def _energy(X: Matrix, limit: float) -> tuple[float, float]:
    """Sum of the squares of the values beyond the limit, and of all values."""
    values = nonzero_values(X).astype(np.float64)
    large = values[np.abs(values) > limit]
    return float(large @ large), float(values @ values)


def weigh_nonzero_cells(X: Matrix) -> WeightedCells:
    """Weigh the nonzero cells of a mostly-zero matrix by their distance from the usual size.

    Zeros stay zero.

    Examples
    --------
    >>> weigh_nonzero_cells(np.array([[0.0, 1.0, 2.0, 1.5, 900.0]])).X.round(1).tolist()
    [[0.0, 1.1, 2.0, 1.5, 1.8]]
    """
    values = nonzero_values(X)
    usual = np.median(np.abs(values)) * np.sign(values)
    residual = values - usual
    weights = cell_weights(residual, noise_level(residual))
    cleaned = usual + weights * residual
    if is_sparse(X):
        pattern = X.copy()
        pattern.eliminate_zeros()
        both = (pattern.copy(), pattern)
        both[0].data, both[1].data = cleaned, weights
        return WeightedCells(*both)
    all_cells, all_weights = X.copy(), np.ones_like(X)
    all_weights[np.isnan(X)] = np.nan
    all_cells[_is_nonzero(X)], all_weights[_is_nonzero(X)] = cleaned, weights
    return WeightedCells(all_cells, all_weights)


def nonzero_values(X: Matrix) -> Dense:
    """Return the values that are neither zero nor missing.

    Examples
    --------
    >>> nonzero_values(np.array([[0.0, 2.0, np.nan]])).tolist()
    [2.0]
    """
    values = stored_values(X)
    return np.asarray(values[_is_nonzero(values)])


def _is_nonzero(values: Dense) -> Mask:
    return np.asarray((values != 0) & ~np.isnan(values))


def noise_level(residual: Dense) -> float:
    """Estimate the standard deviation of the noise robustly, by the median absolute value."""
    return 1.4826 * float(_median(np.abs(residual)))


def cell_weights(residual: Dense, noise: float) -> Dense:
    """Compute Geman-McClure weights, from 0 to 1, of cells with these residuals.

    Examples
    --------
    >>> cell_weights(np.array([0.0, 4.0, 400.0]), noise=1.0).round(3).tolist()
    [1.0, 0.25, 0.0]
    """
    width = np.square(_WIDTH * noise)
    if width == 0:
        return np.asarray(np.where(np.isnan(residual), np.nan, residual == 0), residual.dtype)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.square(width / (width + np.square(residual))), dtype=residual.dtype)


def _additive_fit(X: Dense) -> Dense:
    """Fit a level of every row plus one of every column by medians (Tukey's median polish).

    The result is the mean of a fit that starts from rows and one that starts from columns.
    """
    from_rows, from_columns = _polish(X), _polish(X.T).T
    return np.asarray(0.5 * (from_rows + from_columns), dtype=X.dtype)


def _ranked_fit(X: Dense, smooth: Callable[[Dense], Dense]) -> Dense:
    """Smooth the ranks of the cells, and return the values that have the smoothed ranks.

    Ranks are not affected by outliers, and show the same blocks as the values.
    """
    present = ~np.isnan(X)
    ranks = np.full_like(X, np.nan)
    ranks[present] = rankdata(X[present]) / present.sum()
    # Equivalent to np.quantile, which is slow for as many quantiles as there are cells.
    values = np.sort(X[present])
    places = np.clip(smooth(ranks), 0, 1) * (len(values) - 1)
    return np.asarray(np.interp(places, np.arange(len(values)), values), dtype=X.dtype)


def _polish(X: Dense) -> Dense:
    rows = _median(X, axis=1)[:, None]
    for _ in range(_MEDIAN_ROUNDS):
        columns = _median(X - rows, axis=0)[None]
        rows = _median(X - columns, axis=1)[:, None]
    return np.asarray(rows + columns)


def _median(values: Dense, axis: int | None = None) -> Dense:
    """Median of the values that are not missing; np.nanmedian is much slower without NaN."""
    median = np.nanmedian if np.isnan(values).any() else np.median
    return np.asarray(median(values, axis=axis))
