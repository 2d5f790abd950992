"""The Gaussian block model: its data, its evidence, and the fit of memberships.

Every row and every column belongs to one cluster, and every block has one mean under noise of
equal variance. Memberships are fitted by variational expectation-maximisation (Govaert and
Nadif, "Clustering with block mixture models", Pattern Recognition 36, 2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.special import expit, gammaln, logit

from pyrocco._typing import Array, Dense, Floats, Labels
from pyrocco.assign.labels import compact, hard_memberships, probabilities_of
from pyrocco.backends import Backend, NumpyBackend
from pyrocco.backends.kernels.clusters import mixture_totals

# One array for the rows and one for the columns, or two arrays of the same blocks.
Pair = tuple[Dense, Dense]

# Prior of the mean of a block: with probability `share` it is drawn around the background with
# a variance of `spread` x that of the noise; otherwise it is the background. The data choose
# both among these values; the largest spreads are for blocks with hardly any noise.
_SPREADS = np.r_[np.geomspace(1e-3, 1e3, 19), 1e5, 1e7, 1e9]
_SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99])
# Minimum variance of the noise as a share of the mean square: for blocks without noise.
_LEAST_VARIANCE = 1e-9
# Gain of log evidence, in nats, below which the fit has converged.
_PROGRESS = 0.01
# Number of rounds on the whole matrix, after the fit of the sample.
_ROUNDS = 2


class BlockData:
    """A matrix on a back end, with its sums and its products with memberships.

    Missing values (NaN) are in no sum and in no count. `order` has the axis that is updated first
    and the other one: first the axis whose means vary more, so that the transpose gives the same
    fit.
    """

    def __init__(self, X: Array, backend: Backend | None = None):
        self.backend = cast(Backend, backend or NumpyBackend())
        self.X: Array = X
        self.present: Array | None = None
        if np.isnan(self.backend.squared_norm(X)):
            values = self.backend.to_numpy(X)
            present = ~np.isnan(values)
            self.X = self.backend.asarray(np.where(present, values, values.dtype.type(0)))
            self.present = self.backend.asarray(present.astype(values.dtype))
        self.shape = self.X.shape[0], self.X.shape[1]
        self._last: dict[tuple[int, bool], Pair] = {}
        rows, columns = np.ones((self.shape[0], 1)), np.ones((self.shape[1], 1))
        row_sums, row_counts = self.product(1, columns), self.counts(1, columns)
        row_means = row_sums / np.maximum(row_counts, 1)
        column_means = self.product(0, rows) / np.maximum(self.counts(0, rows), 1)
        self.total = float(row_sums.sum())
        self.squares = self.backend.squared_norm(self.X)
        self.n_cells = round(float(np.broadcast_to(row_counts, row_sums.shape).sum()))
        self.order = (0, 1) if np.var(row_means) >= np.var(column_means) else (1, 0)

    def product(self, axis: int, memberships: Floats) -> Floats:
        """Sum the values over `axis`, weighted by memberships, for each cluster."""
        return self._cached(axis, memberships, self.X)

    def counts(self, axis: int, memberships: Floats) -> Floats:
        """Count the values in each sum of `product`; a single row if none is missing."""
        if self.present is None:
            return np.asarray(memberships.sum(axis=0, keepdims=True), dtype=np.float64)
        return self._cached(axis, memberships, self.present)

    def _cached(self, axis: int, memberships: Floats, matrix: Array) -> Floats:
        """Keep the last product of each axis: a round of the fit needs it twice."""
        key = axis, matrix is self.present
        if key not in self._last or self._last[key][0] is not memberships:
            self._last[key] = memberships, self._multiply(axis, memberships, matrix)
        return self._last[key][1]

    def _multiply(self, axis: int, memberships: Floats, matrix: Array) -> Floats:
        if axis == 1:
            product = self.backend.to_numpy(self.backend.rotate(matrix, memberships))
        else:
            there = self.backend.asarray(memberships.astype(self.backend.dtype(matrix)))
            product = self.backend.project(matrix, there)
        return np.asarray(product, dtype=np.float64)

    def sums(self, memberships: Pair) -> Floats:
        """Sum the values of each block."""
        # With the product of the side that is updated last: the next update needs it again.
        axis = self.order[1]
        sums = memberships[1 - axis].T @ self.product(axis, memberships[axis])
        return np.asarray(sums if axis == 1 else sums.T)

    def sizes(self, memberships: Pair) -> Floats:
        """Count the values of each block."""
        if self.present is None:
            return np.outer(memberships[0].sum(axis=0), memberships[1].sum(axis=0))
        axis = self.order[1]
        sizes = memberships[1 - axis].T @ self.counts(axis, memberships[axis])
        return np.asarray(sizes if axis == 1 else sizes.T)

    def squares_from(self, background: float) -> float:
        """Sum the squared differences of all values from the background."""
        return self.squares - 2 * background * self.total + background**2 * self.n_cells

    def variance(self, residual: float) -> float:
        """Return the variance of the noise for a sum of squared residuals."""
        least = _LEAST_VARIANCE * self.squares
        return max(residual, least, np.finfo(float).tiny) / self.n_cells


def block_evidence(sums: Floats, sizes: Floats, variance: float) -> tuple[float, Floats]:
    """Compute the log evidence for blocks that differ from a background of zero.

    Blocks that are equal to the background cost little: the prior allows for any share of
    them. `sums` and `sizes` are the sum of the values of each block, less the background, and
    their number. Returns the evidence, relative to all blocks at the background, and the
    posterior means of the blocks.
    """
    sizes = np.maximum(sizes, 1e-12)
    precision = _SPREADS[:, None, None] * sizes
    shrinkage = precision / (1 + precision)
    energy = sums**2 / (2 * variance * sizes)
    slab = energy * shrinkage - 0.5 * np.log1p(precision)
    totals = mixture_totals(slab.reshape(len(_SPREADS), -1), _SHARES)
    spread, share = np.unravel_index(int(totals.argmax()), totals.shape)
    # Probability that a block differs from the background.
    differs = expit(slab[spread] + logit(_SHARES[share]))
    return float(totals[spread, share]), differs * shrinkage[spread] * sums / sizes


def label_evidence(memberships: Floats) -> float:
    """Compute entropy plus log prior of memberships, for clusters without names.

    A priori all sizes of the clusters are equally likely. A cluster that is the most probable
    one of no row is not counted in the permutations of names.
    """
    (n, k), sizes = memberships.shape, memberships.sum(axis=0)
    entropy = -float((memberships * np.log(np.maximum(memberships, 1e-300))).sum())
    divisions = gammaln(n + k) - gammaln(n + 1) - gammaln(k)
    arrangements = gammaln(n + 1) - gammaln(sizes + 1).sum()
    names = gammaln(_n_chosen(memberships) + 1)
    return float(entropy - divisions - arrangements + names)


def _n_chosen(memberships: Floats) -> int:
    """Count the clusters that are the most probable one of some row."""
    return int(np.count_nonzero(np.bincount(memberships.argmax(axis=1))))


@dataclass(frozen=True)
class BlockFit:
    """A fitted block model."""

    evidence: float  # lower bound of the log evidence
    memberships: Pair  # probability of each cluster, for the rows and for the columns
    variance: float  # of the noise
    background: float  # value that most blocks have
    means: Floats  # expected difference of each block from the background

    @property
    def labels(self) -> tuple[Labels, Labels]:
        """Most probable clusters, numbered without those of no row."""
        rows, columns = (compact(side.argmax(axis=1)) for side in self.memberships)
        return rows, columns

    def probabilities(self, data: BlockData, others: Floats, axis: int) -> Floats:
        """Compute memberships on one axis, given `others` (zero for rows that are left out)."""
        prior = np.log(np.maximum(self.memberships[axis].mean(axis=0), 1e-300))
        means = self.means if axis == 0 else self.means.T
        fitted = data.counts(1 - axis, others) @ (self.background * means + 0.5 * means**2).T
        scores = data.product(1 - axis, others) @ (means.T / self.variance)
        scores += prior - fitted / self.variance
        return probabilities_of(scores)

    def update(self, data: BlockData) -> Pair:
        """Compute the memberships of each side given the other one and these blocks."""
        sides = list(self.memberships)
        for axis in data.order:
            sides[axis] = self.probabilities(data, sides[1 - axis], axis)
        return sides[0], sides[1]


def sweep(data: BlockData, labels: Pair, max_sweeps: int = 10) -> Pair:
    """Move rows and columns to the clusters that explain them best; drop clusters without rows."""
    sides = list(labels)
    for _ in range(max_sweeps):
        before = tuple(sides)
        for axis in data.order:
            scores = _log_likelihoods(data, (sides[0], sides[1]), axis)
            sides[axis] = compact(scores.argmax(axis=1))
        if all(np.array_equal(old, new) for old, new in zip(before, sides, strict=True)):
            break
    return sides[0], sides[1]


def _log_likelihoods(data: BlockData, labels: Pair, axis: int) -> Floats:
    """Return the log likelihood of each row (or column) in each cluster."""
    memberships = hard_memberships(labels[0]), hard_memberships(labels[1])
    own, other = memberships[axis], memberships[1 - axis]
    products, counts = data.product(1 - axis, other), data.counts(1 - axis, other)
    sums = own.T @ products
    sizes = data.sizes(memberships) if axis == 0 else data.sizes(memberships).T
    means = sums / np.maximum(sizes, 1)
    variance = data.variance(data.squares - float((sums * means).sum()))
    prior = np.log(own.mean(axis=0))
    fitted = products @ means.T - 0.5 * counts @ (means**2).T
    return np.asarray(fitted / variance + prior)


def variational_fit(data: BlockData, memberships: Pair, max_iter: int = 30) -> BlockFit:
    """Fit memberships by variational expectation-maximisation from initial ones."""
    fit = previous = evaluate(data, memberships)
    for _ in range(max_iter):
        fit = _round(data, previous)
        if abs(fit.evidence - previous.evidence) < _PROGRESS:
            break
        previous = fit
    return fit


def evaluate(data: BlockData, memberships: Pair) -> BlockFit:
    """Return the block model of given memberships, with its evidence."""
    fit = _without_evidence(data, memberships)
    return _with_evidence(data, memberships, fit.background, fit.variance)


def _without_evidence(data: BlockData, memberships: Pair) -> BlockFit:
    """Return the block model of given memberships, its evidence not computed."""
    sums, sizes = _sums_and_sizes(data, memberships)
    means = sums / sizes
    variance = data.variance(data.squares - float((sums * means).sum()))
    background = _weighted_median(means, sizes)
    _, values = block_evidence(sums - background * sizes, sizes, variance)
    return BlockFit(-np.inf, memberships, variance, background, values)


def _round(data: BlockData, fit: BlockFit) -> BlockFit:
    """Update the memberships, then noise, means and evidence."""
    memberships, background = fit.update(data), fit.background
    sums, sizes = _sums_and_sizes(data, memberships)
    sums = sums - background * sizes
    residual = data.squares_from(background) - 2 * float((sums * fit.means).sum())
    variance = data.variance(residual + float((sizes * fit.means**2).sum()))
    return _with_evidence(data, memberships, background, variance)


def _with_evidence(
    data: BlockData, memberships: Pair, background: float, variance: float
) -> BlockFit:
    sums, sizes = _sums_and_sizes(data, memberships)
    blocks, means = block_evidence(sums - background * sizes, sizes, variance)
    noise = data.n_cells * (np.log(variance) - 1) + data.squares_from(background) / variance
    bound = blocks - 0.5 * noise + sum(map(label_evidence, memberships))
    return BlockFit(float(bound), memberships, variance, background, means)


def _sums_and_sizes(data: BlockData, memberships: Pair) -> Pair:
    return data.sums(memberships), data.sizes(memberships) + 1e-9


def _weighted_median(values: Floats, weights: Floats) -> float:
    order = values.ravel().argsort()
    heights = weights.ravel()[order].cumsum()
    return float(values.ravel()[order][np.searchsorted(heights, heights[-1] / 2)])


def extend_fit(data: BlockData, fit: BlockFit, index: Pair) -> Pair:
    """Return memberships of all rows and columns, from a fit to those in `index`."""
    everywhere = []
    for memberships, places, size in zip(fit.memberships, index, data.shape, strict=True):
        side = np.zeros((size, memberships.shape[1]))
        side[places] = memberships
        everywhere.append(side)
    if len(index[0]) == data.shape[0] and len(index[1]) == data.shape[1]:
        return everywhere[0], everywhere[1]
    rows, columns = (fit.probabilities(data, everywhere[1 - axis], axis) for axis in (0, 1))
    before = after = rows, columns
    for _ in range(_ROUNDS):
        after = _without_evidence(data, after).update(data)
    # If a cluster loses its last row, keep the memberships from before.
    lost = any(_n_chosen(new) < _n_chosen(old) for new, old in zip(after, before, strict=True))
    return before if lost else after
