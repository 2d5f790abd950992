"""Assignment of new rows and columns to the clusters of a fitted model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd
from scipy.stats import norm

from pyrocco._typing import Array, Dense, Floats, Labels, Mask, Matrix, Names
from pyrocco.assign.labels import Assignment, cluster_means, tempered
from pyrocco.assign.profiles import (
    BlockProfiles,
    CountProfiles,
    FeatureProfiles,
    Profiles,
    block_sums,
)
from pyrocco.backends import Backend
from pyrocco.cells.preparation import Preparation
from pyrocco.cells.values import (
    SPARSE_DENSITY,
    is_mostly_zero,
    room_for_sums,
    row_slices,
    to_dense,
)
from pyrocco.fitting.outliers import cell_weights, noise_level
from pyrocco.fitting.repeated_rows import KnownRows, dense_chunks

# Share of rows like those of the fit that may be reported as far from their cluster.
_FALSE_ALARMS = 0.01
# Departures below this share of the matrix are rounding errors.
_ROUNDING = 1e-9
# Largest squared tangent of an angle, for rows that have nothing in common with their cluster.
_OPPOSITE = 1e6
_TINY = np.finfo(float).tiny
# Largest value of new rows, in units of the scale of the fit.
_LARGEST = 1e100


class Predicted(NamedTuple):
    """Cluster of every row, its probability, and the distance: above one is far."""

    labels: Labels
    membership: Floats
    distance: Floats

    def table(self, names: Names | None) -> pd.DataFrame:
        """Return a DataFrame with one row for each predicted row."""
        columns = {
            "label": self.labels,
            "membership": self.membership,
            "distance": self.distance,
            "far": self.distance > 1,
        }
        index = None if names is None else pd.Index(names)
        return pd.DataFrame(columns, index)


@dataclass(frozen=True)
class Predictor:
    """Assigns rows to clusters. Rows of the fit keep the labels that they got there.

    Parameters
    ----------
    profiles : BlockProfiles, CountProfiles or FeatureProfiles
        Compute the probabilities of the clusters.
    mean_rows : MeanRows
        Mean rows of the clusters, from which distances are measured.
    limits : Limits
        Distances that count as far.
    unit : float
        Scale by which new rows are divided.
    cleaner : ExpectedCleaner, NonzeroCleaner or None
        Moves outlier cells, if the fit found any.
    known : KnownRows
        The rows of the fit.
    fitted : pair of ndarray
        Their labels and memberships.
    """

    profiles: Profiles
    mean_rows: MeanRows
    limits: Limits
    unit: float
    cleaner: Cleaner | None
    known: KnownRows
    fitted: tuple[Labels, Floats]

    def predict(self, X: PreparedRows) -> Predicted:
        """Assign the rows of `X`; rows of the fit are recognised before their preparation."""
        with np.errstate(over="ignore"):
            chunks = [
                self._predict_new(_limited(prepared), counts)
                for prepared, counts in X.both_chunks(self.unit)
            ]
        new = Predicted(*(np.concatenate(part) for part in zip(*chunks, strict=True)))
        known = self.known.find(X.X)
        labels = np.where(known >= 0, self.fitted[0][known], new.labels)
        membership = np.where(known >= 0, self.fitted[1][known], new.membership)
        return Predicted(labels, membership, new.distance)

    def probabilities(self, X: PreparedRows) -> Floats:
        """Compute the probability of every cluster for the rows of `X`.

        The largest one is that of the cluster that `predict` assigns.
        """
        with np.errstate(over="ignore"):
            parts = [
                tempered(self._memberships(_clean(_limited(rows), self.cleaner).X, counts))
                for rows, counts in X.both_chunks(self.unit)
            ]
        found, predicted = np.concatenate(parts), self.predict(X)
        return _led_by(found, predicted.labels, predicted.membership)

    def explained(self, X: PreparedRows) -> float:
        """Return the share of the squared deviations from column means that blocks explain."""
        labels, start = self.predict(X).labels, 0
        blocks = self.mean_rows.block_deviations()
        total = rest = 0.0
        for rows in X.dense_chunks(self.unit):
            cleaned = _clean(_limited(rows), self.cleaner).X
            own = labels[start : start + len(rows)]
            deviations = cleaned - self.mean_rows.centre
            total += float(np.nansum(np.square(deviations)))
            rest += float(np.nansum(np.square(deviations - blocks[own][:, self.mean_rows.others])))
            start += len(rows)
        return 1 - rest / total if total > 0 else 0.0

    def _memberships(self, cleaned: Floats, counts: Floats) -> Floats:
        is_counted = isinstance(self.profiles, CountProfiles)
        return self.profiles.memberships(counts if is_counted else cleaned)

    def _predict_new(self, X: Floats, counts: Floats) -> Predicted:
        cleaned, outliers = _clean(X, self.cleaner)
        memberships = self._memberships(cleaned, counts)
        labels = memberships.argmax(axis=1)
        membership = tempered(memberships)[np.arange(len(X)), labels]
        departures = self.mean_rows.departures(cleaned, self.mean_rows.means[labels])
        present = 1 - np.isnan(X).mean(axis=1)
        distance = self.limits.distance(np.column_stack([departures, outliers]), present)
        return Predicted(labels, membership, distance)


@dataclass(frozen=True)
class PreparedRows:
    """The rows of a matrix, which are prepared a few at a time.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The rows as they were given, with NaN for missing values.
    preparation : Preparation
        What is done to them.

    Examples
    --------
    >>> rows = PreparedRows(np.array([[3.0, 0.0]]), Preparation())
    >>> [part.tolist() for part in rows.dense_chunks(2.0)]
    [[[1.5, 0.0]]]
    """

    X: Matrix
    preparation: Preparation

    def dense_chunks(self, unit: float) -> Iterator[Floats]:
        """Yield a few rows at a time, prepared, dense, as float64, divided by `unit`."""
        if not self.preparation.steps:
            yield from dense_chunks(self.X, unit)
            return
        for rows in row_slices((self.X.shape[0], self.X.shape[1])):
            prepared = self.preparation.rows(rows).apply(self.X[rows])
            yield to_dense(prepared).astype(np.float64) / unit

    def count_chunks(self) -> Iterator[Floats]:
        """Yield the same rows with what they count, dense, as float64."""
        return replace(self, preparation=self.preparation.before_counting).dense_chunks(1.0)

    def both_chunks(self, unit: float) -> Iterator[tuple[Floats, Floats]]:
        """Yield a few rows at a time, prepared and with what they count."""
        return zip(self.dense_chunks(unit), self.count_chunks(), strict=True)

    def dense(self) -> Dense:
        """Return all rows as one array, prepared."""
        return to_dense(self.preparation.apply(self.X))

    def is_mostly_zero(self) -> bool:
        """Whether most values are zero after the preparation."""
        if not self.preparation.steps:
            return is_mostly_zero(self.X)
        counts = np.zeros(2)
        for rows in self.dense_chunks(1.0):
            present = ~np.isnan(rows)
            counts += np.count_nonzero(present & (rows != 0)), np.count_nonzero(present)
        return bool(counts[0] < SPARSE_DENSITY * counts[1])


class FittedSide(NamedTuple):
    """The rows of a fit, or its columns as the rows of the transpose.

    `U` is prepared like `X` and divided by the scale; `others` are the labels of the other side.
    """

    X: PreparedRows
    U: Array
    labels: Labels
    membership: Floats
    others: Labels


def learn_predictor(
    side: FittedSide,
    unit: float,
    clusters: Assignment,
    has_outliers: bool,
    backend: Backend,
) -> Predictor:
    """Learn what the rows of every cluster look like, and how far they are from each other.

    Parameters
    ----------
    side : FittedSide
        The rows that were fitted.
    unit : float
        Scale of the prepared data.
    clusters : Assignment
        The clusters of the fit, with the structure of the matrix.
    has_outliers : bool
        Whether the fit found outlier cells.
    backend : Backend
        Where the values are.

    Returns
    -------
    Predictor
    """
    cleaner = _learn_cleaner(side, unit, backend) if has_outliers else None

    def chunks() -> Iterator[Floats]:
        return (_clean(rows, cleaner).X for rows in side.X.dense_chunks(unit))

    profiles: Profiles
    if clusters.counted:
        profiles = CountProfiles.learn(side.X.count_chunks(), side.labels, side.others)
    elif clusters.structure == "blocks":
        profiles = BlockProfiles.learn(chunks(), side.labels, side.others)
    else:
        by_length = not side.X.is_mostly_zero()
        profiles = FeatureProfiles.learn(chunks(), side.U, side.labels, backend, by_length)
    mean_rows, counts = learn_mean_rows(chunks(), side.labels, side.others)
    departures = []
    for rows, labels in _with_labels(side.X.dense_chunks(unit), side.labels):
        cleaned, outliers = _clean(rows, cleaner)
        own = _own_departures(cleaned, labels, mean_rows, counts)
        departures.append(np.column_stack([own, outliers]))
    limits = Limits.learn(np.concatenate(departures))
    fitted = side.labels, side.membership
    return Predictor(profiles, mean_rows, limits, unit, cleaner, KnownRows.of(side.X.X), fitted)


def _led_by(probabilities: Floats, labels: Labels, membership: Floats) -> Floats:
    """Return probabilities of which the largest is that of the label, equal to its membership.

    Rows of the fit keep their labels and memberships, which may be others than a new row would
    get. The other probabilities share what remains, but stay below that of the label.
    """
    rows = np.arange(len(labels))
    others = probabilities.copy()
    others[rows, labels] = 0
    sums = others.sum(axis=1)
    scaled = (
        others * np.divide(1 - membership, sums, out=np.zeros_like(sums), where=sums > 0)[:, None]
    )
    # Where another cluster would lead, the label gets the larger of both probabilities.
    largest = np.maximum(scaled.max(axis=1), probabilities.max(axis=1))
    own = np.where(scaled.max(axis=1) < membership, membership, largest * (1 + 1e-9))
    scaled[rows, labels] = own
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True))


def _limited(X: Floats) -> Floats:
    """Limit values so that their squares are finite; what is beyond is as far as can be."""
    return np.asarray(np.clip(X, -_LARGEST, _LARGEST))


def cluster_row_means(X: Matrix, column_labels: Labels) -> Floats:
    """Compute the mean of every row over the columns of each column cluster, ignoring NaN."""
    means = []
    room = room_for_sums(X, X.shape[1])
    for rows in dense_chunks(X, math.ldexp(1.0, room)):
        sums, counts = block_sums(rows, column_labels)
        means.append(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))
    return np.asarray(np.ldexp(np.concatenate(means), room))


@dataclass(frozen=True)
class MeanRows:
    """The mean row of every cluster.

    Parameters
    ----------
    means : ndarray of shape (n_clusters, n_columns)
        Means of the values that are not missing.
    centre : ndarray of shape (n_columns,)
        Mean of all rows.
    others : ndarray of int
        Cluster of every column.

    Examples
    --------
    >>> rows = MeanRows(np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]), np.array([0, 1]))
    >>> rows.departures(np.array([[5.0, 0.0]]), rows.means[:1]).round(2).tolist()
    [[0.5, 0.5, 0.04]]
    """

    means: Floats
    centre: Floats
    others: Labels

    def block_deviations(self) -> Floats:
        """Compute the mean deviation from the column means of every block.

        Examples
        --------
        >>> rows = MeanRows(np.array([[4.0, 0.0]]), np.array([2.0, 2.0]), np.array([0, 1]))
        >>> rows.block_deviations().tolist()
        [[2.0, -2.0]]
        """
        sums, counts = block_sums(self.means - self.centre, self.others)
        return np.asarray(sums / np.maximum(counts, 1))

    def departures(self, X: Floats, expected: Floats) -> Floats:
        """Measure three kinds of departures of rows from their expected values.

        The columns of the result are the mean square of the deviations; the mean square of
        their means over column clusters, which is large if many small deviations have the same
        sign; and the squared tangent of the angle between the row and its mean row, both
        relative to the mean of all rows.
        """
        deviations = X - expected
        sums, counts = block_sums(deviations, self.others)
        blocks = (np.square(sums) / np.maximum(counts, 1)).sum(axis=1)
        cells = np.nansum(np.square(deviations), axis=1)
        n_cells, n_blocks = counts.sum(axis=1), np.count_nonzero(counts, axis=1)
        squares = cells / np.maximum(n_cells, 1), blocks / np.maximum(n_blocks, 1)
        return np.column_stack([*squares, self._angles(X, expected)])

    def _angles(self, X: Floats, expected: Floats) -> Floats:
        if len(self.means) == 1:  # the mean row is the mean of all rows: no direction
            return np.zeros(len(X))
        row = X - self.centre
        missing = np.isnan(row)
        row = _zero_where(missing, row)
        mean = _zero_where(missing, expected - self.centre)
        lengths = np.einsum("ij,ij->i", row, row)
        along = np.einsum("ij,ij->i", row, mean)
        along /= np.sqrt(np.maximum(np.einsum("ij,ij->i", mean, mean), _TINY))
        towards = np.square(np.maximum(along, 0))
        tangents = (lengths - towards) / np.maximum(towards, lengths / _OPPOSITE + _TINY)
        return np.asarray(np.minimum(tangents, _OPPOSITE))


def learn_mean_rows(
    chunks: Iterable[Floats], labels: Labels, others: Labels
) -> tuple[MeanRows, Floats]:
    """Compute the mean row of every cluster, and the number of values behind every mean.

    Parameters
    ----------
    chunks : iterable of ndarray
        The rows, a few at a time; NaN marks missing values.
    labels, others : ndarray of int
        Clusters of the rows and of the columns.

    Returns
    -------
    pair of MeanRows and ndarray

    Examples
    --------
    >>> X = np.array([[1.0, np.nan], [3.0, 4.0], [9.0, 0.0]])
    >>> rows, counts = learn_mean_rows([X], np.array([0, 0, 1]), np.array([0, 0]))
    >>> rows.means.tolist(), counts.tolist()
    ([[2.0, 4.0], [9.0, 0.0]], [[2.0, 1.0], [1.0, 1.0]])
    """
    shape = int(labels.max()) + 1, len(others)
    sums, counts = np.zeros(shape), np.zeros(shape)
    for rows, own in _with_labels(chunks, labels):
        members = np.eye(shape[0])[own].T
        missing = np.isnan(rows)
        sums += members @ _zero_where(missing, rows)
        counts += members @ ~missing if missing.any() else members.sum(axis=1)[:, None]
    centre = sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), centre)
    return MeanRows(means, centre, others), counts


def _own_departures(X: Floats, labels: Labels, mean_rows: MeanRows, counts: Floats) -> Floats:
    """Departures from the means of the other rows of the same cluster; NaN without others."""
    counts = counts[labels]
    missing, alone = np.isnan(X), counts <= 1
    expected = counts * mean_rows.means[labels] - _zero_where(missing, X)
    expected /= np.maximum(counts - 1, 1)
    # There is no expectation for a column in which no other row has a value.
    expected[alone] = np.nan
    departures = mean_rows.departures(X, expected)
    departures[(missing | alone).all(axis=1)] = np.nan
    return departures


def _zero_where(missing: Mask, X: Floats) -> Floats:
    """Replace missing values by zero; without any, the array itself is returned."""
    return np.where(missing, 0, X) if missing.any() else X


def _with_labels(chunks: Iterable[Floats], labels: Labels) -> Iterator[tuple[Floats, Labels]]:
    start = 0
    for rows in chunks:
        yield rows, labels[start : start + len(rows)]
        start += len(rows)


@dataclass(frozen=True)
class Limits:
    """Typical departures of rows, and limits that one row in a hundred exceeds.

    Parameters
    ----------
    middle, upper : ndarray of shape (n_kinds,)
        Medians and limits, for complete rows.
    """

    middle: Floats
    upper: Floats

    @classmethod
    def learn(cls, departures: Floats) -> Limits:
        """Estimate limits from departures; NaN marks unknown ones.

        The limit is the larger one of a quantile and, for few rows, an extrapolation.

        Examples
        --------
        >>> normal = np.random.default_rng(0).standard_normal((500, 1, 9))
        >>> Limits.learn(np.square(normal).sum(axis=2)).upper.round().tolist()  # in theory 21.7
        [23.0]
        """
        known = departures[~np.isnan(departures).any(axis=1)]
        if not len(known):
            return cls(np.zeros(departures.shape[1]), np.full(departures.shape[1], np.inf))
        n_kinds = max(int(np.count_nonzero(known.max(axis=0))), 1)
        level = 1 - _FALSE_ALARMS / n_kinds
        # The cube root of a sum of squares is close to normal (Wilson and Hilferty 1931).
        roots = np.cbrt(known)
        middle = np.median(roots, axis=0)
        spread = 1.4826 * np.median(np.abs(roots - middle), axis=0)
        extrapolated = (middle + norm.ppf(level) * spread) ** 3
        quantile = np.quantile(known, level, axis=0)
        return cls(middle**3, np.maximum(np.maximum(extrapolated, quantile), _ROUNDING))

    def distance(self, departures: Floats, present: Floats) -> Floats:
        """Return distances of rows: above one if any departure exceeds its limit.

        `present` is the share of values of each row that are not missing. Departures computed
        from fewer values vary more; a row without any value is infinitely far.

        Examples
        --------
        >>> limits = Limits(np.array([1.0]), np.array([2.0]))
        >>> limits.distance(np.full((3, 1), 3.0), np.array([1.0, 0.25, 0.0])).tolist()
        [1.5, 1.0, inf]
        """
        wider = 1 / np.sqrt(np.maximum(present, _TINY))[:, None]
        limits = self.middle + (self.upper - self.middle) * wider
        return np.where(present > 0, (departures / limits).max(axis=1), np.inf)


class Cleaned(NamedTuple):
    """Rows with outlier cells moved, and the share of each row that consists of them."""

    X: Floats
    outliers: Floats


class Cleaner(Protocol):
    """Moves the outlier cells of new rows, as `fit` does for its own. NaN stays NaN."""

    def clean(self, X: Floats) -> Cleaned:
        """Move outlier cells towards their expected values."""


@dataclass(frozen=True)
class ExpectedCleaner:
    """Moves outlier cells towards the profile of the cluster that most of their row fits.

    Parameters
    ----------
    profiles : ndarray of shape (n_clusters, n_columns)
        Expected rows of every cluster.
    noise : float
        Standard deviation of the noise.

    Examples
    --------
    >>> cleaner = ExpectedCleaner(np.array([[0.0, 0.0, 0.0], [5.0, 5.0, 5.0]]), 1.0)
    >>> cleaned = cleaner.clean(np.array([[5.0, 6.0, -900.0]]))
    >>> cleaned.X.round(1).tolist(), cleaned.outliers.round(2).tolist()
    ([[5.0, 5.9, 5.0]], [0.37])
    """

    profiles: Floats
    noise: float

    def clean(self, X: Floats) -> Cleaned:
        """Move outlier cells towards their expected values."""
        nearest = np.argmin([self._losses(X, profile) for profile in self.profiles], axis=0)
        expected = self.profiles[nearest]
        weights = cell_weights(X - expected, self.noise)
        return Cleaned(expected + weights * (X - expected), _mean_of_present(1 - weights))

    def _losses(self, X: Floats, profile: Floats) -> Floats:
        """Geman-McClure loss, which no single cell can make large."""
        return _mean_of_present(1 - np.sqrt(cell_weights(X - profile, self.noise)))


@dataclass(frozen=True)
class NonzeroCleaner:
    """Moves nonzero outlier cells of mostly-zero rows towards the usual size of such cells.

    Parameters
    ----------
    usual : float
        Median absolute value of nonzero cells.
    noise : float
        Standard deviation around it.

    Examples
    --------
    >>> NonzeroCleaner(1.5, 0.5).clean(np.array([[0.0, 1.0, 900.0]])).X.round(1).tolist()
    [[0.0, 1.1, 1.5]]
    """

    usual: float
    noise: float

    def clean(self, X: Floats) -> Cleaned:
        """Move outlier cells towards their expected values."""
        expected = self.usual * np.sign(X)
        weights = np.where(X == 0, 1.0, cell_weights(X - expected, self.noise))
        return Cleaned(expected + weights * (X - expected), _mean_of_present(1 - weights))


def _learn_cleaner(side: FittedSide, unit: float, backend: Backend) -> Cleaner:
    """Learn how to clean rows like those of a fit with outlier cells."""
    X = side.X.dense() / unit
    if is_mostly_zero(X):
        values = np.asarray(X[X != 0], dtype=np.float64)
        usual = float(np.nanmedian(np.abs(values)))
        return NonzeroCleaner(usual, noise_level(values - usual * np.sign(values)))
    n_clusters = int(side.labels.max()) + 1
    profiles = cluster_means(backend.to_numpy(side.U), side.labels, n_clusters).astype(np.float64)
    return ExpectedCleaner(profiles, noise_level(X - profiles[side.labels]))


def _clean(X: Floats, cleaner: Cleaner | None) -> Cleaned:
    return Cleaned(X, np.zeros(len(X))) if cleaner is None else cleaner.clean(X)


def _mean_of_present(X: Floats) -> Floats:
    """Mean of the values of every row that are not missing, or zero if all are."""
    counts = np.maximum(np.count_nonzero(~np.isnan(X), axis=1), 1)
    return np.asarray(np.nansum(X, axis=1) / counts)
