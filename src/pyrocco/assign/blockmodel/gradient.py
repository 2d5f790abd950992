"""The rival of blocks: one gradient along the rows times one along the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from pyrocco.assign.blockmodel.humps import has_humps

_ROUNDS = 100
_PROGRESS = 0.01


@dataclass(frozen=True)
class GradientFit:
    """One gradient, and what it leaves.

    Parameters
    ----------
    evidence : float
        Lower bound of the log evidence, comparable to that of blocks.
    noise : ndarray
        What the gradient does not explain.
    scores : pair of ndarray
        Numbers of the rows and of the columns, as the matrix shows them.
    errors : pair of float
        Their standard errors.
    """

    evidence: float
    noise: NDArray[np.float64]
    scores: tuple[NDArray[np.float64], NDArray[np.float64]]
    errors: tuple[float, float]

    @property
    def is_smooth(self) -> bool:
        """Whether neither the rows nor the columns crowd along it."""
        return not any(map(has_humps, self.scores, self.errors))


def fit_gradient(X: NDArray[np.float64]) -> GradientFit:
    """Fit X = u v^T + noise, to X or to X less its mean, whichever has more evidence.

    Both u and v are drawn from normal distributions whose means and variances the data
    set. Rows along a gradient are cheaper to describe by a number each than by a cluster
    each; rows of few kinds are not.

    Parameters
    ----------
    X : ndarray
        The matrix, neither centred nor scaled.

    Returns
    -------
    GradientFit

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).standard_normal((40, 30))
    >>> ramp = np.outer(np.arange(40), np.arange(30)) / 20
    >>> fit_gradient(ramp + noise).evidence > fit_gradient(ramp + 3 * noise).evidence
    True
    """
    X = np.asarray(X, dtype=np.float64)
    least = max(1e-9 * float((X**2).sum()), np.finfo(float).tiny) / X.size
    return max((_fit(X, least), _fit(X - X.mean(), least)), key=lambda fit: fit.evidence)


def _fit(X: NDArray[np.float64], least: float) -> GradientFit:
    """Mean-field variational bound, from the leading singular vectors."""
    n_cells, squares = X.size, float((X**2).sum())
    if squares <= least * n_cells or min(X.shape) < 2:
        flat = -0.5 * n_cells * np.log(max(squares / n_cells, least))
        return GradientFit(float(flat), X, (X[:, 0] * 0, X[0] * 0), (0.0, 0.0))
    start = np.random.RandomState(0).standard_normal(min(X.shape))
    left, value, right = svds(X, 1, v0=start)
    variance = max((squares - value[0] ** 2) / n_cells, least)
    root = np.sqrt(value[0])
    u = _Factor(left[:, 0] * root, variance / value[0])
    v = _Factor(right[0] * root, variance / value[0])
    bound = -np.inf
    for _ in range(_ROUNDS):
        u.update(X @ v.mean, v.power, variance)
        v.update(X.T @ u.mean, u.power, variance)
        residual = squares - 2 * float(u.mean @ X @ v.mean) + u.power * v.power
        variance = max(residual / n_cells, least)
        likelihood = -0.5 * (n_cells * (np.log(variance) - 1) + residual / variance)
        previous, bound = bound, likelihood - u.cost - v.cost
        if abs(bound - previous) < _PROGRESS:
            break
    scores = X @ v.mean / v.power, X.T @ u.mean / u.power
    errors = np.sqrt(variance / v.power), np.sqrt(variance / u.power)
    return GradientFit(float(bound), X - np.outer(u.mean, v.mean), scores, errors)


class _Factor:
    """Normal posterior of one side's numbers, and the normal prior they are drawn from."""

    def __init__(self, mean: NDArray[np.float64], spread: float):
        self.mean, self.spread = mean, spread

    @property
    def power(self) -> float:
        """Expected sum of squares."""
        return float(self.mean @ self.mean) + len(self.mean) * self.spread

    @property
    def prior(self) -> tuple[float, float]:
        """Mean and variance of the prior that suits best."""
        return float(self.mean.mean()), float(self.mean.var()) + self.spread

    @property
    def cost(self) -> float:
        """Divergence of the posterior from the prior."""
        return 0.5 * len(self.mean) * float(np.log(self.prior[1] / self.spread))

    def update(self, seen: NDArray[np.float64], power: float, variance: float) -> None:
        centre, width = self.prior
        self.spread = 1 / (power / variance + 1 / width)
        self.mean = self.spread * (seen / variance + centre / width)
