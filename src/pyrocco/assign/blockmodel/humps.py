"""Whether numbers crowd around few values or spread smoothly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp, ndtr

_MOST_HUMPS = 6
_ROUNDS = 50


def has_humps(values: NDArray[np.float64], error: float) -> bool:
    """Whether several humps tell the values better than one smooth distribution does.

    Humps are normal distributions of one width; the smooth rivals are a normal, a uniform
    and, either way round, an exponential distribution, as they are and seen with the error.
    Each pays half a log of the number of values for every number it sets.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The numbers.
    error : float
        Standard error with which they are known: no hump is narrower.

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> normal = np.random.default_rng(0).standard_normal(200)
    >>> has_humps(normal, 0.01), has_humps(normal + np.repeat([0, 5], 100), 0.01)
    (False, True)
    """
    n, spread = len(values), float(np.ptp(values))
    if n < 2 or spread <= error:
        return False
    # No unit, and no likelihood without bound where values repeat.
    values = (values - values.min()) / spread
    error = max(error / spread, 1e-6)
    price = 0.5 * np.log(n)
    smooth = max(_smooth_log_likelihoods(values, error)) - 2 * price
    counts = range(2, min(_MOST_HUMPS, n // 2) + 1)
    return any(_humps_log_likelihood(values, k, error) - 2 * k * price > smooth for k in counts)


def _smooth_log_likelihoods(values: NDArray[np.float64], error: float) -> list[float]:
    """Log likelihoods of values from 0 to 1 under the smooth distributions."""
    normal = -0.5 * len(values) * (np.log(2 * np.pi * max(values.var(), error**2)) + 1)
    ways = values, 1 - values
    exponential = [-len(way) * float(np.log(way.mean()) + 1) for way in ways]
    blurred = [_blurred_exponential(way, error) for way in ways]
    return [float(normal), 0.0, _blurred_uniform(values, error), *exponential, *blurred]


def _blurred_uniform(values: NDArray[np.float64], error: float) -> float:
    """Log likelihood of a uniform distribution of the values' variance, seen with an error."""
    half = np.sqrt(3 * max(values.var() - error**2, error**2))
    away = np.abs(values - values.mean())
    densities = (ndtr((half - away) / error) - ndtr(-(half + away) / error)) / (2 * half)
    return float(np.log(np.maximum(densities, 1e-300)).sum())


def _blurred_exponential(values: NDArray[np.float64], error: float) -> float:
    """Log likelihood of an exponential distribution of the values' variance, with an error."""
    mean = np.sqrt(max(values.var() - error**2, error**2))
    beyond = values - values.mean() + mean
    tail = 0.5 * (error / mean) ** 2 - beyond / mean
    return float(
        (tail + log_ndtr(beyond / error - error / mean)).sum() - len(values) * np.log(mean)
    )


def _humps_log_likelihood(values: NDArray[np.float64], k: int, error: float) -> float:
    """Log likelihood of `k` normal distributions of one width, by expectation-maximisation."""
    centres = np.quantile(values, (np.arange(k) + 0.5) / k)
    shares, width = np.full(k, 1 / k), max(float(values.std()) / k, error)
    for _ in range(_ROUNDS):
        squares = np.square(values[:, None] - centres)
        logs = np.log(shares) - 0.5 * (np.log(2 * np.pi * width**2) + squares / width**2)
        totals = logsumexp(logs, axis=1)
        odds = np.exp(logs - totals[:, None])
        sizes = np.maximum(odds.sum(axis=0), 1e-12)
        shares, centres = sizes / len(values), values @ odds / sizes
        width = max(float(np.sqrt((odds * squares).sum() / len(values))), error)
    return float(totals.sum())
