"""Labels of both sides, how sure they are, and how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.base import Assigner, first_places, relabel
from pyrocco.assign.confidence import distance_members
from pyrocco.assign.features import leading_features
from pyrocco.assign.odds import tempered
from pyrocco.backends import Backend, over_rows

Numbers = tuple[int | None, int | None]


@dataclass(frozen=True)
class SideLabels:
    """Labels of one side.

    Parameters
    ----------
    labels : ndarray of int
        Clusters, largest first.
    confidence : ndarray of float
        Probability of every label.
    stability : ndarray of float
        For each cluster, what it would have in common with itself were all labels drawn anew
        from their probabilities: the expected size of the intersection over that of the union.
    """

    labels: NDArray[np.intp]
    confidence: NDArray[np.float64]
    stability: NDArray[np.float64]

    @classmethod
    def judge(cls, labels: NDArray[np.intp], members: Any) -> SideLabels:
        """Number the clusters by size and judge them by the probabilities of memberships.

        The probabilities are tempered, since the models they come from are too sure.

        Examples
        --------
        >>> import numpy as np
        >>> members = np.array([[0.999, 0.001], [0.001, 0.999], [0.0, 1.0]])
        >>> side = SideLabels.judge(np.array([0, 1, 1]), members)
        >>> side.labels.tolist(), side.confidence.round(2).tolist()
        ([1, 0, 0], [0.91, 0.91, 1.0])
        >>> side.stability.round(2).tolist()
        [0.91, 0.83]
        """
        numbered = relabel(labels)
        weigh = partial(_own_and_all, order=labels[first_places(numbered)])
        own, everyone = zip(*over_rows(weigh, members, numbered), strict=True)
        confidence = np.concatenate(own)
        inside = np.bincount(numbered, confidence)
        union = np.bincount(numbered) + sum(everyone) - inside
        return cls(numbered, confidence, inside / union)


@dataclass(frozen=True)
class Assignment:
    """Labels of the rows and of the columns.

    Parameters
    ----------
    rows, columns : SideLabels
        Labels and how sure they are.
    reading : {"blocks", "gradient", "features"}
        What the matrix was taken for (see `pyrocco.assign.reading`).
    contaminated : bool
        Whether some cells are off by far more than the noise of the rest.
    """

    rows: SideLabels
    columns: SideLabels
    reading: str = "features"
    contaminated: bool = False

    @property
    def row_labels(self) -> NDArray[np.intp]:
        """Clusters of the rows."""
        return self.rows.labels

    @property
    def column_labels(self) -> NDArray[np.intp]:
        """Clusters of the columns."""
        return self.columns.labels


class JointAssigner(Protocol):
    """Turns data and representation into labels of both sides."""

    def assign(self, X: Any, U: Any, numbers: Numbers) -> Assignment:
        """Label rows and columns; `X` and `U` live on the back end."""


class EachSide:
    """An `Assigner` applied to the rows of U, then to its columns.

    Parameters
    ----------
    assigner : Assigner
        Labels the rows of a matrix.
    backend : Backend
        Where the representation lives.
    """

    def __init__(self, assigner: Assigner, backend: Backend):
        self.assigner = assigner
        self.backend = backend

    def assign(self, X: Any, U: Any, numbers: Numbers) -> Assignment:
        """Label both sides of `U`."""
        rows = self._side(U, numbers[0])
        return Assignment(rows, self._side(self.backend.transpose(U), numbers[1]))

    def _side(self, U: Any, number: int | None) -> SideLabels:
        labels = relabel(self.assigner.assign(U, number))
        features = leading_features(U, backend=self.backend)
        return SideLabels.judge(labels, distance_members(features, labels))


def _own_and_all(
    members: NDArray[np.float64], labels: NDArray[np.intp], order: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probability of every row's own cluster, and the sum of each cluster over all rows."""
    sure = tempered(members[:, order])
    return sure[np.arange(len(labels)), labels], sure.sum(axis=0)
