"""The default assignment: k-means on leading features, K by modularity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.base import relabel
from pyrocco.assign.features import leading_features
from pyrocco.assign.lloyd import cluster_means, lloyd
from pyrocco.assign.modularity import NeighborhoodGraph
from pyrocco.assign.ward import WardTree
from pyrocco.backends import Backend, NumpyBackend

_FEW = 5


class ModularityKMeans:
    """k-means on `leading_features`, started from Ward's tree, K by modularity.

    Nothing here is drawn at random but the rows of a sample when there are very many, and
    these are drawn from rows in the order of their features: permuting the rows of a
    matrix permutes its labels.

    Parameters
    ----------
    max_clusters : int
        Largest K tried.
    sample_size : int
        Rows on which the tree is grown and K is chosen.
    random_state : RandomState
        Draws the sample.
    backend : Backend, optional
        Where the representation lives; NumPy unless given.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.kron(np.eye(3), np.ones((8, 4))) + np.random.default_rng(0).random((24, 12)) / 9
    >>> np.bincount(ModularityKMeans().assign(rows, None)).tolist()
    [8, 8, 8]
    """

    def __init__(
        self,
        max_clusters: int = 20,
        sample_size: int = 1000,
        random_state: np.random.RandomState | None = None,
        backend: Backend | None = None,
    ):
        self.max_clusters = max_clusters
        self.sample_size = sample_size
        self.random_state = random_state or np.random.RandomState(0)
        self.backend = backend or NumpyBackend()

    def assign(self, U: Any, n_clusters: int | None) -> NDArray[np.intp]:
        """Label the rows of `U`."""
        if len(U) < 2 or n_clusters == 1:
            return np.zeros(len(U), dtype=np.intp)
        features = leading_features(U, backend=self.backend)
        order = np.argsort(features[:, 0])
        sample = features[order[self._sample(len(U))]]
        tree = WardTree(sample)
        k = n_clusters or self._choose(sample, tree)
        if k == 1:
            return np.zeros(len(U), dtype=np.intp)
        centres = cluster_means(sample, tree.cut(k), k)
        return relabel(lloyd(features, centres, backend=self.backend))

    def _sample(self, n_rows: int) -> NDArray[np.intp]:
        if n_rows <= self.sample_size:
            return np.arange(n_rows)
        return np.sort(self.random_state.choice(n_rows, self.sample_size, replace=False))

    def _choose(self, sample: NDArray[Any], tree: WardTree) -> int:
        """The K of largest modularity; one cluster, of modularity 0, if none is above."""
        graph = NeighborhoodGraph(sample)
        best, best_k = 0.0, 1
        for k in range(2, min(self.max_clusters, len(sample) - 1) + 1):
            # A few iterations tell as much about K as many.
            labels = lloyd(sample, cluster_means(sample, tree.cut(k), k), max_iter=_FEW)
            value = graph.modularity(labels)
            if value > best:
                best, best_k = value, k
        return best_k
