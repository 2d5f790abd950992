"""The alternatives to blocks: a gradient along rows times one along columns, or a sum of these."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import svds
from scipy.special import log_ndtr, logsumexp, ndtr

from pyrocco._typing import Floats

# Maximum number of rounds, and the gain of evidence in nats below which the fit has converged.
_ROUNDS = 100
_PROGRESS = 0.01
# Maximum number of gradients in a sum.
_MOST_GRADIENTS = 10
# Maximum number of modes, and rounds of their fit.
_MOST_MODES = 6
_MODE_ROUNDS = 50


@dataclass(frozen=True)
class _Masked:
    """A matrix with zeros for missing values, where `present` is 0; None if none is missing."""

    X: Floats
    present: Floats | None
    n_cells: int
    least: float  # least variance of the noise

    def powers(self, axis: int, squares: Floats) -> Floats:
        """Sum `squares` over the values of each row (axis 0) or column that are present."""
        if self.present is None:
            return np.full(self.X.shape[axis], squares.sum())
        return (self.present if axis == 0 else self.present.T) @ squares

    def leading(self) -> tuple[Floats, float, Floats]:
        """Return leading singular vectors and value, with the mean for missing values."""
        X = self.X
        if self.present is not None:
            X = X + (1 - self.present) * (X.sum() / self.n_cells)
        left, value, right = svds(X, 1, v0=np.random.RandomState(0).standard_normal(min(X.shape)))
        return left[:, 0], float(value[0]), right[0]

    def without(self, u: Floats, v: Floats) -> _Masked:
        """Subtract the products of `u` and `v`."""
        expected = np.outer(u, v)
        return replace(
            self, X=self.X - (expected if self.present is None else expected * self.present)
        )


@dataclass(frozen=True)
class _Spent:
    """What the gradients that were subtracted from a matrix contribute to the evidence."""

    cost: float = 0.0  # divergence of their posteriors from their priors
    spread: float = 0.0  # variance of their posteriors, summed over the cells


@dataclass(frozen=True)
class GradientFit:
    """A fitted gradient, or the last one of a sum of gradients."""

    evidence: float  # lower bound of the log evidence, comparable to that of blocks
    rest: _Masked  # residuals
    scores: tuple[Floats, Floats]  # positions of the rows and of the columns along the gradient
    errors: tuple[float, float]  # their standard errors
    spent: _Spent = _Spent()

    @property
    def noise(self) -> Floats:
        """Residuals, with zeros for missing values."""
        return self.rest.X

    @property
    def is_smooth(self) -> bool:
        """Whether the positions of rows and of columns have a single mode each."""
        return not any(map(has_modes, self.scores, self.errors))


def fit_gradient(X: Floats, least_noise: float = 0.0) -> GradientFit:
    """Fit X = u v^T + noise, to X or to X less its mean, whichever has higher evidence.

    u and v have normal priors whose means and variances are estimated. A number for each row
    describes rows along a gradient better than a cluster for each row does; the opposite is
    true for rows of a few kinds. The fit is a variational rank-one matrix factorisation
    (Bishop, "Variational principal components", ICANN 1999). NaN marks missing values.
    `least_noise` is the least share of the variance that is noise.
    """
    mask = ~np.isnan(X)
    present = None if mask.all() else mask.astype(np.float64)
    X = np.where(mask, X, 0).astype(np.float64)
    n_cells = int(mask.sum())
    centred = (X - X.sum() / max(n_cells, 1)) * mask
    exact = max(1e-9 * float((X**2).sum()), np.finfo(float).tiny)
    least = max(exact, least_noise * float((centred**2).sum())) / max(n_cells, 1)
    fits = (_fit(_Masked(part, present, n_cells, least)) for part in (X, centred))
    return max(fits, key=lambda fit: fit.evidence)


def low_rank_evidence(gradient: GradientFit) -> float:
    """Return the highest evidence of a sum of gradients that begins with the given one.

    Each gradient is fitted to what the others leave. Rows of one kind that vary along several
    directions are such a sum; blocks are one too, but clusters describe them with less.
    """
    fit = gradient
    for _ in range(_MOST_GRADIENTS - 1):
        more = _fit(fit.rest, fit.spent)
        if more.evidence <= fit.evidence:
            break
        fit = more
    return fit.evidence


class _Factor:
    """Normal posterior of the positions on one side, and their normal prior."""

    def __init__(self, mean: Floats, spread: Floats):
        self.mean, self.spread = mean, spread

    @property
    def squares(self) -> Floats:
        """Expected squares."""
        return self.mean**2 + self.spread

    @property
    def prior(self) -> tuple[float, float]:
        """Mean and variance of the prior that fits best."""
        return float(self.mean.mean()), float(self.mean.var() + self.spread.mean())

    @property
    def cost(self) -> float:
        """Divergence of the posterior from the prior."""
        return 0.5 * float(np.log(self.prior[1] / self.spread).sum())

    def update(self, products: Floats, powers: Floats, variance: float) -> None:
        """Set the posterior from the products of the data with the other factor."""
        centre, width = self.prior
        self.spread = 1 / (powers / variance + 1 / width)
        self.mean = self.spread * (products / variance + centre / width)


def _fit(data: _Masked, before: _Spent = _Spent()) -> GradientFit:
    """Fit by mean-field variational inference, from the leading singular vectors."""
    X, n_cells, least = data.X, data.n_cells, data.least
    squares = float((X**2).sum()) + before.spread
    if squares <= least * n_cells or min(X.shape) < 2:
        flat = -0.5 * n_cells * np.log(max(squares / max(n_cells, 1), least)) - before.cost
        return GradientFit(float(flat), data, (X[:, 0] * 0, X[0] * 0), (0.0, 0.0), before)
    left, value, right = data.leading()
    variance = max((squares - value**2) / n_cells, least)
    root = np.sqrt(value)
    u = _Factor(left * root, np.full(len(left), variance / value))
    v = _Factor(right * root, np.full(len(right), variance / value))
    bound = -np.inf
    for _ in range(_ROUNDS):
        u.update(X @ v.mean, data.powers(0, v.squares), variance)
        v.update(X.T @ u.mean, data.powers(1, u.squares), variance)
        power = float(u.squares @ data.powers(0, v.squares))
        residual = squares - 2 * float(u.mean @ X @ v.mean) + power
        variance = max(residual / n_cells, least)
        likelihood = -0.5 * (n_cells * (np.log(variance) - 1) + residual / variance)
        previous, bound = bound, likelihood - before.cost - u.cost - v.cost
        if abs(bound - previous) < _PROGRESS:
            break
    rest = data.without(u.mean, v.mean)
    spent = _Spent(before.cost + u.cost + v.cost, residual - float((rest.X**2).sum()))
    return GradientFit(float(bound), rest, *_positions(data, u, v, variance), spent)


def _positions(
    data: _Masked, u: _Factor, v: _Factor, variance: float
) -> tuple[tuple[Floats, Floats], tuple[float, float]]:
    """Return the positions of rows and columns along the gradient, and their standard errors."""
    # Rows and columns without any value have power zero.
    along, across = (
        np.maximum(data.powers(axis, other.squares), np.finfo(float).tiny)
        for axis, other in ((0, v), (1, u))
    )
    scores = data.X @ v.mean / along, data.X.T @ u.mean / across
    errors = np.sqrt(variance / np.median(along)), np.sqrt(variance / np.median(across))
    return scores, (float(errors[0]), float(errors[1]))


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
    normal = -0.5 * len(values) * (np.log(2 * np.pi * max(values.var(), error**2)) + 1)
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
