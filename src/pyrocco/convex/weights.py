"""The graphs of convex biclustering: nearest neighbours with Gaussian weights."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import pairwise_distances

from pyrocco._typing import Dense, Floats, Matrix
from pyrocco.graph import Graph
from pyrocco.graph.distances import distances_between_rows
from pyrocco.graph.exact import Neighbors, nearest


def gaussian_knn_graph(
    X: Matrix, n_neighbors: int = 5, phi: float = 0.5, metric: str = "euclidean"
) -> Graph:
    """Connect each row with its nearest neighbours, with Gaussian edge weights.

    Edge weights are exp(-phi d^2 / n_columns), scaled to sum to one and divided by
    sqrt(n_columns), so that the penalties of rows and columns balance for every shape of the
    matrix (Chi, Allen and Baraniuk 2017). Distances between rows with missing values (NaN) are
    computed from the columns that both rows have.
    """
    n_rows, n_columns = X.shape
    if n_rows < 2:
        none = np.empty(0, dtype=np.intp)
        return Graph(n_rows, none, none, np.empty(0))
    neighbors = _nearest(X, min(n_neighbors, n_rows - 1), metric)
    ends = np.repeat(np.arange(n_rows), neighbors.indices.shape[1])
    others = neighbors.indices.ravel()
    known = (others >= 0) & np.isfinite(neighbors.distances.ravel())
    pairs = np.sort(np.column_stack([ends, others])[known], axis=1)
    pairs, first = np.unique(pairs, axis=0, return_index=True)
    squares = neighbors.distances.ravel()[known][first] ** 2
    weights = _gaussian(squares, phi / n_columns) / np.sqrt(n_columns)
    return Graph(n_rows, pairs[:, 0].copy(), pairs[:, 1].copy(), weights)


def _gaussian(squares: Floats, decay: float) -> Floats:
    """Compute exp(-decay squares) divided by its sum; the shift prevents 0 / 0."""
    kernel = np.exp(-decay * (squares - squares.min(initial=np.inf)))
    return np.asarray(kernel / kernel.sum())


def _nearest(X: Matrix, n_neighbors: int, metric: str) -> Neighbors:
    if isinstance(X, np.ndarray) and np.isnan(X).any():
        return _nearest_in_shared_columns(X, n_neighbors, metric)
    return nearest(distances_between_rows(X, metric), n_neighbors)


def _nearest_in_shared_columns(X: Dense, n_neighbors: int, metric: str) -> Neighbors:
    if metric != "euclidean":
        raise ValueError(f"missing values need metric='euclidean'; got {metric!r}.")
    distances = pairwise_distances(X, metric="nan_euclidean")
    np.fill_diagonal(distances, np.nan)
    # NaN (no column in common, or the row itself) sorts last; such pairs are dropped above.
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return Neighbors(order, np.take_along_axis(distances, order, axis=1))
