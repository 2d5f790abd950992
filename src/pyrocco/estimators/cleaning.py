"""Wild cells of new rows, drawn to what is expected there as `fit` draws those it has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.labels import cluster_means
from pyrocco.estimators.checks import is_mostly_zero
from pyrocco.estimators.trust import cell_trust

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class Cleaned(NamedTuple):
    """Rows with wild cells drawn in, and the share of each row that was distrusted."""

    X: Floats
    distrust: Floats


class Cleaner(Protocol):
    """Cleans rows, whose missing cells are NaN and stay so."""

    def clean(self, X: Floats) -> Cleaned:
        """Draw wild cells in."""


@dataclass(frozen=True)
class DenseCleaner:
    """Draws cells to the profile of the cluster that most cells of their row agree with.

    Parameters
    ----------
    profiles : ndarray of shape (n_clusters, n_columns)
        What is expected of the rows of every cluster.
    noise : float
        Standard deviation of the noise that most cells have.

    Examples
    --------
    >>> import numpy as np
    >>> cleaner = DenseCleaner(np.array([[0.0, 0.0, 0.0], [5.0, 5.0, 5.0]]), 1.0)
    >>> cleaned = cleaner.clean(np.array([[5.0, 6.0, -900.0]]))
    >>> cleaned.X.round(1).tolist(), cleaned.distrust.round(2).tolist()
    ([[5.0, 5.9, 5.0]], [0.37])
    """

    profiles: Floats
    noise: float

    def clean(self, X: Floats) -> Cleaned:
        """Draw wild cells in."""
        nearest = np.argmin([self._losses(X, profile) for profile in self.profiles], axis=0)
        expected = self.profiles[nearest]
        trust = cell_trust(X - expected, self.noise)
        cleaned = expected + trust * (X - expected)
        return Cleaned(cleaned, _mean_of_seen(1 - trust))

    def _losses(self, X: Floats, profile: Floats) -> Floats:
        """Geman and McClure's loss, which no single cell can make large."""
        return _mean_of_seen(1 - np.sqrt(cell_trust(X - profile, self.noise)))


@dataclass(frozen=True)
class FilledCleaner:
    """Draws the filled cells of mostly empty rows to the usual size of such cells.

    Parameters
    ----------
    usual : float
        Median size of a filled cell.
    noise : float
        Standard deviation around it of most of them.

    Examples
    --------
    >>> import numpy as np
    >>> FilledCleaner(1.5, 0.5).clean(np.array([[0.0, 1.0, 900.0]])).X.round(1).tolist()
    [[0.0, 1.1, 1.5]]
    """

    usual: float
    noise: float

    def clean(self, X: Floats) -> Cleaned:
        """Draw wild cells in."""
        expected = self.usual * np.sign(X)
        trust = np.where(X == 0, 1.0, cell_trust(X - expected, self.noise))
        return Cleaned(expected + trust * (X - expected), _mean_of_seen(1 - trust))


def learn_cleaner(X: NDArray[Any], U: NDArray[Any], labels: Labels) -> Cleaner:
    """Learn how to clean rows like those of a matrix that has wild cells.

    Parameters
    ----------
    X, U : ndarray
        The data, wild cells and all, and the representation.
    labels : ndarray of int
        Clusters of the rows.

    Returns
    -------
    Cleaner

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0], [900.0, 1.0]])
    >>> cleaner = learn_cleaner(X, np.ones((4, 2)), np.zeros(4, dtype=int))
    >>> cleaner.clean(X).X.round(1).tolist()
    [[1.0, 1.8], [0.2, 1.0], [1.0, 0.2], [1.0, 1.0]]
    """
    if is_mostly_zero(X):
        filled = np.asarray(X[X != 0], dtype=np.float64)
        usual = float(np.nanmedian(np.abs(filled)))
        return FilledCleaner(usual, _noise(filled - usual * np.sign(filled)))
    profiles = cluster_means(U, labels, int(labels.max()) + 1).astype(np.float64)
    return DenseCleaner(profiles, _noise(X - profiles[labels]))


def _noise(residual: NDArray[Any]) -> float:
    """Standard deviation of the noise that most cells have."""
    return 1.4826 * float(np.nanmedian(np.abs(residual)))


def _mean_of_seen(X: Floats) -> Floats:
    """Mean of the cells of every row that are not missing, zero where all are."""
    seen = np.maximum(np.count_nonzero(~np.isnan(X), axis=1), 1)
    return np.asarray(np.nansum(X, axis=1) / seen)
