"""How far rows are from their clusters, in several respects, and how far is too far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from pyrocco.assign.profiles import block_sums

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

# Share of rows like those of the fit that may be called far.
_FALSE_ALARMS = 0.01
# Departures below this share of the matrix are rounding.
_ROUNDING = 1e-9
# Squared tangent of the angle of rows that have nothing in common with their cluster.
_OPPOSITE = 1e6
_TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class MeanRows:
    """The mean row of every cluster, and how the columns are grouped.

    Parameters
    ----------
    means : ndarray of shape (n_clusters, n_columns)
        Means over the observed cells.
    centre : ndarray of shape (n_columns,)
        Mean of all rows.
    others : ndarray of int
        Cluster of every column.

    Examples
    --------
    >>> import numpy as np
    >>> rows = MeanRows(np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]), np.array([0, 1]))
    >>> rows.departures(np.array([[5.0, 0.0]]), rows.means[:1]).round(2).tolist()
    [[0.5, 0.5, 0.04]]
    """

    means: Floats
    centre: Floats
    others: Labels

    def departures(self, X: Floats, expected: Floats) -> Floats:
        """Departures of rows from what is expected of each: by cells, by blocks, by direction.

        The mean square of the cells; the same of the means over column clusters, which many
        small deviations to the same side make large; and the squared tangent of the angle
        between row and mean row, both as seen from the mean of all rows. A column for each.
        """
        deviations = X - expected
        sums, counts = block_sums(deviations, self.others)
        blocks = (np.square(sums) / np.maximum(counts, 1)).sum(axis=1)
        cells = np.nansum(np.square(deviations), axis=1)
        n_cells, n_blocks = counts.sum(axis=1), np.count_nonzero(counts, axis=1)
        found = cells / np.maximum(n_cells, 1), blocks / np.maximum(n_blocks, 1)
        return np.column_stack([*found, self._angles(X, expected)])

    def _angles(self, X: Floats, expected: Floats) -> Floats:
        if len(self.means) == 1:  # it is the mean of all rows: seen from there, no direction
            return np.zeros(len(X))
        row = X - self.centre
        seen = ~np.isnan(row)
        row, mean = np.where(seen, row, 0), np.where(seen, expected - self.centre, 0)
        lengths = np.einsum("ij,ij->i", row, row)
        along = np.einsum("ij,ij->i", row, mean)
        along /= np.sqrt(np.maximum(np.einsum("ij,ij->i", mean, mean), _TINY))
        towards = np.square(np.maximum(along, 0))
        tangents = (lengths - towards) / np.maximum(towards, lengths / _OPPOSITE + _TINY)
        return np.asarray(np.minimum(tangents, _OPPOSITE))


def learn_mean_rows(
    parts: Iterable[Floats], labels: Labels, others: Labels
) -> tuple[MeanRows, Floats]:
    """Mean row of every cluster, and the number of cells behind every mean.

    Parameters
    ----------
    parts : iterable of ndarray
        The rows, a few at a time; NaN marks missing cells.
    labels, others : ndarray of int
        Clusters of the rows and of the columns.

    Returns
    -------
    pair of MeanRows and ndarray

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, np.nan], [3.0, 4.0], [9.0, 0.0]])
    >>> found, counts = learn_mean_rows([X], np.array([0, 0, 1]), np.array([0, 0]))
    >>> found.means.tolist(), counts.tolist()
    ([[2.0, 4.0], [9.0, 0.0]], [[2.0, 1.0], [1.0, 1.0]])
    """
    shape = int(labels.max()) + 1, len(others)
    sums, counts = np.zeros(shape), np.zeros(shape)
    for part, own in labelled(parts, labels):
        members = np.eye(shape[0])[own].T
        sums += members @ np.nan_to_num(part)
        counts += members @ ~np.isnan(part)
    centre = sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), centre)
    return MeanRows(means, centre, others), counts


def own_departures(X: Floats, labels: Labels, mean_rows: MeanRows, counts: Floats) -> Floats:
    """Departures of rows from the means of the other rows of their clusters; NaN if alone."""
    counts = counts[labels]
    others = counts * mean_rows.means[labels] - np.nan_to_num(X)
    # Of a column that no other row has, nothing is expected.
    expected = np.where(counts > 1, others / np.maximum(counts - 1, 1), np.nan)
    departures = mean_rows.departures(X, expected)
    departures[np.isnan(X - expected).all(axis=1)] = np.nan
    return departures


def labelled(parts: Iterable[Floats], labels: Labels) -> Iterator[tuple[Floats, Labels]]:
    """Parts of the rows with their labels.

    Examples
    --------
    >>> import numpy as np
    >>> [own.tolist() for _, own in labelled([np.eye(2), np.eye(1)], np.array([5, 6, 7]))]
    [[5, 6], [7]]
    """
    start = 0
    for part in parts:
        yield part, labels[start : start + len(part)]
        start += len(part)


@dataclass(frozen=True)
class Limits:
    """How large departures are: in the middle, and those that one row in a hundred exceeds.

    Parameters
    ----------
    middle, upper : ndarray of shape (n_respects,)
        Of complete rows.
    """

    middle: Floats
    upper: Floats

    @classmethod
    def learn(cls, departures: Floats) -> Limits:
        """Limits from departures (NaN: unknown): counted or, of few rows, guessed.

        Examples
        --------
        >>> import numpy as np
        >>> normal = np.random.default_rng(0).standard_normal((500, 1, 9))
        >>> Limits.learn(np.square(normal).sum(axis=2)).upper.round().tolist()  # in theory 21.7
        [23.0]
        """
        known = departures[~np.isnan(departures).any(axis=1)]
        if not len(known):
            return cls(np.zeros(departures.shape[1]), np.full(departures.shape[1], np.inf))
        respects = max(int(np.count_nonzero(known.max(axis=0))), 1)
        level = 1 - _FALSE_ALARMS / respects
        # The cube root of a sum of squares is close to normal (Wilson and Hilferty 1931).
        roots = np.cbrt(known)
        middle = np.median(roots, axis=0)
        spread = 1.4826 * np.median(np.abs(roots - middle), axis=0)
        guess = (middle + norm.ppf(level) * spread) ** 3
        counted = np.quantile(known, level, axis=0)
        return cls(middle**3, np.maximum(np.maximum(guess, counted), _ROUNDING))

    def distance(self, departures: Floats, seen: Floats) -> Floats:
        """Distance of rows: above one where a limit is passed.

        `seen` is the share of the cells of each row that are not missing. What is
        known of fewer cells scatters more; of a row without any, nothing speaks for it.

        Examples
        --------
        >>> import numpy as np
        >>> limits = Limits(np.array([1.0]), np.array([2.0]))
        >>> limits.distance(np.full((3, 1), 3.0), np.array([1.0, 0.25, 0.0])).tolist()
        [1.5, 1.0, inf]
        """
        wider = 1 / np.sqrt(np.maximum(seen, _TINY))[:, None]
        limits = self.middle + (self.upper - self.middle) * wider
        return np.where(seen > 0, (departures / limits).max(axis=1), np.inf)
