"""Labels of rows and columns, the means of their clusters, and membership probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pyrocco._typing import Array, Dense, Floats, Labels
from pyrocco.backends import map_rows, over_rows, sums_by_label

# Numbers of row clusters and of column clusters; None where it is to be determined.
Numbers = tuple[int | None, int | None]

# The models treat the labels of the other side, means and features as known, and are therefore
# too confident: log odds are divided by this. On planted blocks at noise 50 and 70 and on
# Gaussian clusters the best divisors were 1.5, 3.3 and 2.9 to 5.2.
_TEMPERATURE = 3.0


@dataclass(frozen=True)
class SideLabels:
    """Labels of the rows, or of the columns."""

    labels: Labels  # cluster of each row, numbered from the largest
    membership: Floats  # probability of each label
    # Expected Jaccard overlap of each cluster with itself when labels are redrawn.
    stability: Floats

    @classmethod
    def from_memberships(cls, labels: Labels, memberships: Array) -> SideLabels:
        """Number the clusters by size; `memberships` are probabilities before tempering."""
        numbered = relabel(labels)
        order = labels[_first_places(numbered)]
        parts = over_rows(partial(_own_and_total, order=order), memberships, numbered)
        own, totals = zip(*parts, strict=True)
        membership = np.concatenate(own)
        inside = np.bincount(numbered, membership)
        union = np.bincount(numbered) + sum(totals) - inside
        return cls(numbered, membership, inside / union)


@dataclass(frozen=True)
class Assignment:
    """Labels of the rows and of the columns."""

    rows: SideLabels
    columns: SideLabels
    # "blocks", "gradient" or "features" (see `pyrocco.assign.structure`).
    structure: str = "features"
    contaminated: bool = False  # whether the matrix has outlier cells
    counted: bool = False  # whether the blocks are those of counts under Poisson noise

    @property
    def row_labels(self) -> Labels:
        """Labels of the rows."""
        return self.rows.labels

    @property
    def column_labels(self) -> Labels:
        """Labels of the columns."""
        return self.columns.labels


def relabel(labels: Labels) -> Labels:
    """Number clusters from 0, largest first; equal ones in the order of their first rows.

    Examples
    --------
    >>> import numpy as np
    >>> relabel(np.array([7, 3, 3, 7, 3])).tolist()
    [1, 0, 0, 1, 0]
    """
    labels = compact(labels)
    counts = np.bincount(labels)
    rank = np.empty(len(counts), dtype=np.intp)
    rank[np.lexsort((_first_places(labels), -counts))] = np.arange(len(counts))
    return rank[labels]


def compact(labels: Labels) -> Labels:
    """Renumber labels, which are not negative, from 0 without unused numbers."""
    taken = np.bincount(labels) > 0
    return np.asarray((np.cumsum(taken) - 1)[labels], dtype=np.intp)


def _first_places(labels: Labels) -> Labels:
    """Return the first position of each of the labels 0..K-1, all of which occur."""
    first = np.empty(int(labels.max(initial=-1)) + 1, dtype=np.intp)
    # If several values are assigned to one position, the last one stays.
    first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
    return first


def cluster_means(rows: Array, labels: Labels, k: int) -> Dense:
    """Compute the mean row of each label 0..k-1; zeros for a label without rows."""
    sizes = np.maximum(np.bincount(labels, minlength=k), 1)[:, None]
    sums = sum(over_rows(partial(sums_by_label, k=k), rows, labels))
    return np.asarray(sums / sizes, dtype=rows.dtype)


def hard_memberships(labels: Labels) -> Floats:
    """Return the memberships of labels 0..K-1: a column of zeros and ones for each cluster."""
    memberships = np.zeros((len(labels), int(labels.max()) + 1))
    memberships[np.arange(len(labels)), labels] = 1
    return memberships


def probabilities_of(scores: Floats) -> Floats:
    """Convert each row of log odds into probabilities, in place."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def tempered(memberships: Floats) -> Floats:
    """Make membership probabilities less extreme, as the models are too confident."""
    odds = memberships ** (1 / _TEMPERATURE)
    odds /= odds.sum(axis=1, keepdims=True)
    return odds


def _own_and_total(memberships: Floats, labels: Labels, order: Labels) -> tuple[Floats, Floats]:
    """Return the probability of the label of each row, and the sum for each cluster."""
    sure = tempered(np.take(memberships, order, axis=1))
    return sure[np.arange(len(labels)), labels], sure.sum(axis=0)


@dataclass(frozen=True)
class RoundClusters:
    """Spherical Gaussian clusters of equal width."""

    centres: Floats  # one row for each cluster
    # Variance in each effective dimension; zero if all rows are equal to their centres.
    width: float
    sizes: Labels  # number of rows of each cluster

    @classmethod
    def around(cls, features: Array, labels: Labels) -> RoundClusters:
        """Fit the clusters of labelled rows."""
        k = int(labels.max()) + 1
        centres = cluster_means(features, labels, k).astype(np.float64)
        clusters = cls(centres, 0.0, np.bincount(labels, minlength=k))
        squares, scatters = zip(*over_rows(clusters._scatter, features, labels), strict=True)
        # Features are not equally noisy: count the effective dimensions only.
        width = float(sum(squares)) / len(labels) / _effective_dimension(sum(scatters))
        return replace(clusters, width=width)

    def _scatter(self, features: Dense, labels: Labels) -> tuple[float, Floats]:
        """Return the sum of squared distances to the centres, and the scatter matrix."""
        own = self._squares(features)[np.arange(len(labels)), labels]
        spread = features.astype(np.float64) - self.centres[labels]
        return float(own.sum()), spread.T @ spread

    def _squares(self, features: Dense) -> Floats:
        """Return the squared distance of each row to each centre."""
        products = np.asarray(features @ self.centres.T, np.float64)
        squares = np.square(self.centres).sum(axis=1) - 2 * products
        squares += np.square(features).sum(axis=1, dtype=np.float64)[:, None]
        return np.asarray(np.maximum(squares, 0))

    def memberships(self, features: Dense) -> Floats:
        """Compute the probability of each cluster for each row; hard if the width is zero."""
        squares = self._squares(features)
        if self.width <= 0:
            return np.asarray(np.eye(len(self.centres))[squares.argmin(axis=1)])
        scores = -0.5 * squares / self.width + np.log(np.maximum(self.sizes, 1e-300))
        return probabilities_of(scores)


def distance_memberships(features: Array, labels: Labels) -> Any:
    """Compute the membership of each row in `RoundClusters` around the labelled rows."""
    clusters = RoundClusters.around(features, labels)
    if clusters.width <= 0:
        return np.asarray(np.eye(len(clusters.centres))[labels])
    return map_rows(clusters.memberships, features)


def _effective_dimension(scatter: Floats) -> float:
    """Return the number of equally noisy dimensions with the same total scatter."""
    power = float(np.square(scatter).sum())
    return float(np.trace(scatter)) ** 2 / power if power > 0 else 1.0
