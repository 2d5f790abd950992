"""How well a partition fits a neighbour graph: Newman's modularity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.kernels.partition import edges_inside


class NeighborhoodGraph:
    """Each row with its nearest tenth of the rows (at least five), without weights.

    So wide a neighbourhood sees clusters, not the grain within them.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        Rows, a few thousand at most.

    Examples
    --------
    >>> import numpy as np
    >>> graph = NeighborhoodGraph(np.repeat([[0.0], [9.0]], 6, axis=0))
    >>> graph.modularity(np.repeat([0, 1], 6))
    0.5
    """

    def __init__(self, features: NDArray[Any]):
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
        self._degrees = np.diff(either.indptr)

    def modularity(self, labels: NDArray[np.intp]) -> float:
        """Share of edges inside clusters beyond that of random edges of the same degrees."""
        total = self._degrees.sum()
        inside = edges_inside(self._indptr, self._indices, labels) / total
        shares = np.bincount(labels, self._degrees) / total
        return float(inside - shares @ shares)
