"""Whether numbers have several modes, as those of clusters do, or vary smoothly."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr

from pyrocco._typing import Floats

# Maximum number of modes, and rounds of their fit.
_MOST_MODES = 6
_MODE_ROUNDS = 50


def has_modes(values: Floats, error: float) -> bool:
    """Whether several modes describe the values better than one smooth distribution.

    Modes are normal distributions of equal width, at least the standard error of the values.
    The smooth distributions are normal, uniform and, in both directions, exponential, each
    with and without the error. The comparison uses the Bayesian information criterion.
    """
    n, spread = len(values), float(np.ptp(values))
    if n < 2 or spread <= error:
        return False
    # Independent of the unit, and with a bounded likelihood for repeated values.
    values = (values - values.min()) / spread
    error = max(error / spread, 1e-6)
    price = 0.5 * np.log(n)
    smooth = max(_smooth_log_likelihoods(values, error)) - 2 * price
    counts = range(2, min(_MOST_MODES, n // 2) + 1)
    return any(_modes_log_likelihood(values, k, error) - 2 * k * price > smooth for k in counts)


def _smooth_log_likelihoods(values: Floats, error: float) -> list[float]:
    """Return log likelihoods of values in [0, 1] under the smooth distributions."""
    scatter = values.var()
    variance = max(scatter, error**2)
    normal = -0.5 * len(values) * (np.log(2 * np.pi * variance) + scatter / variance)
    ways = values, 1 - values
    exponential = [-len(way) * float(np.log(way.mean()) + 1) for way in ways]
    blurred = [_blurred_exponential(way, error) for way in ways]
    return [float(normal), 0.0, _blurred_uniform(values, error), *exponential, *blurred]


def _blurred_uniform(values: Floats, error: float) -> float:
    """Return the log likelihood of a uniform distribution with the variance of the values."""
    half = np.sqrt(3 * max(values.var() - error**2, error**2))
    away = np.abs(values - values.mean())
    densities = (ndtr((half - away) / error) - ndtr(-(half + away) / error)) / (2 * half)
    return float(np.log(np.maximum(densities, 1e-300)).sum())


def _blurred_exponential(values: Floats, error: float) -> float:
    """Return the log likelihood of an exponential distribution with the same variance."""
    mean = np.sqrt(max(values.var() - error**2, error**2))
    beyond = values - values.mean() + mean
    tail = 0.5 * (error / mean) ** 2 - beyond / mean
    return float(
        (tail + log_ndtr(beyond / error - error / mean)).sum() - len(values) * np.log(mean)
    )


def _modes_log_likelihood(values: Floats, k: int, error: float) -> float:
    """Fit `k` normal distributions of equal width by EM; return the log likelihood."""
    centres = np.quantile(values, (np.arange(k) + 0.5) / k)
    shares, width = np.full(k, 1 / k), max(float(values.std()) / k, error)
    for _ in range(_MODE_ROUNDS):
        squares = np.square(values[:, None] - centres)
        logs = np.log(shares) - 0.5 * (np.log(2 * np.pi * width**2) + squares / width**2)
        totals = logsumexp(logs, axis=1)
        odds = np.exp(logs - totals[:, None])
        sizes = np.maximum(odds.sum(axis=0), 1e-12)
        shares, centres = sizes / len(values), values @ odds / sizes
        width = max(float(np.sqrt((odds * squares).sum() / len(values))), error)
    return float(totals.sum())
