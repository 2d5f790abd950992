"""The convex biclustering problem and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pyrocco.convex import kernels
from pyrocco.graph import Graph

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConvexProblem:
    """Data and graphs of min_U 0.5 ||X - U||_F^2 + gamma J(U).

    J(U) = sum_e w_e ||U_i. - U_j.|| over edges among rows plus the same over columns (Chi,
    Allen and Baraniuk 2017; Eq. 1 of ROCCO's paper). Missing cells leave the first term.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The data, NaN where missing.
    rows, columns : Graph
        Edges and their weights, e.g. from `gaussian_knn_graph`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem
    >>> from pyrocco.graph import Graph
    >>> pair = Graph(2, np.array([0]), np.array([1]), np.ones(1))
    >>> problem = ConvexProblem(np.array([[0.0, 0.0], [3.0, 4.0]]), pair, pair)
    >>> problem.penalty(problem.filled)
    6.0
    """

    X: Matrix
    rows: Graph
    columns: Graph

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        return np.isnan(self.X)

    @cached_property
    def n_missing(self) -> int:
        """How many cells are missing."""
        return int(self.missing.sum())

    @cached_property
    def filled(self) -> Matrix:
        """X with zeros in the missing cells."""
        return np.where(self.missing, 0.0, self.X)

    @cached_property
    def energy(self) -> float:
        """Half the squared distance of the seen cells to their mean: the largest loss."""
        seen = self.X[~self.missing]
        return 0.5 * float(((seen - seen.mean()) ** 2).sum()) if seen.size else 0.0

    def edge_lengths(self, U: Matrix) -> tuple[Matrix, Matrix]:
        """Lengths of the edges among rows and among columns at U."""
        return _lengths(U, self.rows), _lengths(np.ascontiguousarray(U.T), self.columns)

    def penalty(self, U: Matrix) -> float:
        """J(U)."""
        along_rows, along_columns = self.edge_lengths(U)
        return float(self.rows.weights @ along_rows + self.columns.weights @ along_columns)

    def objective(self, U: Matrix, gamma: float) -> float:
        """Loss on the seen cells plus gamma J(U)."""
        error = self.filled - U
        error[self.missing] = 0.0
        return 0.5 * float(np.vdot(error, error)) + gamma * self.penalty(U)

    def lower_bound(self, Z: Matrix) -> float:
        """Value of the dual at a field Z that pulls at the cells.

        gamma J(U) >= <Z, U> for every Z = E_r' L_r + L_c E_c with ||l_e|| <= gamma w_e, so
        the minimum over U of the loss plus <Z, U> bounds the problem from below. A seen cell
        has its minimum at U = X - Z. A missing one has none unless Z is 0 there; but clipping
        U to the range of the seen cells never raises the objective, so some optimal U lies
        in that range and the minimum over the range will do.
        """
        value = self.filled * Z - 0.5 * Z * Z
        if self.n_missing:
            low, high = self._range
            pull = Z[self.missing]
            value[self.missing] = np.minimum(low * pull, high * pull)
        return float(value.sum())

    def slack(self, gradient: Matrix) -> float:
        """How much lower a bound is than where the field and U balance in every cell.

        `gradient` is what the field lacks of X - U, or its excess where X is missing.
        """
        squares = float(np.vdot(gradient, gradient))
        if not self.n_missing:
            return 0.5 * squares
        excess = gradient[self.missing]
        low, high = self._range
        seen = squares - float(excess @ excess)
        return 0.5 * seen + (high - low) * float(np.abs(excess).sum())

    @cached_property
    def _range(self) -> tuple[float, float]:
        seen = self.X[~self.missing]
        return float(seen.min()), float(seen.max())


def _lengths(U: Matrix, graph: Graph) -> Matrix:
    out = np.empty(graph.n_edges)
    kernels.lengths(U, graph.heads, graph.tails, out)
    return out
