"""The block model of counts: Poisson noise, with a level of every row and every column.

The expected count of a cell is its share of the totals of its row and of its column, times the
rate of its block. A rate of one everywhere means that nothing but the totals differs. This is
the degree-corrected block model of Karrer and Newman ("Stochastic blockmodels and community
structure in networks", Physical Review E 83, 2011, 016107) for a matrix with two sides.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.special import digamma, gammaln, xlogy

from pyrocco._typing import Array, Floats
from pyrocco.assign.block_model.fit import label_evidence
from pyrocco.assign.block_model.gaussian import best_prior
from pyrocco.assign.block_model.products import (
    Pair,
    Products,
    in_blocks,
    split_missing,
    varying_first,
)
from pyrocco.assign.labels import hard_memberships
from pyrocco.backends import Backend, NumpyBackend

# Prior of the rate of a block that differs from one: gamma, with mean one and this shape.
_SHAPES = np.geomspace(0.1, 1e3, 13)
# Pseudo-counts of the background in the rate of a block with hardly any expected counts.
_PRIOR_COUNTS = 0.5
# Expected counts below this have the noise of this: one count in an almost empty row or column
# says little.
_LEAST_EXPECTED = 0.01
_LEAST = np.finfo(float).tiny
# Maximum number of rounds in which levels are adapted to missing counts, and their precision.
_ROUNDS, _SAME = 30, 1e-6
# Precision of the excess of the variance over that of Poisson noise, relative to itself.
_SAME_EXCESS = 1e-3


@dataclass(frozen=True)
class CountFit:
    """A fitted block model of counts."""

    evidence: float  # lower bound of the log evidence, relative to rates of one everywhere
    memberships: Pair  # probability of each cluster, for the rows and for the columns
    rates: Floats  # expected rate of each block
    log_rates: Floats  # expected logarithm of the rate of each block

    @property
    def slopes(self) -> Floats:
        """Log likelihood of a count in each block, per unit."""
        return self.log_rates

    @property
    def costs(self) -> Floats:
        """Log likelihood that each block takes off per expected count."""
        return self.rates


class CountData:
    """A matrix of counts whose blocks have Poisson noise, with its sums.

    The cells of a block are measured by their expected counts: what the totals of rows and
    columns say if there were no blocks. Missing counts (NaN) are in no sum; `complete` says that
    there are none.
    """

    def __init__(self, X: Array, backend: Backend | None = None, *, complete: bool = True):
        place = cast(Backend, backend or NumpyBackend())
        self.shape = X.shape[0], X.shape[1]
        X, present = (X, None) if complete else split_missing(X, place)
        self._values = Products(X, place)
        self._present = None if present is None else Products(present, place)
        rows = self._values.over(1, np.ones((self.shape[1], 1)))[:, 0]
        columns = self._values.over(0, np.ones((self.shape[0], 1)))[:, 0]
        # Expected counts are products of one number for the row and one for the column.
        self.levels = self._levels(rows, columns)
        self.order = varying_first(rows / self.shape[1], columns / self.shape[0])

    def _levels(self, rows: Floats, columns: Floats) -> Pair:
        """Return the numbers whose products have the totals of the rows and of the columns."""
        root = np.sqrt(max(rows.sum(), _LEAST))
        levels = rows / root, columns / root
        if self._present is None:
            return levels
        for _ in range(_ROUNDS):
            # Iterative proportional fitting.
            before = levels
            known = self._present.over(1, levels[1][:, None])[:, 0]
            levels = rows / np.maximum(known, _LEAST), levels[1]
            known = self._present.over(0, levels[0][:, None])[:, 0]
            levels = levels[0], columns / np.maximum(known, _LEAST)
            if np.allclose(levels[1], before[1], rtol=_SAME, atol=0):
                break
        return levels

    @property
    def is_complete(self) -> bool:
        """Whether no count is missing."""
        return self._present is None

    def completed(self, labels: Pair) -> CountData:
        """Return the same counts with the levels of a table in which blocks fill missing counts.

        The total of a row depends on which of its counts are missing. Its level should not.
        """
        if self._present is None:
            return self
        data = copy(self)
        values = self._values.backend.to_numpy(self._values.matrix)
        missing = self._values.backend.to_numpy(self._present.matrix) == 0
        for _ in range(_ROUNDS):
            before = data.levels
            filled = np.where(missing, data._means(labels), values)
            root = np.sqrt(max(filled.sum(), _LEAST))
            data.levels = filled.sum(axis=1) / root, filled.sum(axis=0) / root
            if np.allclose(data.levels[0], before[0], rtol=_SAME, atol=0):
                break
        return data

    def product(self, axis: int, memberships: Floats) -> Floats:
        """Sum the counts over `axis`, weighted by memberships, for each cluster."""
        return self._values.over(axis, memberships)

    def counts(self, axis: int, memberships: Floats) -> Floats:
        """Sum the expected counts over `axis`, weighted by memberships, for each cluster."""
        own, others = self.levels[1 - axis], self.levels[axis]
        if self._present is None:
            return np.outer(own, others @ memberships)
        return own[:, None] * self._present.over(axis, others[:, None] * memberships)

    def sums(self, memberships: Pair) -> Floats:
        """Sum the counts of each block."""
        axis = self.order[1]
        return in_blocks(self.product(axis, memberships[axis]), memberships, axis)

    def sizes(self, memberships: Pair) -> Floats:
        """Sum the expected counts of each block."""
        if self._present is not None:
            axis = self.order[1]
            return in_blocks(self.counts(axis, memberships[axis]), memberships, axis)
        return np.outer(self.levels[0] @ memberships[0], self.levels[1] @ memberships[1])

    def parameters(self, sums: Floats, sizes: Floats) -> Pair:
        """Return slopes and costs of the most likely rates."""
        rates = (sums + _PRIOR_COUNTS) / (sizes + _PRIOR_COUNTS)
        return np.log(rates), rates

    def residuals(self, labels: Pair) -> Floats:
        """Return counts minus what blocks and totals predict, in units of their Poisson noise."""
        expected = self._expected(labels)
        return self._rest(expected) / np.sqrt(np.maximum(expected, _LEAST_EXPECTED))

    def overdispersed_residuals(self) -> Floats:
        """Return counts less what their levels say, in units of negative binomial noise.

        The variance of the noise is the expected count plus a multiple of its square. Levels and
        multiple are fitted in turn, by sums in which cells with much noise count less. Under
        Poisson noise, the largest counts would decide everything.
        """
        X, present = self._values.backend.to_numpy(self._values.matrix), np.ones(self.shape)
        if self._present is not None:
            present = self._present.backend.to_numpy(self._present.matrix)
        rows, columns = self.levels
        expected, excess = np.outer(rows, columns) * present, 0.0
        for _ in range(_ROUNDS):
            before, weights = excess, present / (1 + excess * expected)
            rows = rows * _ratio((weights * X).sum(axis=1), (weights * expected).sum(axis=1))
            expected = np.outer(rows, columns) * present
            weights = present / (1 + excess * expected)
            columns = columns * _ratio((weights * X).sum(axis=0), (weights * expected).sum(axis=0))
            expected = np.outer(rows, columns) * present
            weights = np.square(present / (1 + excess * expected))
            squares = float((weights * (np.square(X - expected) - expected)).sum())
            excess = max(0.0, squares / max(float((weights * expected**2).sum()), _LEAST))
            if abs(excess - before) <= _SAME_EXCESS * excess:
                break
        variance = np.maximum(expected + excess * expected**2, _LEAST_EXPECTED)
        return np.asarray((X - expected) * present / np.sqrt(variance))

    def dispersion(self, labels: Pair) -> float:
        """Return the squares that blocks leave unexplained, per expected count.

        It is about one for Poisson noise, and larger if counts come in bursts.
        """
        expected = self._expected(labels)
        return float(np.square(self._rest(expected)).sum() / max(expected.sum(), _LEAST))

    def _expected(self, labels: Pair) -> Floats:
        """Return the expected counts of the cells, 0 where they are missing."""
        expected = self._means(labels)
        if self._present is not None:
            expected *= self._values.backend.to_numpy(self._present.matrix)
        return expected

    def _means(self, labels: Pair) -> Floats:
        """Return the expected counts of all cells."""
        memberships = hard_memberships(labels[0]), hard_memberships(labels[1])
        rates = self.sums(memberships) / np.maximum(self.sizes(memberships), _LEAST)
        return np.asarray(np.outer(*self.levels) * rates[labels[0]][:, labels[1]])

    def _rest(self, expected: Floats) -> Floats:
        return np.asarray(self._values.backend.to_numpy(self._values.matrix) - expected)

    def merge_losses(self, sums: Floats, sizes: Floats) -> Floats:
        """Return the log likelihood lost if two clusters of the first axis are merged."""
        own = _log_likelihood(sums, sizes).sum(axis=1)
        joint = sums[:, None] + sums, sizes[:, None] + sizes
        return np.asarray(own[:, None] + own - _log_likelihood(*joint).sum(axis=2))

    def evaluate(self, memberships: Pair) -> CountFit:
        """Return the block model of given memberships, with its evidence."""
        evidence, rates, logs = rate_evidence(self.sums(memberships), self.sizes(memberships))
        labels = sum(map(label_evidence, memberships))
        return CountFit(float(evidence + labels), memberships, rates, logs)

    def without_evidence(self, memberships: Pair) -> CountFit:
        """Return the block model of given memberships."""
        return self.evaluate(memberships)

    def refit(self, memberships: Pair, fit: CountFit) -> CountFit:
        """Update rates and evidence of a fit for new memberships."""
        return self.evaluate(memberships)


def _ratio(sums: Floats, expected: Floats) -> Floats:
    return np.asarray(sums / np.maximum(expected, _LEAST))


def _log_likelihood(sums: Floats, sizes: Floats) -> Floats:
    """Return the log likelihood of the counts of each block at their most likely rate."""
    return np.asarray(xlogy(sums, sums / np.maximum(sizes, _LEAST)))


def rate_evidence(sums: Floats, sizes: Floats) -> tuple[float, Floats, Floats]:
    """Compute the log evidence for blocks whose rate differs from one.

    `sums` and `sizes` are the counts and the expected counts of each block. Returns the evidence,
    relative to rates of one everywhere, and the expected rates and their expected logarithms.
    """
    a = _SHAPES[:, None, None]
    slab = gammaln(a + sums) - gammaln(a) + a * np.log(a) - (a + sums) * np.log(a + sizes) + sizes
    evidence, shape, differs = best_prior(slab)
    a = _SHAPES[shape]
    rates = differs * (a + sums) / (a + sizes) + (1 - differs)
    logs = differs * (digamma(a + sums) - np.log(a + sizes))
    return evidence, rates, logs
