"""How sure a label is, from the distances to the clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.lloyd import cluster_means
from pyrocco.assign.odds import probabilities_of
from pyrocco.backends import map_rows, over_rows


@dataclass(frozen=True)
class RoundClusters:
    """Clusters as round clouds of equal width around their centres.

    Parameters
    ----------
    centres : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    width : float
        Variance along each of the directions that count; zero where rows are their centres.
    sizes : ndarray of shape (n_clusters,)
        Rows in every cluster.

    Examples
    --------
    >>> import numpy as np
    >>> features, labels = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> RoundClusters.around(features, labels).members(np.array([[2.5], [9.0]])).round(2)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    centres: NDArray[np.float64]
    width: float
    sizes: NDArray[np.intp]

    @classmethod
    def around(cls, features: Any, labels: NDArray[np.intp]) -> RoundClusters:
        """Clusters of labelled rows."""
        k = int(labels.max()) + 1
        centres = cluster_means(features, labels, k).astype(np.float64)
        clusters = cls(centres, 0.0, np.bincount(labels, minlength=k))
        squares, scatters = zip(*over_rows(clusters.scatter, features, labels), strict=True)
        # Features are not equally noisy: only so many of them count.
        width = float(sum(squares)) / len(labels) / _effective_dimension(sum(scatters))
        return replace(clusters, width=width)

    def scatter(
        self, features: NDArray[Any], labels: NDArray[np.intp]
    ) -> tuple[float, NDArray[np.float64]]:
        """Squared distances of rows from their centres, summed, and their scatter matrix."""
        own = self.squares(features)[np.arange(len(labels)), labels]
        spread = features.astype(np.float64) - self.centres[labels]
        return float(own.sum()), spread.T @ spread

    def squares(self, features: NDArray[Any]) -> NDArray[np.float64]:
        """Squared distance of every row from every centre."""
        products = np.asarray(features @ self.centres.T, np.float64)
        squares = np.square(self.centres).sum(axis=1) - 2 * products
        squares += np.square(features).sum(axis=1, dtype=np.float64)[:, None]
        return np.asarray(np.maximum(squares, 0))

    def members(self, features: NDArray[Any]) -> NDArray[np.float64]:
        """Probability of every cluster for every row; the nearest where there is no width."""
        squares = self.squares(features)
        if self.width <= 0:
            return np.asarray(np.eye(len(self.centres))[squares.argmin(axis=1)])
        scores = -0.5 * squares / self.width + np.log(np.maximum(self.sizes, 1e-300))
        return probabilities_of(scores)


def distance_members(features: Any, labels: NDArray[np.intp]) -> Any:
    """Probability of every cluster for every row, were all clusters round and equally wide.

    Parameters
    ----------
    features : ndarray or ChunkedMatrix of shape (n_rows, n_features)
        What the rows were clustered by.
    labels : ndarray of int
        Their clusters, 0..K-1.

    Returns
    -------
    ndarray or ChunkedMatrix of shape (n_rows, K)
        Rows add up to one.

    Examples
    --------
    >>> import numpy as np
    >>> distance_members(np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])).argmax(1)
    array([0, 0, 1, 1])
    """
    clusters = RoundClusters.around(features, labels)
    if clusters.width <= 0:
        return np.asarray(np.eye(len(clusters.centres))[labels])
    return map_rows(clusters.members, features)


def _effective_dimension(scatter: NDArray[np.float64]) -> float:
    """Number of equally noisy directions that would scatter like the rows in their clusters."""
    power = float(np.square(scatter).sum())
    return float(np.trace(scatter)) ** 2 / power if power > 0 else 1.0
