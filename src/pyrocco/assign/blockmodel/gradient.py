"""The rival of blocks: one gradient along the rows times one along the columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

_ROUNDS = 100
_PROGRESS = 0.01


def gradient_evidence(X: NDArray[np.float64]) -> float:
    """Lower bound of the log evidence of X = u v^T + noise, comparable to that of blocks.

    Both u and v are drawn from normal distributions whose means and variances the data
    set. Rows along a gradient are cheaper to describe by a number each than by a cluster
    each; rows of few kinds are not.

    Parameters
    ----------
    X : ndarray
        The matrix, neither centred nor scaled.

    Returns
    -------
    float
        The larger bound of two: for X, and for X less its mean.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).standard_normal((40, 30))
    >>> ramp = np.outer(np.arange(40), np.arange(30)) / 20
    >>> gradient_evidence(ramp + noise) > gradient_evidence(ramp + 3 * noise)
    True
    """
    X = np.asarray(X, dtype=np.float64)
    return max(_bound(X), _bound(X - X.mean()))


def _bound(X: NDArray[np.float64]) -> float:
    """Mean-field variational bound, from the leading singular vectors."""
    n_cells, squares = X.size, float((X**2).sum())
    least = max(1e-9 * squares, np.finfo(float).tiny) / n_cells
    if squares == 0 or min(X.shape) < 2:
        return -0.5 * n_cells * float(np.log(least))
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
        previous, bound = bound, -0.5 * n_cells * np.log(variance) - u.cost - v.cost
        if abs(bound - previous) < _PROGRESS:
            break
    return float(bound)


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
