"""Nearest neighbours of rows with missing cells (NaN): distances over the cells both have.

Distances are scaled to the number of cells shared. Two rows that share none are infinitely
far: nothing can be said of them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends.kernels import shared as kernels
from pyrocco.graph.distances import METRICS, BlockDistances, Candidates, check_metric
from pyrocco.graph.join import Outside
from pyrocco.graph.neighbors import Neighbors, nearest, nearest_outside

# Products of single precision cannot tell distances below this share of the squares from 0.
_ROUNDING = 16 * float(np.finfo(np.float32).eps)


class SharedSearch:
    """Compares all rows with all, over the cells that both have.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, np.nan], [1.0, 9.0], [3.0, 9.0]])
    >>> SharedSearch().search(X, 1, "euclidean").indices.ravel().tolist()
    [1, 0, 1]
    """

    name = "exact on shared cells"

    def search(self, X: Any, n_neighbors: int, metric: str) -> Neighbors:
        """Nearest other rows of every row, ties by index; -1 where no more share a cell."""
        return nearest(shared_distances(X, metric), n_neighbors)

    def outside(self, X: Any, metric: str) -> Outside:
        """Return a function that finds the nearest rows of other groups (see `Outside`)."""
        return partial(nearest_outside, shared_distances(X, metric))


def shared_distances(X: Any, metric: str) -> SharedDistances:
    """Prepare the rows of `X` for repeated distance queries under `metric`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, np.nan], [3.0, 4.0], [np.nan, 1.0]])
    >>> shared_distances(X, "manhattan").exact(np.array([0]), np.array([[1, 2]])).tolist()
    [[6.0, inf]]
    """
    check_metric(metric)
    return _DISTANCES[metric](np.ascontiguousarray(X))


class SharedDistances(BlockDistances):
    """Distances over shared cells, straight from the cells."""

    metric = "manhattan"

    def __init__(self, X: NDArray[Any]):
        super().__init__(X)
        self._code = METRICS.index(self.metric)

    def exact(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances of each of `rows` to its row of `others`."""
        out = np.empty(others.shape)
        kernels.pair_distances(self.X, rows, np.ascontiguousarray(others), self._code, out)
        return out

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances of `rows` to all rows."""
        everyone = np.broadcast_to(np.arange(self.n_rows), (len(rows), self.n_rows))
        return self.exact(rows, everyone)


class _ByProducts(SharedDistances):
    """As above, but candidates come from matrix products, many times as fast.

    They are of single precision, about the mean of all cells where that does not matter;
    the candidates' distances are then computed once more from the cells.
    """

    def __init__(self, X: NDArray[Any]):
        super().__init__(X)
        there = ~np.isnan(X)
        centre, unit = self._centre_and_unit(X[there])
        self._values = np.where(there, (X - centre) / unit, 0).astype(np.float32)
        self._squares = np.square(self._values)
        self._there = there.astype(np.float32)

    def _centre_and_unit(self, cells: NDArray[Any]) -> tuple[float, float]:
        centre = float(cells.mean()) if len(cells) else 0.0
        return centre, float(np.abs(cells - centre).max(initial=0.0)) or 1.0

    def candidates(
        self,
        rows: NDArray[np.intp],
        groups: NDArray[np.intp],
        n_neighbors: int,
        careful: bool = False,
        first: int = 0,
    ) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of `rows`, of other groups."""
        near = super().candidates(rows, groups, n_neighbors, careful, first)
        return near._replace(distances=self.exact(rows, near.indices))

    def block(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return approximate distances, of any scale, of `rows` to all rows."""
        products = self._values[rows] @ self._values.T
        own = self._squares[rows] @ self._there.T
        other = self._there[rows] @ self._squares.T
        count = self._there[rows] @ self._there.T
        with np.errstate(invalid="ignore", divide="ignore"):
            block = self._combine(products, own, other, count)
        return np.where(count > 0, block, np.inf).astype(np.float64)

    def _combine(self, products: Any, own: Any, other: Any, count: Any) -> NDArray[Any]:
        raise NotImplementedError


class _Euclidean(_ByProducts):
    metric = "euclidean"

    def _combine(self, products: Any, own: Any, other: Any, count: Any) -> NDArray[Any]:
        squares = own + other
        lengths = squares - 2 * products
        return np.asarray(np.where(lengths > _ROUNDING * squares, lengths, 0) / count)


class _Cosine(_ByProducts):
    metric = "cosine"

    def _centre_and_unit(self, cells: NDArray[Any]) -> tuple[float, float]:
        return 0.0, float(np.abs(cells).max(initial=0.0)) or 1.0

    def _combine(self, products: Any, own: Any, other: Any, count: Any) -> NDArray[Any]:
        sizes = np.sqrt(own * other)
        cosines = 1 - products / sizes
        cosines = np.where(cosines > _ROUNDING, cosines, 0)
        return np.asarray(np.where(sizes > 0, cosines, np.where(own == other, 0.0, 1.0)))


_DISTANCES: dict[str, type[SharedDistances]] = {
    "euclidean": _Euclidean,
    "manhattan": SharedDistances,
    "cosine": _Cosine,
}
