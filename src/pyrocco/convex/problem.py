"""The convex biclustering problem, and its construction from a matrix and graphs of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances

from pyrocco._typing import Dense, DeviceArray, Floats, Mask, Matrix
from pyrocco.backends import ArrayBackend, NumpyBackend
from pyrocco.cells.values import check_safe_squares, in_safe_range
from pyrocco.convex.edges import edge_lengths
from pyrocco.graph import Graph
from pyrocco.graph.distances import distances_between_rows
from pyrocco.graph.exact import Neighbors, nearest


@dataclass(frozen=True, eq=False)
class ConvexProblem:
    """Data and graphs of min_U 0.5 ||X - U||_F^2 + gamma J(U).

    J(U) is the sum of w_e ||U_i. - U_j.|| over the edges among rows plus the same sum over the
    edges among columns (Chi, Allen and Baraniuk 2017; Eq. 1 of ROCCO's paper). Missing values
    (NaN) have no term in the loss. The data are NumPy arrays; the problem is solved on `backend`,
    where U and the other arguments of its methods are.
    """

    X: Floats
    rows: Graph
    columns: Graph
    backend: ArrayBackend = field(default_factory=NumpyBackend)

    @cached_property
    def missing(self) -> Mask:
        """Mask of the missing values."""
        return np.isnan(self.X)

    @cached_property
    def n_missing(self) -> int:
        """Number of missing values."""
        return int(self.missing.sum())

    @cached_property
    def filled(self) -> DeviceArray:
        """X with zeros in place of missing values, on the back end."""
        filled: DeviceArray = self.backend.asarray(
            np.where(self.missing, 0.0, self.X).astype(float)
        )
        return filled

    @cached_property
    def _known(self) -> DeviceArray:
        """1 where a value is known and 0 where it is missing, on the back end."""
        known: DeviceArray = self.backend.asarray((~self.missing).astype(np.float64))
        return known

    @cached_property
    def energy(self) -> float:
        """Half the squared distance of the known values to their mean: the largest loss."""
        known = self.X[~self.missing]
        return 0.5 * float(((known - known.mean()) ** 2).sum()) if known.size else 0.0

    def edge_lengths(self, U: DeviceArray) -> tuple[Floats, Floats]:
        """Return the lengths of the edges among rows and among columns at U."""
        transposed = self.backend.transpose(U)
        return (
            edge_lengths(U, self.rows, self.backend),
            edge_lengths(transposed, self.columns, self.backend),
        )

    def penalty(self, U: DeviceArray) -> float:
        """Compute J(U)."""
        along_rows, along_columns = self.edge_lengths(U)
        return float(self.rows.weights @ along_rows + self.columns.weights @ along_columns)

    def objective(self, U: DeviceArray, gamma: float) -> float:
        """Compute the loss on the known values plus gamma J(U)."""
        error = self.error(U)
        return 0.5 * self.backend.dot(error, error) + gamma * self.penalty(U)

    def error(self, U: DeviceArray) -> DeviceArray:
        """Compute U - X, with zeros in place of missing values."""
        return self._at_known(U - self.filled)

    def lower_bound(self, Z: DeviceArray) -> float:
        """Compute the dual objective at Z, a lower bound of the problem.

        gamma J(U) >= <Z, U> for every Z = E_r' L_r + L_c E_c with ||l_e|| <= gamma w_e, so
        the minimum over U of the loss plus <Z, U> bounds the problem from below. For a known
        value the minimum is at U = X - Z. For a missing value it exists only if Z is 0 there.
        But clipping U to the range of the known values never raises the objective, so some
        optimal U lies in that range, and the minimum over the range is a valid bound.
        """
        pull = self._at_known(Z)
        value = self.backend.dot(self.filled, pull) - 0.5 * self.backend.dot(pull, pull)
        if not self.n_missing:
            return value
        low, high = self._range
        rest = Z - pull
        return (
            value + low * float(rest.clip(min=0.0).sum()) + high * float(rest.clip(max=0.0).sum())
        )

    def slack(self, gradient: DeviceArray) -> float:
        """Bound how far the lower bound can rise, given the gradient of the Lagrangian."""
        known = self._at_known(gradient)
        slack = 0.5 * self.backend.dot(known, known)
        if not self.n_missing:
            return slack
        low, high = self._range
        return slack + (high - low) * float(abs(gradient - known).sum())

    def _at_known(self, values: DeviceArray) -> DeviceArray:
        """Set the values that are missing in X to zero."""
        return self._known * values if self.n_missing else values

    @cached_property
    def _range(self) -> tuple[float, float]:
        known = self.X[~self.missing]
        return float(known.min()), float(known.max())


@dataclass(frozen=True, eq=False)
class ScaledProblem:
    """A problem on (X / 2^exponent - mean) / scale."""

    problem: ConvexProblem
    mean: float
    scale: float
    # The power of two by which extreme values were divided first.
    exponent: int = 0

    def restore(self, U: Floats) -> Floats:
        """Return a representation in the units of X."""
        restored = U * self.scale + self.mean
        return np.ldexp(restored, self.exponent) if self.exponent else restored


def scaled_problem(
    X: Matrix,
    *,
    n_neighbors: int,
    phi: float,
    metric: str,
    standardize: bool,
    backend: ArrayBackend | None = None,
) -> ScaledProblem:
    """Set up the problem for `X`, optionally centred and scaled to unit Frobenius norm.

    `standardize` subtracts the mean of the known values and divides by their norm. The problem is
    solved on `backend`, by default in NumPy. See `gaussian_knn_graph` for the other parameters.
    """
    X, exponent = X.astype(np.float64, copy=False), 0
    if standardize:
        X, exponent = in_safe_range(X)
    else:
        check_safe_squares(X, "standardize=False", ", or use standardize=True")
    if sparse.issparse(X):
        csr = sparse.csr_matrix(X)
        dense, sides = csr.toarray(), (csr, csr.T.tocsr())
    else:
        dense = np.asarray(X)
        sides = dense, np.ascontiguousarray(dense.T)
    known = dense[~np.isnan(dense)]
    if not known.size:
        raise ValueError("All values of X are missing; at least one must be a number.")
    mean, scale = _centre_and_norm(known) if standardize else (0.0, 1.0)
    # Distances do not depend on the mean, so that sparse data remain sparse for the graphs.
    rows, columns = (gaussian_knn_graph(side / scale, n_neighbors, phi, metric) for side in sides)
    problem = ConvexProblem((dense - mean) / scale, rows, columns, backend or NumpyBackend())
    return ScaledProblem(problem, mean, scale, exponent)


def _centre_and_norm(known: Floats) -> tuple[float, float]:
    mean = float(known.mean())
    centred = known - mean
    largest = float(np.abs(centred).max())
    # Constant data, up to rounding, are not scaled.
    if largest <= 1e-14 * abs(mean) or largest == 0.0:
        return mean, 1.0
    # Squares of very large or very small numbers would overflow or underflow.
    return mean, largest * float(np.linalg.norm(centred / largest))


def gaussian_knn_graph(
    X: Matrix, n_neighbors: int = 5, phi: float = 0.5, metric: str = "euclidean"
) -> Graph:
    """Connect each row with its nearest neighbours, with Gaussian edge weights.

    Edge weights are exp(-phi d^2 / n_columns), scaled to sum to one and divided by
    sqrt(n_columns), so that the penalties of rows and columns balance for every shape of the
    matrix (Chi, Allen and Baraniuk 2017). Distances between rows with missing values (NaN) are
    computed from the columns that both rows have.
    """
    n_rows, n_columns = X.shape
    if n_rows < 2:
        none = np.empty(0, dtype=np.intp)
        return Graph(n_rows, none, none, np.empty(0))
    neighbors = _nearest(X, min(n_neighbors, n_rows - 1), metric)
    ends = np.repeat(np.arange(n_rows), neighbors.indices.shape[1])
    others = neighbors.indices.ravel()
    known = (others >= 0) & np.isfinite(neighbors.distances.ravel())
    pairs = np.sort(np.column_stack([ends, others])[known], axis=1)
    pairs, first = np.unique(pairs, axis=0, return_index=True)
    squares = neighbors.distances.ravel()[known][first] ** 2
    weights = _gaussian(squares, phi / n_columns) / np.sqrt(n_columns)
    return Graph(n_rows, pairs[:, 0].copy(), pairs[:, 1].copy(), weights)


def _gaussian(squares: Floats, decay: float) -> Floats:
    """Compute exp(-decay squares) divided by its sum; the shift prevents 0 / 0."""
    kernel = np.exp(-decay * (squares - squares.min(initial=np.inf)))
    return np.asarray(kernel / kernel.sum())


def _nearest(X: Matrix, n_neighbors: int, metric: str) -> Neighbors:
    if isinstance(X, np.ndarray) and np.isnan(X).any():
        return _nearest_in_shared_columns(X, n_neighbors, metric)
    return nearest(distances_between_rows(X, metric), n_neighbors)


def _nearest_in_shared_columns(X: Dense, n_neighbors: int, metric: str) -> Neighbors:
    if metric != "euclidean":
        raise ValueError(f"missing values need metric='euclidean'; got {metric!r}.")
    distances = pairwise_distances(X, metric="nan_euclidean")
    np.fill_diagonal(distances, np.nan)
    # NaN (no column in common, or the row itself) sorts last; such pairs are dropped above.
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return Neighbors(order, np.take_along_axis(distances, order, axis=1))
