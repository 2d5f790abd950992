"""The matrix as the block model sees it: products with memberships, from either side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import Backend, NumpyBackend

Pair = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class BlockData:
    """A matrix on a back end, its sums, and which side moves first.

    A missing cell is no evidence: it is in no sum and in no count.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        The data, on the back end; NaN marks missing cells, which are kept as zeros.
    backend : Backend
        Where `X` lives.

    Examples
    --------
    >>> import numpy as np
    >>> data = BlockData(np.array([[1.0, 2.0], [3.0, 6.0]]))
    >>> data.product(1, np.ones((2, 1))).tolist(), data.total
    ([[3.0], [9.0]], 12.0)
    """

    X: Any
    backend: Backend = field(default_factory=NumpyBackend)
    observed: Any = field(init=False, repr=False, default=None)
    total: float = field(init=False)
    squares: float = field(init=False)
    n_cells: int = field(init=False)
    order: tuple[int, int] = field(init=False)
    _last: dict[tuple[int, bool], Pair] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        if np.isnan(self.backend.squared_norm(self.X)):
            self._set_apart()
        rows, columns = np.ones((self.shape[0], 1)), np.ones((self.shape[1], 1))
        row_sums, row_counts = self.product(1, columns), self.counts(1, columns)
        row_means = row_sums / np.maximum(row_counts, 1)
        column_means = self.product(0, rows) / np.maximum(self.counts(0, rows), 1)
        counts = np.broadcast_to(row_counts, row_sums.shape)
        object.__setattr__(self, "total", float(row_sums.sum()))
        object.__setattr__(self, "squares", self.backend.squared_norm(self.X))
        object.__setattr__(self, "n_cells", round(float(counts.sum())))
        # The side whose means differ more moves first: the same side of the transpose.
        rows_first = np.var(row_means) >= np.var(column_means)
        object.__setattr__(self, "order", (0, 1) if rows_first else (1, 0))

    def _set_apart(self) -> None:
        """Zeros in place of missing cells, and ones where a cell is there."""
        X = self.backend.to_numpy(self.X)
        there = ~np.isnan(X)
        object.__setattr__(self, "X", self.backend.asarray(np.where(there, X, X.dtype.type(0))))
        object.__setattr__(self, "observed", self.backend.asarray(there.astype(X.dtype)))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self.X.shape[0], self.X.shape[1]

    def product(self, axis: int, members: NDArray[Any]) -> NDArray[np.float64]:
        """Sum over `axis`, weighted by the memberships of its rows or columns.

        The last one of each axis is kept: a round of the fit asks twice for the same.
        """
        return self._kept(axis, members, self.X)

    def counts(self, axis: int, members: NDArray[Any]) -> NDArray[np.float64]:
        """Number of cells behind every sum of `product`; one line for all where none is missing.

        Examples
        --------
        >>> import numpy as np
        >>> data = BlockData(np.array([[1.0, 2.0], [3.0, np.nan]]))
        >>> data.counts(1, np.ones((2, 1))).tolist(), data.n_cells
        ([[2.0], [1.0]], 3)
        """
        if self.observed is None:
            return np.asarray(members.sum(axis=0, keepdims=True), dtype=np.float64)
        return self._kept(axis, members, self.observed)

    def _kept(self, axis: int, members: NDArray[Any], matrix: Any) -> NDArray[np.float64]:
        key = axis, matrix is self.observed
        if key not in self._last or self._last[key][0] is not members:
            self._last[key] = members, self._multiply(axis, members, matrix)
        return self._last[key][1]

    def _multiply(self, axis: int, members: NDArray[Any], matrix: Any) -> NDArray[np.float64]:
        if axis == 1:
            product = self.backend.to_numpy(self.backend.rotate(matrix, members))
        else:
            there = self.backend.asarray(members.astype(self.backend.dtype(matrix)))
            product = self.backend.project(matrix, there)
        return np.asarray(product, dtype=np.float64)

    def sums(self, members: Pair) -> NDArray[np.float64]:
        """Sum of every block."""
        # By way of the side that moves last: the side that moves next needs its product.
        axis = self.order[1]
        sums = members[1 - axis].T @ self.product(axis, members[axis])
        return np.asarray(sums if axis == 1 else sums.T)

    def sizes(self, members: Pair) -> NDArray[np.float64]:
        """Number of cells of every block."""
        if self.observed is None:
            return np.outer(members[0].sum(axis=0), members[1].sum(axis=0))
        axis = self.order[1]
        sizes = members[1 - axis].T @ self.counts(axis, members[axis])
        return np.asarray(sizes if axis == 1 else sizes.T)


def indicator(labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Memberships of hard labels 0..K-1: one column a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> indicator(np.array([0, 1, 1])).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    members = np.zeros((len(labels), int(labels.max()) + 1))
    members[np.arange(len(labels)), labels] = 1
    return members
