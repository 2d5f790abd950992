"""How sure a label is, from the distances to the clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.lloyd import cluster_means


def distance_members(features: NDArray[Any], labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Probability of every cluster for every row, were all clusters round and equally wide.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        What the rows were clustered by.
    labels : ndarray of int
        Their clusters, 0..K-1.

    Returns
    -------
    ndarray of shape (n_rows, K)
        Rows add up to one.

    Examples
    --------
    >>> import numpy as np
    >>> distance_members(np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])).argmax(1)
    array([0, 0, 1, 1])
    """
    k = int(labels.max()) + 1
    centres = cluster_means(features, labels, k).astype(np.float64)
    squares = np.square(centres).sum(axis=1) - 2 * np.asarray(features @ centres.T, np.float64)
    squares += np.square(features).sum(axis=1, dtype=np.float64)[:, None]
    own = np.maximum(squares[np.arange(len(labels)), labels], 0)
    # Features are not equally noisy: only so many of them count.
    width = float(own.mean()) / _effective_dimension(features, centres, labels)
    if k == 1 or width <= 0:
        return np.asarray(np.eye(k)[labels])
    sizes = np.bincount(labels, minlength=k)
    scores = -0.5 * squares / width + np.log(np.maximum(sizes, 1e-300))
    scores -= scores.max(axis=1, keepdims=True)
    odds = np.exp(scores)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _effective_dimension(
    features: NDArray[Any], centres: NDArray[np.float64], labels: NDArray[np.intp]
) -> float:
    """Number of equally noisy directions that would scatter like the rows in their clusters."""
    spread = features.astype(np.float64) - centres[labels]
    scatter = spread.T @ spread
    power = float(np.square(scatter).sum())
    return float(np.trace(scatter)) ** 2 / power if power > 0 else 1.0
