"""What the rows of every cluster look like, so that new rows find their cluster.

A new row is compared in the geometry in which the fit judged its labels: where the matrix is
made of blocks, by its means over the column clusters under the noise of the fit; elsewhere by
its place among the leading features or, where most cells are zero, its direction. Columns are
rows of the transpose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.blockmodel import indicator
from pyrocco.assign.confidence import RoundClusters
from pyrocco.assign.features import directions, leading_axes
from pyrocco.backends import Backend

Floats = NDArray[np.float64]
Parts = Iterable[Floats]

# The noise is never taken to be less than this share of the matrix: blocks without noise.
_LEAST_VARIANCE = 1e-9
# Weight of "no deviation" beside one observed cell, where cells of a new row are missing.
_PRIOR_CELLS = 1e-3


class Profiles(Protocol):
    """Compares rows, whose missing cells are NaN, with the clusters of a fit."""

    def members(self, X: Floats) -> Floats:
        """Probability of every cluster for every row."""


@dataclass(frozen=True)
class BlockProfiles:
    """Clusters as block means under noise.

    Parameters
    ----------
    means : ndarray of shape (n_clusters, n_other_clusters)
        Mean of every block.
    others : ndarray of int
        Cluster of every column.
    variance : float
        Variance of the noise.
    shares : ndarray of shape (n_clusters,)
        Share of the rows in every cluster.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[5.0, 6.0, 0.0], [6.0, 5.0, 1.0], [0.0, 1.0, 9.0], [1.0, 0.0, 8.0]])
    >>> profiles = BlockProfiles.learn([X], np.array([0, 0, 1, 1]), np.array([0, 0, 1]))
    >>> profiles.members(np.array([[5.0, np.nan, 2.0], [np.nan, 2.0, np.nan]])).argmax(axis=1)
    array([0, 1])
    """

    means: Floats
    others: NDArray[np.intp]
    variance: float
    shares: Floats

    @classmethod
    def learn(
        cls, parts: Parts, labels: NDArray[np.intp], others: NDArray[np.intp]
    ) -> BlockProfiles:
        """Profiles of labelled rows, which come in parts; missing cells count for nothing."""
        found = [(*block_sums(X, others), np.nansum(np.square(X))) for X in parts]
        sums, counts = (np.concatenate([part[side] for part in found]) for side in (0, 1))
        own = indicator(labels)
        sizes = own.T @ counts
        means = (own.T @ sums) / np.maximum(sizes, 1)
        squares = float(sum(part[2] for part in found))
        rest = squares - float((sizes * means**2).sum())
        variance = max(rest, _LEAST_VARIANCE * squares, np.finfo(float).tiny) / sizes.sum()
        return cls(means, others, float(variance), np.bincount(labels) / len(labels))

    def members(self, X: Floats) -> Floats:
        """Probability of every cluster for every row."""
        sums, counts = block_sums(X, self.others)
        fits = (sums @ self.means.T - 0.5 * counts @ (self.means**2).T) / self.variance
        scores = fits + np.log(self.shares)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class FeatureProfiles:
    """Clusters as places, or directions, among the leading features of a representation.

    Parameters
    ----------
    centre : ndarray of shape (n_columns,)
        Column means of the representation.
    axes : ndarray of shape (n_columns, n_features)
        Its leading right singular vectors.
    longest : float
        Length of the longest row seen, by which rounding is measured.
    clusters : RoundClusters
        Where the clusters are among the features.
    by_length : bool
        Whether the length of a row counts, beside its direction.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[5.0, 6.0, 0.0], [6.0, 5.0, 1.0], [0.0, 1.0, 9.0], [1.0, 0.0, 8.0]])
    >>> profiles = FeatureProfiles.learn([X], X, np.array([0, 0, 1, 1]))
    >>> profiles.members(np.array([[50.0, np.nan, 20.0], [0.0, 2.0, 9.0]])).argmax(axis=1)
    array([0, 1])
    """

    centre: Floats
    axes: Floats
    longest: float
    clusters: RoundClusters
    by_length: bool = False

    @classmethod
    def learn(
        cls,
        parts: Parts,
        U: Any,
        labels: NDArray[np.intp],
        backend: Backend | None = None,
        by_length: bool = False,
    ) -> FeatureProfiles:
        """Profiles of labelled rows; their features are those of the data, noise and all."""
        centre, axes = leading_axes(U, backend=backend)
        scores = np.concatenate([_project(X - centre, axes) for X in parts])
        longest = float(np.linalg.norm(scores, axis=1).max())
        features = scores if by_length else directions(scores, longest)
        clusters = RoundClusters.around(features, labels)
        return cls(centre, axes, longest, clusters, by_length)

    def members(self, X: Floats) -> Floats:
        """Probability of every cluster for every row."""
        scores = _project(X - self.centre, self.axes)
        features = scores if self.by_length else directions(scores, self.longest)
        return self.clusters.members(features)


def block_sums(X: Floats, others: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Sum and number of the observed cells of every row in every column cluster.

    Examples
    --------
    >>> import numpy as np
    >>> sums, counts = block_sums(np.array([[1.0, 2.0, np.nan]]), np.array([0, 0, 1]))
    >>> sums.tolist(), counts.tolist()
    ([[3.0, 0.0]], [[2.0, 0.0]])
    """
    members = indicator(others)
    missing = np.isnan(X)
    if not missing.any():
        return X @ members, np.broadcast_to(members.sum(axis=0), (len(X), members.shape[1]))
    return np.where(missing, 0, X) @ members, (~missing) @ members


def _project(deviations: Floats, axes: Floats) -> Floats:
    """Scores on the axes; where cells are missing, those that fit the others best."""
    missing = np.isnan(deviations)
    scores = np.where(missing, 0, deviations) @ axes
    for row in np.flatnonzero(missing.any(axis=1)):
        seen = axes[~missing[row]]
        gram = seen.T @ seen
        gram[np.diag_indices_from(gram)] += _PRIOR_CELLS
        scores[row] = np.linalg.solve(gram, scores[row])
    return np.asarray(scores)
