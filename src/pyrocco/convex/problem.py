"""The convex biclustering problem, and its construction from a matrix and graphs of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances

from pyrocco._typing import Dense, Floats, Mask, Matrix
from pyrocco.backends.kernels.linear_systems import row_edge_lengths
from pyrocco.cells.values import check_safe_squares, in_safe_range
from pyrocco.graph import Graph
from pyrocco.graph.distances import distances_between_rows
from pyrocco.graph.exact import Neighbors, nearest


@dataclass(frozen=True, eq=False)
class ConvexProblem:
    """Data and graphs of min_U 0.5 ||X - U||_F^2 + gamma J(U).

    J(U) is the sum of w_e ||U_i. - U_j.|| over the edges among rows plus the same sum over the
    edges among columns (Chi, Allen and Baraniuk 2017; Eq. 1 of ROCCO's paper). Missing values
    (NaN) have no term in the loss.
    """

    X: Floats
    rows: Graph
    columns: Graph

    @cached_property
    def missing(self) -> Mask:
        """Mask of the missing values."""
        return np.isnan(self.X)

    @cached_property
    def n_missing(self) -> int:
        """Number of missing values."""
        return int(self.missing.sum())

    @cached_property
    def filled(self) -> Floats:
        """X with zeros in place of missing values."""
        return np.where(self.missing, 0.0, self.X)

    @cached_property
    def energy(self) -> float:
        """Half the squared distance of the known values to their mean: the largest loss."""
        known = self.X[~self.missing]
        return 0.5 * float(((known - known.mean()) ** 2).sum()) if known.size else 0.0

    def edge_lengths(self, U: Floats) -> tuple[Floats, Floats]:
        """Return the lengths of the edges among rows and among columns at U."""
        return edge_lengths(U, self.rows), edge_lengths(np.ascontiguousarray(U.T), self.columns)

    def penalty(self, U: Floats) -> float:
        """Compute J(U)."""
        along_rows, along_columns = self.edge_lengths(U)
        return float(self.rows.weights @ along_rows + self.columns.weights @ along_columns)

    def objective(self, U: Floats, gamma: float) -> float:
        """Compute the loss on the known values plus gamma J(U)."""
        error = self.filled - U
        error[self.missing] = 0.0
        return 0.5 * float(np.vdot(error, error)) + gamma * self.penalty(U)

    def lower_bound(self, Z: Floats) -> float:
        """Compute the dual objective at Z, a lower bound of the problem.

        gamma J(U) >= <Z, U> for every Z = E_r' L_r + L_c E_c with ||l_e|| <= gamma w_e, so
        the minimum over U of the loss plus <Z, U> bounds the problem from below. For a known
        value the minimum is at U = X - Z. For a missing value it exists only if Z is 0 there.
        But clipping U to the range of the known values never raises the objective, so some
        optimal U lies in that range, and the minimum over the range is a valid bound.
        """
        value = self.filled * Z - 0.5 * Z * Z
        if self.n_missing:
            low, high = self._range
            pull = Z[self.missing]
            value[self.missing] = np.minimum(low * pull, high * pull)
        return float(value.sum())

    def slack(self, gradient: Floats) -> float:
        """Bound how far the lower bound can rise, given the gradient of the Lagrangian."""
        squares = float(np.vdot(gradient, gradient))
        if not self.n_missing:
            return 0.5 * squares
        excess = gradient[self.missing]
        low, high = self._range
        known = squares - float(excess @ excess)
        return 0.5 * known + (high - low) * float(np.abs(excess).sum())

    @cached_property
    def _range(self) -> tuple[float, float]:
        known = self.X[~self.missing]
        return float(known.min()), float(known.max())


def edge_lengths(U: Floats, graph: Graph) -> Floats:
    """Compute ||U_head - U_tail|| for every edge among the rows of U."""
    return np.asarray(np.sqrt(row_edge_lengths(U, graph.heads, graph.tails)))


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
    X: Matrix, *, n_neighbors: int, phi: float, metric: str, standardize: bool
) -> ScaledProblem:
    """Set up the problem for `X`, optionally centred and scaled to unit Frobenius norm.

    `standardize` subtracts the mean of the known values and divides by their norm. See
    `gaussian_knn_graph` for the other parameters.
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
    graphs = (gaussian_knn_graph(side / scale, n_neighbors, phi, metric) for side in sides)
    return ScaledProblem(ConvexProblem((dense - mean) / scale, *graphs), mean, scale, exponent)


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
