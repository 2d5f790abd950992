"""Nearest neighbours of rows with missing values (NaN).

Distances are computed over the values that both rows have, and scaled to the number of columns.
Two rows that share no value have infinite distance.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from pyrocco._typing import Dense, Floats, Labels
from pyrocco.backends import kernels
from pyrocco.graph.distances import METRICS, Candidates, Query, RowDistances, check_metric
from pyrocco.graph.exact import FindOutside, Neighbors, nearest, nearest_outside

# Single precision cannot distinguish distances below this share of the squares from zero.
_ROUNDING = 16 * float(np.finfo(np.float32).eps)


class MaskedSearch:
    """Compares all pairs of rows over the values that both have."""

    name = "exact on shared cells"

    def search(self, X: Dense, n_neighbors: int, metric: str) -> Neighbors:
        """Return the nearest other rows of every row, -1 if no more rows share a value."""
        return nearest(masked_distances(X, metric), n_neighbors)

    def outside(self, X: Dense, metric: str) -> FindOutside:
        """Return a function that finds the nearest rows of other components."""
        return partial(nearest_outside, masked_distances(X, metric))


def masked_distances(X: Dense, metric: str) -> MaskedDistances:
    """Prepare the rows of `X` for repeated distance queries under `metric`."""
    check_metric(metric)
    return _DISTANCES[metric](np.ascontiguousarray(X))


class MaskedDistances(RowDistances):
    """Distances over the values that both rows have, directly from the values."""

    metric = "manhattan"

    def __init__(self, X: Dense):
        super().__init__(X)
        self._code = METRICS.index(self.metric)

    def exact(self, rows: Labels, others: Labels) -> Floats:
        """Return the distances of each of `rows` to its row of `others`."""
        out = np.empty(others.shape)
        kernels.graphs.masked_pair_distances(
            self.X, rows, np.ascontiguousarray(others), self._code, out
        )
        return out

    def to_all(self, rows: Labels) -> Floats:
        """Return the distances of `rows` to all rows."""
        everyone = np.broadcast_to(np.arange(self.n_rows), (len(rows), self.n_rows))
        return self.exact(rows, everyone)


class _ByProducts(MaskedDistances):
    """Distances whose candidates are found by matrix products, which is many times as fast.

    Products are computed in single precision, after subtracting the mean if the metric allows
    it. The distances of the candidates are then computed from the values.
    """

    def __init__(self, X: Dense):
        super().__init__(X)
        present = ~np.isnan(X)
        centre, unit = self._centre_and_unit(X[present])
        self._values = np.where(present, (X - centre) / unit, 0).astype(np.float32)
        self._squares = np.square(self._values)
        self._present = present.astype(np.float32)

    def _centre_and_unit(self, values: Dense) -> tuple[float, float]:
        centre = float(values.mean()) if len(values) else 0.0
        return centre, float(np.abs(values - centre).max(initial=0.0)) or 1.0

    def candidates(self, query: Query, careful: bool = False) -> Candidates:
        """Return `n_neighbors` and a few spare rows near each of the rows of a query."""
        near = super().candidates(query, careful)
        return near._replace(distances=self.exact(query.rows, near.indices))

    def to_all(self, rows: Labels) -> Floats:
        """Return approximate distances, of any scale, of `rows` to all rows."""
        products = self._values[rows] @ self._values.T
        own = self._squares[rows] @ self._present.T
        other = self._present[rows] @ self._squares.T
        count = self._present[rows] @ self._present.T
        with np.errstate(invalid="ignore", divide="ignore"):
            distances = self._combine(products, own, other, count)
        return np.where(count > 0, distances, np.inf).astype(np.float64)

    def _combine(self, products: Dense, own: Dense, other: Dense, count: Dense) -> Dense:
        raise NotImplementedError


class _Euclidean(_ByProducts):
    metric = "euclidean"

    def _combine(self, products: Dense, own: Dense, other: Dense, count: Dense) -> Dense:
        squares = own + other
        lengths = squares - 2 * products
        return np.asarray(np.where(lengths > _ROUNDING * squares, lengths, 0) / count)


class _Cosine(_ByProducts):
    metric = "cosine"

    def _centre_and_unit(self, values: Dense) -> tuple[float, float]:
        return 0.0, float(np.abs(values).max(initial=0.0)) or 1.0

    def _combine(self, products: Dense, own: Dense, other: Dense, count: Dense) -> Dense:
        sizes = np.sqrt(own * other)
        cosines = 1 - products / sizes
        cosines = np.where(cosines > _ROUNDING, cosines, 0)
        return np.asarray(np.where(sizes > 0, cosines, np.where(own == other, 0.0, 1.0)))


_DISTANCES: dict[str, type[MaskedDistances]] = {
    "euclidean": _Euclidean,
    "manhattan": MaskedDistances,
    "cosine": _Cosine,
}
