"""The Gaussian block model: every block has one mean, under noise of equal variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.special import expit, logit

from pyrocco._typing import Array, Floats
from pyrocco.assign.block_model.fit import label_evidence
from pyrocco.assign.block_model.products import (
    Pair,
    Products,
    as_product,
    in_blocks,
    split_missing,
    varying_first,
)
from pyrocco.assign.labels import hard_memberships
from pyrocco.backends import Backend, NumpyBackend

# Prior of the mean of a block: with probability `share` it is drawn around the background with
# a variance of `spread` x that of the noise; otherwise it is the background. The data choose
# both among these values; the largest spreads are for blocks with hardly any noise.
_SPREADS = np.r_[np.geomspace(1e-3, 1e3, 19), 1e5, 1e7, 1e9]
SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99])
# Above this, the other term of the sum is below the rounding error of share exp(slab).
_LARGEST_SLAB = 40.0
# Terms whose product is certainly a number: exp(40) to this power is below the largest one.
_TERMS = 16
# Minimum variance of the noise as a share of the mean square: for blocks without noise.
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True)
class GaussianFit:
    """A fitted Gaussian block model."""

    evidence: float  # lower bound of the log evidence
    memberships: Pair  # probability of each cluster, for the rows and for the columns
    variance: float  # of the noise
    background: float  # value that most blocks have
    means: Floats  # expected difference of each block from the background

    @property
    def slopes(self) -> Floats:
        """Log likelihood of a value in each block, per unit of the value."""
        return self.means / self.variance

    @property
    def costs(self) -> Floats:
        """Log likelihood that each block takes off per cell."""
        return (self.background * self.means + 0.5 * self.means**2) / self.variance


class BlockData:
    """A matrix whose blocks have Gaussian noise, with its sums.

    Missing values (NaN) are in no sum and in no count. `order` has the axis that is updated first
    and the other one. `least_noise` is the least share of the variance that is noise.
    """

    def __init__(self, X: Array, backend: Backend | None = None, least_noise: float = 0.0):
        place = cast(Backend, backend or NumpyBackend())
        X, present = split_missing(X, place)
        self.shape = X.shape[0], X.shape[1]
        self._values = Products(X, place)
        self._present = None if present is None else Products(present, place)
        rows, columns = np.ones((self.shape[0], 1)), np.ones((self.shape[1], 1))
        row_sums, row_counts = self.product(1, columns), self.counts(1, columns)
        row_means = row_sums / np.maximum(row_counts, 1)
        column_means = self.product(0, rows) / np.maximum(self.counts(0, rows), 1)
        self.total = float(row_sums.sum())
        self.squares = place.squared_norm(X)
        self.n_cells = round(float(np.broadcast_to(row_counts, row_sums.shape).sum()))
        self.order = varying_first(row_means, column_means)
        scatter = self.squares - self.total**2 / max(self.n_cells, 1)
        exact = max(_LEAST_VARIANCE * self.squares, np.finfo(float).tiny)
        self._least = max(exact, least_noise * scatter)

    @property
    def is_complete(self) -> bool:
        """Whether no value is missing."""
        return self._present is None

    def product(self, axis: int, memberships: Floats) -> Floats:
        """Sum the values over `axis`, weighted by memberships, for each cluster."""
        return self._values.over(axis, memberships)

    def counts(self, axis: int, memberships: Floats) -> Floats:
        """Count the values in each sum of `product`; a single row if none is missing."""
        if self._present is None:
            return np.asarray(memberships.sum(axis=0, keepdims=True), dtype=np.float64)
        return self._present.over(axis, memberships)

    def sums(self, memberships: Pair) -> Floats:
        """Sum the values of each block."""
        # With the product of the side that is updated last: the next update needs it again.
        axis = self.order[1]
        return in_blocks(self.product(axis, memberships[axis]), memberships, axis)

    def sizes(self, memberships: Pair) -> Floats:
        """Count the values of each block."""
        if self._present is None:
            return np.outer(memberships[0].sum(axis=0), memberships[1].sum(axis=0))
        axis = self.order[1]
        return in_blocks(self.counts(axis, memberships[axis]), memberships, axis)

    def parameters(self, sums: Floats, sizes: Floats) -> Pair:
        """Return slopes and costs of the most likely block means."""
        means = sums / np.maximum(sizes, 1)
        variance = self._variance(self.squares - float((sums * means).sum()))
        return means / variance, 0.5 * means**2 / variance

    def residuals(self, labels: Pair) -> Floats:
        """Subtract from each value the mean of its block; zero for missing values."""
        place = self._values.backend
        present = None if self._present is None else place.to_numpy(self._present.matrix)
        return block_residuals(place.to_numpy(self._values.matrix), present, labels)

    def merge_losses(self, sums: Floats, sizes: Floats) -> Floats:
        """Return the log likelihood lost if two clusters of the first axis are merged."""
        sizes = np.maximum(sizes, 1)
        explained = (sums**2 / sizes).sum(axis=1)
        loss = explained[:, None] + explained - _explained_together(sums, sizes)
        residual = max(self.squares - explained.sum(), self._least)
        return np.asarray(0.5 * self.n_cells * np.log1p(np.maximum(loss, 0) / residual))

    def evaluate(self, memberships: Pair) -> GaussianFit:
        """Return the block model of given memberships, with its evidence."""
        fit = self.without_evidence(memberships)
        return self._with_evidence(memberships, fit.background, fit.variance)

    def without_evidence(self, memberships: Pair) -> GaussianFit:
        """Return the block model of given memberships, its evidence not computed."""
        sums, sizes = self._sums_and_sizes(memberships)
        means = sums / sizes
        variance = self._variance(self.squares - float((sums * means).sum()))
        background = weighted_median(means, sizes)
        _, values = block_evidence(sums - background * sizes, sizes, variance)
        return GaussianFit(-np.inf, memberships, variance, background, values)

    def refit(self, memberships: Pair, fit: GaussianFit) -> GaussianFit:
        """Update noise, means and evidence of a fit for new memberships."""
        sums, sizes = self._sums_and_sizes(memberships)
        sums = sums - fit.background * sizes
        residual = self._squares_from(fit.background) - 2 * float((sums * fit.means).sum())
        variance = self._variance(residual + float((sizes * fit.means**2).sum()))
        return self._with_evidence(memberships, fit.background, variance)

    def _with_evidence(self, memberships: Pair, background: float, variance: float) -> GaussianFit:
        sums, sizes = self._sums_and_sizes(memberships)
        blocks, means = block_evidence(sums - background * sizes, sizes, variance)
        noise = self.n_cells * (np.log(variance) - 1) + self._squares_from(background) / variance
        bound = blocks - 0.5 * noise + sum(map(label_evidence, memberships))
        return GaussianFit(float(bound), memberships, variance, background, means)

    def _sums_and_sizes(self, memberships: Pair) -> Pair:
        return self.sums(memberships), self.sizes(memberships) + 1e-9

    def _squares_from(self, background: float) -> float:
        """Sum the squared differences of all values from the background."""
        return self.squares - 2 * background * self.total + background**2 * self.n_cells

    def _variance(self, residual: float) -> float:
        """Return the variance of the noise for a sum of squared residuals."""
        return max(residual, self._least) / self.n_cells


def block_residuals(X: Floats, present: Floats | None, labels: Pair) -> Floats:
    """Subtract from each value of `X` the mean of the values of its block that are present."""
    rows, columns = hard_memberships(labels[0]), hard_memberships(labels[1])
    if present is None:
        sizes = np.outer(rows.sum(axis=0), columns.sum(axis=0))
    else:
        sizes = rows.T @ present @ columns
    means = (rows.T @ X @ columns) / np.maximum(sizes, 1)
    rest = X - means[labels[0]][:, labels[1]]
    return np.asarray(rest if present is None else rest * present)


def block_evidence(sums: Floats, sizes: Floats, variance: float) -> tuple[float, Floats]:
    """Compute the log evidence for blocks that differ from a background of zero.

    Blocks that are equal to the background cost little: the prior allows for any share of
    them. `sums` and `sizes` are the sum of the values of each block, minus the background, and
    their number. Returns the evidence, relative to all blocks at the background, and the
    posterior means of the blocks.
    """
    sizes = np.maximum(sizes, 1e-12)
    precision = _SPREADS[:, None, None] * sizes
    shrinkage = precision / (1 + precision)
    energy = sums**2 / (2 * variance * sizes)
    slab = energy * shrinkage - 0.5 * np.log1p(precision)
    evidence, spread, differs = best_prior(slab)
    return evidence, differs * shrinkage[spread] * sums / sizes


def best_prior(slab: Floats) -> tuple[float, int, Floats]:
    """Choose the spread, and the share of blocks that differ, of highest evidence.

    `slab` is the log evidence of every block if it differs from the background, for every
    spread. Returns the evidence, the spread, and the probability that a block differs.
    """
    totals = mixture_totals(slab.reshape(len(slab), -1), SHARES)
    spread, share = np.unravel_index(int(totals.argmax()), totals.shape)
    differs = expit(slab[spread] + logit(SHARES[share]))
    return float(totals[spread, share]), int(spread), differs


def mixture_totals(slabs: Floats, shares: Floats) -> Floats:
    """Sum log((1 - share) + share exp(slab)) over blocks, for every spread and share."""
    beyond = np.maximum(slabs - _LARGEST_SLAB, 0.0).sum(axis=1)
    odds = np.exp(np.minimum(slabs, _LARGEST_SLAB))
    # One logarithm of a product of several terms, all between 0.01 and exp(40); ones fill up.
    more = -odds.shape[1] % _TERMS
    filled = np.pad(odds, ((0, 0), (0, more)), constant_values=1.0)
    terms = shares[:, None] * filled[:, None] + (1.0 - shares)[:, None]
    products = terms.reshape(*terms.shape[:2], -1, _TERMS).prod(axis=3)
    return np.asarray(np.log(products).sum(axis=2) + beyond[:, None])


def _explained_together(sums: Floats, sizes: Floats) -> Floats:
    """Return the squares that each two rows of blocks explain once they are merged."""
    sides = as_product(sizes)
    if sides is None:
        return np.asarray(((sums[:, None] + sums) ** 2 / (sizes[:, None] + sizes)).sum(axis=2))
    # One matrix product: a pair with joint sum s and size (a + b) c explains s^2 / ((a + b) c).
    heights, widths = sides
    scaled = sums / np.sqrt(widths)
    products = scaled @ scaled.T
    powers = np.diag(products)
    return np.asarray((powers[:, None] + powers + 2 * products) / (heights[:, None] + heights))


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the value that half of the weight does not exceed."""
    order = values.ravel().argsort()
    heights = weights.ravel()[order].cumsum()
    return float(values.ravel()[order][np.searchsorted(heights, heights[-1] / 2)])
