"""Where a row belongs among the clusters of a fit, how surely, and whether anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.labels import tempered
from pyrocco.assign.profiles import BlockProfiles, FeatureProfiles, Profiles
from pyrocco.backends import Backend
from pyrocco.estimators.checks import is_mostly_zero
from pyrocco.estimators.chunks import dense_parts
from pyrocco.estimators.cleaning import Cleaned, Cleaner
from pyrocco.estimators.departures import (
    Limits,
    MeanRows,
    labelled,
    learn_mean_rows,
    own_departures,
)
from pyrocco.estimators.recognition import SeenRows

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class Placed(NamedTuple):
    """Cluster of every row, the probability of it, and the distance: far where above one."""

    labels: Labels
    confidence: Floats
    distance: Floats


@dataclass(frozen=True)
class Placer:
    """Places rows, those of the fit where the fit put them.

    Parameters
    ----------
    profiles : Profiles
        Tells clusters apart.
    mean_rows : MeanRows
        Tells how far rows are from their cluster.
    limits : Limits
        How far is too far.
    unit : float
        What one is to the profiles, in the units of X.
    cleaner : Cleaner or None
        Draws in wild cells, where the fit distrusted some.
    seen : SeenRows
        The rows of the fit.
    fitted : pair of ndarray
        Their labels and confidence.
    """

    profiles: Profiles
    mean_rows: MeanRows
    limits: Limits
    unit: float
    cleaner: Cleaner | None
    seen: SeenRows
    fitted: tuple[Labels, Floats]

    def place(self, X: Any) -> Placed:
        """Place the rows of `X`, dense with NaN for missing cells, or CSR."""
        parts = [self._place_new(part) for part in dense_parts(X, self.unit)]
        new = Placed(*(np.concatenate(each) for each in zip(*parts, strict=True)))
        found = self.seen.find(X)
        labels, confidence = (
            np.where(found >= 0, known[found], guess)
            for known, guess in zip(self.fitted, new, strict=False)
        )
        return Placed(labels, confidence, new.distance)

    def _place_new(self, X: Floats) -> Placed:
        cleaned, distrust = _clean(X, self.cleaner)
        members = self.profiles.memberships(cleaned)
        labels = members.argmax(axis=1)
        confidence = tempered(members)[np.arange(len(X)), labels]
        departures = self.mean_rows.departures(cleaned, self.mean_rows.means[labels])
        seen = 1 - np.isnan(X).mean(axis=1)
        distance = self.limits.distance(np.column_stack([departures, distrust]), seen)
        return Placed(labels, confidence, distance)


class Side(NamedTuple):
    """What a fit knows of its rows, or of its columns as the rows of the transpose."""

    X: Any
    U: Any
    labels: Labels
    confidence: Floats
    others: Labels


def learn_placer(
    side: Side, unit: float, reading: str, cleaner: Cleaner | None, backend: Backend
) -> Placer:
    """Learn what rows of every cluster look like and how far from it they are.

    Parameters
    ----------
    side : Side
        Data as given, representation over `unit`, and labels.
    unit : float
        Unit of the profiles.
    reading : str
        What the matrix was taken for.
    cleaner : Cleaner or None
        Draws in wild cells, where the fit distrusted some.
    backend : Backend
        Where the representation lives.

    Returns
    -------
    Placer
    """

    def parts() -> Iterator[Floats]:
        return (_clean(part, cleaner).X for part in dense_parts(side.X, unit))

    profiles: BlockProfiles | FeatureProfiles
    if reading == "blocks":
        profiles = BlockProfiles.learn(parts(), side.labels, side.others)
    else:
        by_length = not is_mostly_zero(side.X)
        profiles = FeatureProfiles.learn(parts(), side.U, side.labels, backend, by_length)
    mean_rows, counts = learn_mean_rows(parts(), side.labels, side.others)
    departures = []
    for part, own in labelled(dense_parts(side.X, unit), side.labels):
        cleaned, distrust = _clean(part, cleaner)
        found = own_departures(cleaned, own, mean_rows, counts)
        departures.append(np.column_stack([found, distrust]))
    limits = Limits.learn(np.concatenate(departures))
    fitted = side.labels, side.confidence
    return Placer(profiles, mean_rows, limits, unit, cleaner, SeenRows.of(side.X), fitted)


def _clean(X: Floats, cleaner: Cleaner | None) -> Cleaned:
    return Cleaned(X, np.zeros(len(X))) if cleaner is None else cleaner.clean(X)
