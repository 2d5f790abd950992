"""Profiles of the clusters of a fit, which assign new rows to them.

A new row is compared with the clusters in the same way as the rows of the fit. If the matrix
consists of blocks, its means, or its counts, over the column clusters are compared under the
noise of the fit.
Otherwise its position among the leading features is compared or, for data that are mostly
zero, its direction. Columns are the rows of the transpose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pyrocco._typing import Array, Floats, Labels
from pyrocco.assign.features import directions, leading_axes
from pyrocco.assign.labels import RoundClusters, hard_memberships, probabilities_of
from pyrocco.backends import Backend

# Minimum variance of the noise as a share of the mean square: for blocks without noise.
_LEAST_VARIANCE = 1e-9
# Weight of the prior "no deviation", in cells, for new rows with missing values.
_PRIOR_CELLS = 1e-3
# Counts at the level of the totals that are added to every block.
_PRIOR_COUNTS = 0.5


class Profiles(Protocol):
    """Compares rows with the clusters of a fit; missing values are NaN."""

    def memberships(self, X: Floats) -> Floats:
        """Compute the probability of each cluster for each row."""


@dataclass(frozen=True)
class BlockProfiles:
    """Clusters as block means under noise."""

    means: Floats  # of shape (n_clusters, n_other_clusters)
    others: Labels  # cluster of each column
    variance: float  # of the noise
    shares: Floats  # share of the rows in each cluster

    @classmethod
    def learn(cls, chunks: Iterable[Floats], labels: Labels, others: Labels) -> BlockProfiles:
        """Compute the profiles of labelled rows, which come in chunks."""
        parts = [(*block_sums(X, others), np.nansum(np.square(X))) for X in chunks]
        sums, counts = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        own = hard_memberships(labels)
        sizes = own.T @ counts
        means = (own.T @ sums) / np.maximum(sizes, 1)
        squares = float(sum(part[2] for part in parts))
        rest = squares - float((sizes * means**2).sum())
        variance = max(rest, _LEAST_VARIANCE * squares, np.finfo(float).tiny) / sizes.sum()
        return cls(means, others, float(variance), np.bincount(labels) / len(labels))

    def memberships(self, X: Floats) -> Floats:
        """Compute the probability of each cluster for each row."""
        sums, counts = block_sums(X, self.others)
        fits = (sums @ self.means.T - 0.5 * counts @ (self.means**2).T) / self.variance
        return probabilities_of(fits + np.log(self.shares))


@dataclass(frozen=True)
class CountProfiles:
    """Clusters as rates of blocks of counts, relative to the totals of rows and columns."""

    rates: Floats  # of shape (n_clusters, n_other_clusters)
    levels: Floats  # share of all counts in each cluster of columns
    others: Labels  # cluster of each column
    shares: Floats  # share of the rows in each cluster

    @classmethod
    def learn(cls, chunks: Iterable[Floats], labels: Labels, others: Labels) -> CountProfiles:
        """Compute the profiles of labelled rows of counts, which come in chunks."""
        sums = hard_memberships(labels).T @ np.concatenate(
            [block_sums(X, others)[0] for X in chunks]
        )
        levels = sums.sum(axis=0) / max(sums.sum(), np.finfo(float).tiny)
        expected = np.outer(sums.sum(axis=1), levels)
        rates = (sums + _PRIOR_COUNTS) / (expected + _PRIOR_COUNTS)
        return cls(rates, levels, others, np.bincount(labels) / len(labels))

    def memberships(self, X: Floats) -> Floats:
        """Compute the probability of each cluster for each row of counts."""
        sums, _ = block_sums(X, self.others)
        expected = np.outer(sums.sum(axis=1), self.rates @ self.levels)
        return probabilities_of(sums @ np.log(self.rates).T - expected + np.log(self.shares))


@dataclass(frozen=True)
class FeatureProfiles:
    """Clusters as positions, or directions, among the leading features of the prepared data."""

    centre: Floats  # column means of the prepared data
    axes: Floats  # its leading right singular vectors
    longest: float  # length of the longest row of the fit, relative to which rounding is measured
    clusters: RoundClusters  # the clusters among the features
    by_length: bool = False  # whether the length of a row matters in addition to its direction

    @classmethod
    def learn(
        cls,
        chunks: Iterable[Floats],
        U: Array,
        labels: Labels,
        backend: Backend | None = None,
        by_length: bool = False,
    ) -> FeatureProfiles:
        """Compute the profiles of labelled rows of the data in the features of `U`."""
        centre, axes = leading_axes(U, backend=backend)
        scores = np.concatenate([_project(X - centre, axes) for X in chunks])
        longest = float(np.linalg.norm(scores, axis=1).max())
        features = scores if by_length else directions(scores, longest)
        clusters = RoundClusters.around(features, labels)
        return cls(centre, axes, longest, clusters, by_length)

    def memberships(self, X: Floats) -> Floats:
        """Compute the probability of each cluster for each row."""
        scores = _project(X - self.centre, self.axes)
        features = scores if self.by_length else directions(scores, self.longest)
        return self.clusters.memberships(features)


def block_sums(X: Floats, others: Labels) -> tuple[Floats, Floats]:
    """Compute sum and number of the values of each row in each column cluster."""
    memberships = hard_memberships(others)
    missing = np.isnan(X)
    if not missing.any():
        return X @ memberships, np.broadcast_to(
            memberships.sum(axis=0), (len(X), memberships.shape[1])
        )
    return np.where(missing, 0, X) @ memberships, (~missing) @ memberships


def _project(deviations: Floats, axes: Floats) -> Floats:
    """Return the scores on the axes; for rows with missing values, the least-squares fit."""
    missing = np.isnan(deviations)
    if not missing.any():
        return np.asarray(deviations @ axes)
    scores = np.where(missing, 0, deviations) @ axes
    for row in np.flatnonzero(missing.any(axis=1)):
        known = axes[~missing[row]]
        gram = known.T @ known
        gram[np.diag_indices_from(gram)] += _PRIOR_CELLS
        scores[row] = np.linalg.solve(gram, scores[row])
    return np.asarray(scores)
