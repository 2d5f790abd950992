"""What explains a matrix by one number for each row and one for each column."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import svds

from pyrocco._typing import Floats
from pyrocco.assign.block_model.modes import has_modes

# Maximum number of rounds of a fit, and the gain of evidence in nats below which it has converged.
ROUNDS = 100
PROGRESS = 0.01


@dataclass(frozen=True)
class Masked:
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

    def less(self, expected: Floats) -> Masked:
        """Subtract the expected values, where a value is present."""
        return replace(
            self, X=self.X - (expected if self.present is None else expected * self.present)
        )

    def likelihood(self, residual: float) -> tuple[float, float]:
        """Return variance and log likelihood of noise with this expected sum of squares."""
        variance = max(residual / max(self.n_cells, 1), self.least)
        return variance, -0.5 * (self.n_cells * (np.log(variance) - 1) + residual / variance)


@dataclass(frozen=True)
class Spent:
    """What the gradients that were subtracted from a matrix contribute to the evidence."""

    cost: float = 0.0  # divergence of their posteriors from their priors
    spread: float = 0.0  # variance of their posteriors, summed over the cells


NOTHING = Spent()


@dataclass(frozen=True)
class GradientFit:
    """A fitted gradient, or the last one of a sum of gradients."""

    evidence: float  # lower bound of the log evidence, comparable to that of blocks
    rest: Masked  # residuals
    scores: tuple[Floats, Floats]  # positions of the rows and of the columns along the gradient
    errors: tuple[float, float]  # their standard errors
    spent: Spent = NOTHING

    @property
    def noise(self) -> Floats:
        """Residuals, with zeros for missing values."""
        return self.rest.X

    @property
    def is_smooth(self) -> bool:
        """Whether the positions of rows and of columns have a single mode each."""
        return not any(map(has_modes, self.scores, self.errors))


def masked(X: Floats, least_noise: float) -> tuple[Masked, Masked]:
    """Return a matrix and the same matrix minus its mean, with zeros for missing values."""
    mask = ~np.isnan(X)
    present = None if mask.all() else mask.astype(np.float64)
    X = np.where(mask, X, 0).astype(np.float64)
    n_cells = int(mask.sum())
    centred = (X - X.sum() / max(n_cells, 1)) * mask
    exact = max(1e-9 * float((X**2).sum()), np.finfo(float).tiny)
    least = max(exact, least_noise * float((centred**2).sum())) / max(n_cells, 1)
    return Masked(X, present, n_cells, least), Masked(centred, present, n_cells, least)


class Factor:
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
