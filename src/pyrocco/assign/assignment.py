"""Labels of both sides, how sure they are, and how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.base import Assigner, relabel
from pyrocco.assign.confidence import distance_confidence
from pyrocco.assign.features import leading_features
from pyrocco.backends import Backend

Numbers = tuple[int | None, int | None]


@dataclass(frozen=True)
class Assignment:
    """Labels of the rows and of the columns.

    Parameters
    ----------
    row_labels, column_labels : ndarray of int
        Clusters, largest first.
    row_confidence, column_confidence : ndarray of float
        How sure every label is, from 0 to 1.
    reading : {"blocks", "gradient", "features"}
        What the matrix was taken for (see `pyrocco.assign.reading`).
    contaminated : bool
        Whether some cells are off by far more than the noise of the rest.
    """

    row_labels: NDArray[np.intp]
    column_labels: NDArray[np.intp]
    row_confidence: NDArray[np.float64]
    column_confidence: NDArray[np.float64]
    reading: str = "features"
    contaminated: bool = False


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
        turned = self.backend.transpose(U)
        labels = [
            relabel(self.assigner.assign(side, number))
            for side, number in zip((U, turned), numbers, strict=True)
        ]
        sure = [
            distance_confidence(leading_features(side, backend=self.backend), found)
            for side, found in zip((U, turned), labels, strict=True)
        ]
        return Assignment(labels[0], labels[1], sure[0], sure[1])
