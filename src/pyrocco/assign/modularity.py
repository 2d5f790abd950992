"""How well a partition fits a neighbour graph: Newman's modularity."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.kernels.clusters import merge_path


class Step(NamedTuple):
    """A partition and its modularity.

    Modularity is the share of links inside clusters beyond that of random links of the
    same degrees.
    """

    modularity: float
    labels: NDArray[np.intp]


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
    n_neighbors : int, optional
        Neighbours of every row, if not a tenth of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.repeat([[0.0], [9.0]], 6, axis=0)
    >>> path = NeighborhoodGraph(rows).merge_path(np.repeat([0, 0, 1, 1], 3))
    >>> [(int(step.labels.max()) + 1, step.modularity) for step in path]
    [(2, 0.5), (1, 0.0)]
    """

    def __init__(
        self, features: NDArray[Any], resolution: float = 1.0, n_neighbors: int | None = None
    ):
        self.resolution = resolution
        self._rows = np.ascontiguousarray(features)
        n_rows = len(features)
        k = min(n_neighbors or max(5, n_rows // 10), n_rows - 1)
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

    def contact(self, apart: NDArray[np.bool_]) -> float:
        """Links between two parts of the rows over those of random links of the same degrees.

        Parameters
        ----------
        apart : ndarray of bool
            True for the rows of one part.

        Returns
        -------
        float
            0 where no link joins the parts, about 1 where they are mixed.
        """
        degrees = np.diff(self._indptr)
        between = np.count_nonzero(np.repeat(apart, degrees) & ~apart[self._indices])
        one, both = float(degrees[apart].sum()), float(degrees.sum())
        return between * both / (one * (both - one))

    def merge_path(self, labels: NDArray[np.intp], rounds: int = 5) -> list[Step]:
        """Merge clusters, k-means settling them in between, until one is left.

        Parameters
        ----------
        labels : ndarray of int
            Clusters to start from, 0..K-1.
        rounds : int
            Iterations of k-means after each merge.

        Returns
        -------
        list of Step
            From the start to one cluster.
        """
        path, modularities = merge_path(
            self._rows, self._indptr, self._indices, labels, self.resolution, rounds
        )
        return [Step(float(m), step) for m, step in zip(modularities, path, strict=True)]
