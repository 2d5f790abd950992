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
        The matrix, neither centred nor scaled; NaN marks missing cells.

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
    there = ~np.isnan(X)
    observed = None if there.all() else there.astype(np.float64)
    X = np.where(there, X, 0).astype(np.float64)
    n_cells = int(there.sum())
    centred = (X - X.sum() / max(n_cells, 1)) * there
    least = max(1e-9 * float((X**2).sum()), np.finfo(float).tiny) / max(n_cells, 1)
    fits = (_fit(_Seen(part, observed, n_cells), least) for part in (X, centred))
    return max(fits, key=lambda fit: fit.evidence)


@dataclass(frozen=True)
class _Seen:
    """A matrix, zero where a cell is missing, and which cells are there (None: all)."""

    X: NDArray[np.float64]
    observed: NDArray[np.float64] | None
    n_cells: int

    def powers(self, axis: int, squares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of `squares` over the cells there, for every row (axis 0) or every column."""
        if self.observed is None:
            return np.full(self.X.shape[axis], squares.sum())
        return (self.observed if axis == 0 else self.observed.T) @ squares

    def leading(self) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]:
        """Leading singular vectors and value, missing cells at the mean."""
        X = self.X
        if self.observed is not None:
            X = X + (1 - self.observed) * (X.sum() / self.n_cells)
        left, value, right = svds(X, 1, v0=np.random.RandomState(0).standard_normal(min(X.shape)))
        return left[:, 0], float(value[0]), right[0]


def _fit(seen: _Seen, least: float) -> GradientFit:
    """Mean-field variational bound, from the leading singular vectors."""
    X, n_cells, squares = seen.X, seen.n_cells, float((seen.X**2).sum())
    if squares <= least * n_cells or min(X.shape) < 2:
        flat = -0.5 * n_cells * np.log(max(squares / max(n_cells, 1), least))
        return GradientFit(float(flat), X, (X[:, 0] * 0, X[0] * 0), (0.0, 0.0))
    left, value, right = seen.leading()
    variance = max((squares - value**2) / n_cells, least)
    root = np.sqrt(value)
    u = _Factor(left * root, np.full(len(left), variance / value))
    v = _Factor(right * root, np.full(len(right), variance / value))
    bound = -np.inf
    for _ in range(_ROUNDS):
        u.update(X @ v.mean, seen.powers(0, v.squares), variance)
        v.update(X.T @ u.mean, seen.powers(1, u.squares), variance)
        power = float(u.squares @ seen.powers(0, v.squares))
        residual = squares - 2 * float(u.mean @ X @ v.mean) + power
        variance = max(residual / n_cells, least)
        likelihood = -0.5 * (n_cells * (np.log(variance) - 1) + residual / variance)
        previous, bound = bound, likelihood - u.cost - v.cost
        if abs(bound - previous) < _PROGRESS:
            break
    return _judged(seen, (u, v), variance, float(bound))


def _judged(
    seen: _Seen, factors: tuple[_Factor, _Factor], variance: float, bound: float
) -> GradientFit:
    u, v = factors
    # Rows and columns with nothing observed are nowhere along it.
    along, across = (
        np.maximum(seen.powers(axis, other.squares), np.finfo(float).tiny)
        for axis, other in ((0, v), (1, u))
    )
    scores = seen.X @ v.mean / along, seen.X.T @ u.mean / across
    errors = np.sqrt(variance / np.median(along)), np.sqrt(variance / np.median(across))
    expected = np.outer(u.mean, v.mean)
    noise = seen.X - (expected if seen.observed is None else expected * seen.observed)
    return GradientFit(bound, noise, scores, (float(errors[0]), float(errors[1])))


class _Factor:
    """Normal posterior of one side's numbers, and the normal prior they are drawn from."""

    def __init__(self, mean: NDArray[np.float64], spread: NDArray[np.float64]):
        self.mean, self.spread = mean, spread

    @property
    def squares(self) -> NDArray[np.float64]:
        """Expected squares."""
        return self.mean**2 + self.spread

    @property
    def prior(self) -> tuple[float, float]:
        """Mean and variance of the prior that suits best."""
        return float(self.mean.mean()), float(self.mean.var() + self.spread.mean())

    @property
    def cost(self) -> float:
        """Divergence of the posterior from the prior."""
        return 0.5 * float(np.log(self.prior[1] / self.spread).sum())

    def update(
        self, seen: NDArray[np.float64], powers: NDArray[np.float64], variance: float
    ) -> None:
        centre, width = self.prior
        self.spread = 1 / (powers / variance + 1 / width)
        self.mean = self.spread * (seen / variance + centre / width)
