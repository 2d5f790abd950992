"""References for planted matrices: hard EM of the planted family, started from the true labels.

The result is about the best that a method can reach, which knows neither the family nor where to
start. It is not a strict bound: hard EM stops at a local maximum next to the truth, which need not
be the labelling with the best score. The steps are written as in a textbook; all clusters have the
same prior.

A family answers four questions about a matrix with labels:

- `fit`: the parameters that maximise the likelihood, given the labels;
- `by_row_cluster`: for every row, the log-likelihood in each row cluster, up to a constant;
- `by_column_cluster`: the same for every column;
- `log_likelihood`: that of the matrix, given labels and parameters.

A parameter that belongs to one row, such as its effect, is fitted again for every cluster in which
the row is tried; so no step lowers the likelihood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Matrix = NDArray[np.float64]
TINY = 1e-300
# Rounds of coordinate ascent where two groups of parameters depend on each other.
FIT_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of both sides, and the numbers of clusters, some of which may be empty."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    n_clusters: tuple[int, int]

    @classmethod
    def of(cls, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Labels:
        return cls(rows, columns, (int(rows.max()) + 1, int(columns.max()) + 1))

    def spread(self, blocks: Matrix) -> Matrix:
        """Return the matrix whose cells have the value of their block."""
        return blocks[self.rows][:, self.columns]

    def block_sums(self, X: Matrix) -> Matrix:
        """Sum the cells of every block."""
        n_rows, n_columns = self.n_clusters
        return np.eye(n_rows)[self.rows].T @ X @ np.eye(n_columns)[self.columns]

    def block_means(self, X: Matrix) -> Matrix:
        """Average the cells of every block that are not missing; 0 if there are none."""
        present = ~np.isnan(X)
        sums = self.block_sums(np.where(present, X, 0.0))
        return sums / np.maximum(self.block_sums(present.astype(float)), 1)

    def same_as(self, other: Labels) -> bool:
        rows = np.array_equal(self.rows, other.rows)
        return rows and np.array_equal(self.columns, other.columns)


class Family(Protocol):
    """A distribution of the cells of a block; see the module for the four methods."""

    def fit(self, X: Matrix, labels: Labels, before: Any) -> Any: ...

    def by_row_cluster(self, X: Matrix, labels: Labels, fitted: Any) -> Matrix: ...

    def by_column_cluster(self, X: Matrix, labels: Labels, fitted: Any) -> Matrix: ...

    def log_likelihood(self, X: Matrix, labels: Labels, fitted: Any) -> float: ...


@dataclass(frozen=True, eq=False)
class Step:
    """The state after one step of hard EM."""

    labels: Labels
    fitted: Any


def hard_em(X: Matrix, start: Labels, family: Family, max_rounds: int = 100) -> Labels:
    """Return the labels at which hard EM stops."""
    *_, last = em_steps(X, start, family, max_rounds)
    return last.labels


def em_steps(X: Matrix, start: Labels, family: Family, max_rounds: int = 100) -> Iterator[Step]:
    """Yield the state after every fit of the parameters, until no label changes."""
    step = Step(start, family.fit(X, start, None))
    yield step
    for _ in range(max_rounds):
        half = _move_rows(X, step, family)
        yield half
        after = _move_columns(X, half, family)
        yield after
        if after.labels.same_as(step.labels):
            return
        step = after


def _move_rows(X: Matrix, step: Step, family: Family) -> Step:
    best = family.by_row_cluster(X, step.labels, step.fitted).argmax(axis=1)
    labels = Labels(best, step.labels.columns, step.labels.n_clusters)
    return Step(labels, family.fit(X, labels, step.fitted))


def _move_columns(X: Matrix, step: Step, family: Family) -> Step:
    best = family.by_column_cluster(X, step.labels, step.fitted).argmax(axis=1)
    labels = Labels(step.labels.rows, best, step.labels.n_clusters)
    return Step(labels, family.fit(X, labels, step.fitted))


class Bernoulli:
    """Yes/no cells with one probability for each block."""

    def fit(self, X: Matrix, labels: Labels, before: Matrix | None) -> Matrix:
        return labels.block_means(X)

    def by_row_cluster(self, X: Matrix, labels: Labels, p: Matrix) -> Matrix:
        return _bernoulli(X, p[:, labels.columns])

    def by_column_cluster(self, X: Matrix, labels: Labels, p: Matrix) -> Matrix:
        return _bernoulli(X.T, p.T[:, labels.rows])

    def log_likelihood(self, X: Matrix, labels: Labels, p: Matrix) -> float:
        return float(stats.bernoulli.logpmf(X, labels.spread(p)).sum())


def _bernoulli(X: Matrix, profiles: Matrix) -> Matrix:
    return X @ _log(profiles).T + (1 - X) @ _log(1 - profiles).T


@dataclass(frozen=True, eq=False)
class Rates:
    """Rate of a count: effect of its row x effect of its column x total of its block."""

    row_effects: Matrix
    column_effects: Matrix
    totals: Matrix


class Poisson:
    """Counts with row and column effects: the degree-corrected Poisson block model.

    The effects of the rows of a cluster sum to one, and those of the columns of a cluster too.
    """

    def fit(self, X: Matrix, labels: Labels, before: Rates | None) -> Rates:
        totals = labels.block_sums(X)
        of_rows = np.maximum(totals.sum(axis=1), 1)[labels.rows]
        of_columns = np.maximum(totals.sum(axis=0), 1)[labels.columns]
        return Rates(X.sum(axis=1) / of_rows, X.sum(axis=0) / of_columns, totals)

    def by_row_cluster(self, X: Matrix, labels: Labels, fitted: Rates) -> Matrix:
        return _multinomial(X, fitted.column_effects * fitted.totals[:, labels.columns])

    def by_column_cluster(self, X: Matrix, labels: Labels, fitted: Rates) -> Matrix:
        return _multinomial(X.T, fitted.row_effects * fitted.totals.T[:, labels.rows])

    def log_likelihood(self, X: Matrix, labels: Labels, fitted: Rates) -> float:
        effects = np.outer(fitted.row_effects, fitted.column_effects)
        return float(stats.poisson.logpmf(X, effects * labels.spread(fitted.totals)).sum())


def _multinomial(X: Matrix, profiles: Matrix) -> Matrix:
    """Log-likelihood of every row of `X` in each profile, with the best effect of the row."""
    return X @ _log(profiles / np.maximum(profiles.sum(axis=1, keepdims=True), TINY)).T


@dataclass(frozen=True, eq=False)
class Means:
    """Expected value of a cell: mean of its block + effect of its row."""

    blocks: Matrix
    row_effects: Matrix


@dataclass(frozen=True)
class Gaussian:
    """Cells with one mean for each block and a common variance; missing values are left out.

    Parameters
    ----------
    row_effects : bool
        Whether every row has an effect that is added to the means of its blocks.
    """

    row_effects: bool = False

    def fit(self, X: Matrix, labels: Labels, before: Means | None) -> Means:
        blocks = np.zeros(labels.n_clusters) if before is None else before.blocks
        effects = np.zeros(len(X))
        for _ in range(FIT_ROUNDS if self.row_effects else 1):
            if self.row_effects:
                effects = _row_means(X - labels.spread(blocks))
            blocks = labels.block_means(X - effects[:, None])
        return Means(blocks, effects)

    def by_row_cluster(self, X: Matrix, labels: Labels, fitted: Means) -> Matrix:
        tried = [X - profile for profile in fitted.blocks[:, labels.columns]]
        if self.row_effects:
            tried = [residuals - _row_means(residuals)[:, None] for residuals in tried]
        return -np.column_stack([np.nansum(residuals**2, axis=1) for residuals in tried])

    def by_column_cluster(self, X: Matrix, labels: Labels, fitted: Means) -> Matrix:
        centred = (X - fitted.row_effects[:, None]).T
        tried = [centred - profile for profile in fitted.blocks.T[:, labels.rows]]
        return -np.column_stack([np.nansum(residuals**2, axis=1) for residuals in tried])

    def log_likelihood(self, X: Matrix, labels: Labels, fitted: Means) -> float:
        residuals = X - labels.spread(fitted.blocks) - fitted.row_effects[:, None]
        residuals = residuals[~np.isnan(residuals)]
        return float(stats.norm.logpdf(residuals, scale=residuals.std()).sum())


@dataclass(frozen=True, eq=False)
class ScaledMeans:
    """A cell is its column's scale x (the mean of its block + standard normal noise)."""

    blocks: Matrix
    scales: Matrix


class ScaledGaussian:
    """Gaussian blocks in which every column has a scale of its own."""

    def fit(self, X: Matrix, labels: Labels, before: ScaledMeans | None) -> ScaledMeans:
        blocks = np.zeros(labels.n_clusters) if before is None else before.blocks
        for _ in range(FIT_ROUNDS):
            scales = _best_scales(X, labels.spread(blocks))
            blocks = labels.block_means(X / scales)
        return ScaledMeans(blocks, scales)

    def by_row_cluster(self, X: Matrix, labels: Labels, fitted: ScaledMeans) -> Matrix:
        tried = [X / fitted.scales - profile for profile in fitted.blocks[:, labels.columns]]
        return -np.column_stack([(residuals**2).sum(axis=1) for residuals in tried]) / 2

    def by_column_cluster(self, X: Matrix, labels: Labels, fitted: ScaledMeans) -> Matrix:
        profiles = fitted.blocks.T[:, labels.rows]
        return np.column_stack([_scaled_columns(X, profile[:, None]) for profile in profiles])

    def log_likelihood(self, X: Matrix, labels: Labels, fitted: ScaledMeans) -> float:
        expected = fitted.scales * labels.spread(fitted.blocks)
        return float(stats.norm.logpdf(X, expected, fitted.scales).sum())


def _scaled_columns(X: Matrix, means: Matrix) -> Matrix:
    """Log-likelihood of every column of `X` around `means`, with the best scale of the column."""
    scales = _best_scales(X, means)
    return stats.norm.logpdf(X, scales * means, scales).sum(axis=0)


def _best_scales(X: Matrix, means: Matrix) -> Matrix:
    """The scale s of every column that maximises the likelihood: n s^2 + s sum(xm) = sum(x^2)."""
    linear = (X * means).sum(axis=0)
    root = np.sqrt(linear**2 + 4 * len(X) * (X**2).sum(axis=0))
    return (root - linear) / (2 * len(X))


def _row_means(X: Matrix) -> Matrix:
    """Mean of every row over the cells that are not missing; 0 if there are none."""
    return np.nansum(X, axis=1) / np.maximum((~np.isnan(X)).sum(axis=1), 1)


def _log(values: Matrix) -> Matrix:
    """Logarithm; that of 0 is finite, so that 0 x log 0 is 0."""
    return np.log(np.maximum(values, TINY))
