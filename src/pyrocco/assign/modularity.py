"""How well a partition fits a neighbour graph: Newman's modularity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.kernels.partition import links_between


class NeighborhoodGraph:
    """Each row with its nearest tenth of the rows (at least five), without weights.

    So wide a neighbourhood sees clusters, not the grain within them.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        Rows, a few thousand at most.
    resolution : float
        Weight of the links expected by chance: clusters with more links between them than
        this times the expected number are better merged.

    Examples
    --------
    >>> import numpy as np
    >>> graph = NeighborhoodGraph(np.repeat([[0.0], [9.0]], 6, axis=0))
    >>> links = graph.links(np.repeat([0, 1], 6))
    >>> links.tolist(), graph.modularity(links)
    ([[0.5, 0.0], [0.0, 0.5]], 0.5)
    """

    def __init__(self, features: NDArray[Any], resolution: float = 1.0):
        self.resolution = resolution
        n_rows = len(features)
        k = min(max(5, n_rows // 10), n_rows - 1)
        squares = np.einsum("ij,ij->i", features, features)
        distances = squares - 2 * (features @ features.T)
        np.fill_diagonal(distances, np.inf)
        near = np.argpartition(distances, k - 1, axis=1)[:, :k].ravel()
        shape = (n_rows, n_rows)
        named = sparse.csr_array(
            (np.ones(near.size), near, np.arange(n_rows + 1) * k), shape=shape
        )
        either = (named + named.T).tocsr()
        self._indptr, self._indices = either.indptr, either.indices

    def links(self, labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Share of the links between every two clusters."""
        counts = links_between(self._indptr, self._indices, labels, int(labels.max()) + 1)
        return np.asarray(counts / counts.sum())

    def modularity(self, links: NDArray[np.float64]) -> float:
        """Share of links inside clusters beyond that of random links of the same degrees."""
        degrees = links.sum(axis=0)
        return float(np.trace(links) - self.resolution * degrees @ degrees)

    def best_merge(self, links: NDArray[np.float64]) -> tuple[int, int]:
        """Return the two clusters whose merging leaves the most modularity."""
        degrees = links.sum(axis=0)
        gains = links - self.resolution * np.outer(degrees, degrees)
        gains[np.diag_indices(len(gains))] = -np.inf
        first, second = divmod(int(gains.argmax()), len(gains))
        return min(first, second), max(first, second)
