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

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        The data, on the back end.
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
    total: float = field(init=False)
    squares: float = field(init=False)
    order: tuple[int, int] = field(init=False)
    _last: dict[int, Pair] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        rows, columns = self.shape
        row_means = self.product(1, np.ones((columns, 1))) / columns
        column_means = self.product(0, np.ones((rows, 1))) / rows
        object.__setattr__(self, "total", columns * float(row_means.sum()))
        object.__setattr__(self, "squares", self.backend.squared_norm(self.X))
        # The side whose means differ more moves first: the same side of the transpose.
        rows_first = np.var(row_means) >= np.var(column_means)
        object.__setattr__(self, "order", (0, 1) if rows_first else (1, 0))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self.X.shape[0], self.X.shape[1]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    def product(self, axis: int, members: NDArray[Any]) -> NDArray[np.float64]:
        """Sum over `axis`, weighted by the memberships of its rows or columns.

        The last one of each axis is kept: a round of the fit asks twice for the same.
        """
        if axis not in self._last or self._last[axis][0] is not members:
            self._last[axis] = members, self._multiply(axis, members)
        return self._last[axis][1]

    def _multiply(self, axis: int, members: NDArray[Any]) -> NDArray[np.float64]:
        if axis == 1:
            product = self.backend.to_numpy(self.backend.rotate(self.X, members))
        else:
            there = self.backend.asarray(members.astype(self.backend.dtype(self.X)))
            product = self.backend.project(self.X, there)
        return np.asarray(product, dtype=np.float64)

    def sums(self, members: Pair) -> NDArray[np.float64]:
        """Sum of every block."""
        # By way of the side that moves last: the side that moves next needs its product.
        axis = self.order[1]
        sums = members[1 - axis].T @ self.product(axis, members[axis])
        return np.asarray(sums if axis == 1 else sums.T)


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
