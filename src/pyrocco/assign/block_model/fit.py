"""Block models: the fit of memberships, for any kind of noise.

Every row and every column belongs to one cluster, and every block has one parameter. What the
noise is, and so how likely the cells of a block are, is up to the data: see `gaussian.BlockData`
and `counts.CountData`. Memberships are fitted by variational expectation-maximisation (Govaert
and Nadif, "Clustering with block mixture models", Pattern Recognition 36, 2003).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.special import gammaln

from pyrocco._typing import Floats, Labels
from pyrocco.assign.block_model.products import Pair
from pyrocco.assign.labels import compact, hard_memberships, probabilities_of

# Gain of log evidence, in nats, below which the fit has converged.
_PROGRESS = 0.01
# Number of rounds on the whole matrix, after the fit of the sample.
_ROUNDS = 2


class BlockFit(Protocol):
    """A fitted block model.

    The log likelihood of a row in a cluster is the sum over blocks of its values times `slopes`
    minus its cells times `costs`.
    """

    @property
    def evidence(self) -> float:
        """Lower bound of the log evidence."""

    @property
    def memberships(self) -> Pair:
        """Probability of each cluster, for the rows and for the columns."""

    @property
    def slopes(self) -> Floats:
        """Log likelihood of a value in each block, per unit of the value."""

    @property
    def costs(self) -> Floats:
        """Log likelihood that each block takes off per cell."""


class Data(Protocol):
    """A matrix and the noise of its blocks.

    `order` has the axis that is updated first and the other one. `product` sums the values over
    an axis, weighted by memberships, and `counts` the cells in these sums; `sums` and `sizes` do
    so for blocks.
    """

    shape: tuple[int, int]
    order: tuple[int, int]

    def product(self, axis: int, memberships: Floats) -> Floats:
        """Sum the values over `axis`, weighted by memberships, for each cluster."""

    def counts(self, axis: int, memberships: Floats) -> Floats:
        """Sum the cells over `axis`, weighted by memberships, for each cluster."""

    def sums(self, memberships: Pair) -> Floats:
        """Sum the values of each block."""

    def sizes(self, memberships: Pair) -> Floats:
        """Sum the cells of each block."""

    def parameters(self, sums: Floats, sizes: Floats) -> Pair:
        """Return slopes and costs of the most likely blocks."""

    def residuals(self, labels: Pair) -> Floats:
        """Return what blocks leave unexplained, in units of the noise or in those of the data."""

    def merge_losses(self, sums: Floats, sizes: Floats) -> Floats:
        """Return the log likelihood lost if two clusters of the first axis are merged."""

    def evaluate(self, memberships: Pair) -> Any:
        """Return the block model of given memberships, with its evidence."""

    def without_evidence(self, memberships: Pair) -> Any:
        """Return the block model of given memberships, its evidence not computed."""

    def refit(self, memberships: Pair, fit: Any) -> Any:
        """Update blocks and evidence of a fit for new memberships."""


def fitted_labels(fit: BlockFit) -> tuple[Labels, Labels]:
    """Return the most probable clusters, numbered without those of no row."""
    rows, columns = (compact(side.argmax(axis=1)) for side in fit.memberships)
    return rows, columns


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


def sweep(data: Data, labels: Pair, max_sweeps: int = 10) -> Pair:
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


def _log_likelihoods(data: Data, labels: Pair, axis: int) -> Floats:
    """Return the log likelihood of each row (or column) in each cluster."""
    memberships = hard_memberships(labels[0]), hard_memberships(labels[1])
    own, other = memberships[axis], memberships[1 - axis]
    products = data.product(1 - axis, other)
    sizes = data.sizes(memberships) if axis == 0 else data.sizes(memberships).T
    slopes, costs = data.parameters(own.T @ products, sizes)
    scores = products @ slopes.T - data.counts(1 - axis, other) @ costs.T
    return np.asarray(scores + np.log(own.mean(axis=0)))


def variational_fit(data: Data, memberships: Pair, max_iter: int = 30) -> Any:
    """Fit memberships by variational expectation-maximisation from initial ones."""
    fit = previous = data.evaluate(memberships)
    for _ in range(max_iter):
        fit = data.refit(updated_memberships(data, previous), previous)
        if abs(fit.evidence - previous.evidence) < _PROGRESS:
            break
        previous = fit
    return fit


def updated_memberships(data: Data, fit: BlockFit) -> Pair:
    """Compute the memberships of each side given the other one and the blocks of a fit."""
    sides = list(fit.memberships)
    for axis in data.order:
        sides[axis] = membership_probabilities(data, fit, sides[1 - axis], axis)
    return sides[0], sides[1]


def membership_probabilities(data: Data, fit: BlockFit, others: Floats, axis: int) -> Floats:
    """Compute memberships on one axis, given `others` (zero for rows that are left out)."""
    prior = np.log(np.maximum(fit.memberships[axis].mean(axis=0), 1e-300))
    slopes, costs = (part if axis == 0 else part.T for part in (fit.slopes, fit.costs))
    scores = data.product(1 - axis, others) @ slopes.T
    scores += prior - data.counts(1 - axis, others) @ costs.T
    return probabilities_of(scores)


def extend_fit(data: Data, fit: BlockFit, index: Pair) -> Pair:
    """Return memberships of all rows and columns, from a fit to those in `index`."""
    everywhere = []
    for memberships, places, size in zip(fit.memberships, index, data.shape, strict=True):
        side = np.zeros((size, memberships.shape[1]))
        side[places] = memberships
        everywhere.append(side)
    if len(index[0]) == data.shape[0] and len(index[1]) == data.shape[1]:
        return everywhere[0], everywhere[1]
    rows, columns = (
        membership_probabilities(data, fit, everywhere[1 - axis], axis) for axis in (0, 1)
    )
    before = after = rows, columns
    for _ in range(_ROUNDS):
        after = updated_memberships(data, data.without_evidence(after))
    # If a cluster loses its last row, keep the memberships from before.
    lost = any(_n_chosen(new) < _n_chosen(old) for new, old in zip(after, before, strict=True))
    return before if lost else after
