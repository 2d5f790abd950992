"""Features of many rows, with a sample of them for what grows faster than their number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.lloyd import cluster_means, lloyd
from pyrocco.assign.ward import WardTree

# A few iterations tell as much about a partition as many.
FEW = 5


@dataclass(frozen=True)
class SampledRows:
    """Rows by their features, and a sample that does not depend on their order.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        All rows.
    index : ndarray of int
        The rows of the sample.

    Examples
    --------
    >>> import numpy as np
    >>> features = np.array([[0.0], [5.0], [0.1], [5.1]])
    >>> rows = SampledRows.draw(features, 4, np.random.RandomState(0))
    >>> rows.index.tolist(), rows.partition(2).tolist()
    ([0, 2, 1, 3], [1, 1, 0, 0])
    """

    features: NDArray[Any]
    index: NDArray[np.intp]

    @classmethod
    def draw(
        cls,
        features: NDArray[Any],
        size: int,
        random_state: np.random.RandomState,
        keys: Callable[[], NDArray[np.uint64]] | None = None,
    ) -> SampledRows:
        """Take all rows, or `size` of them, in the order of their first feature.

        Parameters
        ----------
        features : ndarray of shape (n_rows, n_features)
            All rows.
        size : int
            Rows to take.
        random_state : RandomState
            Says which.
        keys : callable, optional
            Makes a number of the contents of every row. By these a sample stays the same
            when features change by rounding, as they do from back end to back end.

        Returns
        -------
        SampledRows
        """
        order = np.argsort(features[:, 0], kind="stable")
        if len(order) <= size:
            return cls(features, order)
        if keys is None:
            return cls(features, order[np.sort(random_state.choice(len(order), size, False))])
        salt = 2 * random_state.randint(2**62, dtype=np.uint64) + np.uint64(1)
        by_key = np.argsort(keys()[order] * salt, kind="stable")
        return cls(features, order[np.sort(by_key[:size])])

    @cached_property
    def sample(self) -> NDArray[Any]:
        """Features of the sample."""
        return np.ascontiguousarray(self.features[self.index])

    @cached_property
    def tree(self) -> WardTree:
        """Ward's tree of the sample."""
        return WardTree(self.sample)

    def partition(self, k: int) -> NDArray[np.intp]:
        """Cut the sample's tree into at most `k` clusters and let k-means settle them."""
        k = min(k, len(self.index))
        if k == 1:
            return np.zeros(len(self.index), dtype=np.intp)
        return lloyd(self.sample, cluster_means(self.sample, self.tree.cut(k), k), max_iter=FEW)
