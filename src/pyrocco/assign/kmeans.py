"""The paper's assignment for sparse input: k-means, K by the silhouette."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from pyrocco.assign.base import relabel
from pyrocco.assign.silhouette import silhouettes
from pyrocco.backends import Backend, NumpyBackend


class SilhouetteKMeans:
    """k-means on the rows as they are, with the K of 2..20 that has the best silhouette.

    Parameters
    ----------
    random_state : int or RandomState
        Seeds k-means.
    max_clusters : int
        Largest K tried.
    sample_size : int
        Rows on which the silhouette is computed; all of them when there are fewer.
    backend : Backend, optional
        Where the representation lives; NumPy unless given.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.repeat([[0.0, 0.0], [9.0, 9.0]], 5, axis=0) + np.arange(10)[:, None] / 10
    >>> SilhouetteKMeans(random_state=0).assign(rows, None).tolist()
    [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    """

    def __init__(
        self,
        random_state: Any = 0,
        max_clusters: int = 20,
        sample_size: int = 20_000,
        backend: Backend | None = None,
    ):
        self.random_state = random_state
        self.max_clusters = max_clusters
        self.sample_size = sample_size
        self.backend = backend or NumpyBackend()

    def assign(self, U: Any, n_clusters: int | None) -> NDArray[np.intp]:
        """Label the rows of `U`; scikit-learn's k-means, so in main memory."""
        U = self.backend.to_numpy(U)
        n_distinct = _n_distinct(U)
        U = _narrowed(U)
        if n_clusters is not None:
            return self._kmeans(U, min(n_clusters, n_distinct))
        # A silhouette needs a cluster more than one and a row more than clusters.
        top = min(self.max_clusters, n_distinct, len(U) - 1)
        tried = [self._kmeans(U, k) for k in range(2, top + 1)]
        if not tried:
            return np.zeros(len(U), dtype=np.intp)
        values = silhouettes(U, tried, self.sample_size)
        # Clusters of which the sample has only one tell nothing apart.
        return tried[int(np.nan_to_num(values, nan=-1.0).argmax())]

    def _kmeans(self, U: NDArray[Any], k: int) -> NDArray[np.intp]:
        model = KMeans(k, n_init=10, random_state=self.random_state)
        with warnings.catch_warnings():
            # Rows that hardly differ: fewer clusters is the right answer.
            warnings.filterwarnings("ignore", message="Number of distinct clusters")
            return relabel(model.fit_predict(U))


def _narrowed(U: NDArray[Any]) -> NDArray[Any]:
    """Rows as far from each other, in no more columns than there are rows.

    k-means and the silhouette feel distances alone, and go over all columns hundreds of times.
    """
    if U.shape[1] <= len(U):
        return U
    return np.asarray(np.linalg.qr(U.T, mode="r")).T.copy()


def _n_distinct(U: NDArray[Any]) -> int:
    """Number of rows that differ by more than rounding."""
    digits = np.finfo(U.dtype).precision - 2
    return len(np.unique((U / (np.abs(U).max() or 1)).round(digits), axis=0))
