"""One step of the alternating direction method of multipliers, as a map of one vector.

The problem is split as V = E U, one line of V an edge. With multipliers L and penalty nu the
whole state is b = V + L / nu: V is b shrunk by its edge's factor s, and L = nu (1 - s) b, so
neither needs a store of its own. The step solves for U, then moves b by
relaxation (E U - V). A missing cell is filled with the last U before U is solved for, the
majorise-minimise step of Chi, Allen and Baraniuk (2017), so its value is part of
the state too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyrocco.convex import kernels
from pyrocco.convex.inverse import Inverse
from pyrocco.convex.problem import ConvexProblem
from pyrocco.graph import Graph

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# Over-relaxation: any value below 2 converges, and the largest ones do in fewest steps.
_RELAXATION = 1.9


class EdgeState:
    """The part of the state that belongs to one graph.

    Parameters
    ----------
    graph : Graph
        Edges among rows, or among columns.
    width : int
        Length of a vector on an edge.
    """

    def __init__(self, graph: Graph, width: int):
        self.graph = graph
        self.shape = (graph.n_edges, width)
        self.size = graph.n_edges * width
        self.factors = np.ones(graph.n_edges)
        self._out = np.empty((graph.n_nodes, width))

    def shrink(self, b: Vector, scale: float) -> None:
        """Set the factors for radii scale x weights."""
        kernels.shrinkage(b.reshape(self.shape), scale * self.graph.weights, self.factors)

    def spread(self, b: Vector, factors: Vector) -> Matrix:
        """E' (factors b), in a store that the next call overwrites."""
        B = b.reshape(self.shape)
        kernels.divergence(self.graph.heads, self.graph.tails, B, factors, self._out)
        return self._out

    def move(self, U: Matrix, b: Vector, out: Vector) -> None:
        """Write relaxation (E U - V)."""
        ends = self.graph.heads, self.graph.tails
        B, target = b.reshape(self.shape), out.reshape(self.shape)
        kernels.stretch(U, *ends, B, self.factors, _RELAXATION, target)

    def differences(self, U: Matrix) -> Vector:
        """E U, flat."""
        return (U[self.graph.heads] - U[self.graph.tails]).ravel()

    def rescale(self, b: Vector, ratio: float) -> None:
        """Keep V and L while nu is divided by `ratio`."""
        stretch = self.factors + (1.0 - self.factors) * ratio
        b.reshape(self.shape)[:] *= stretch[:, None]

    def clip(self, b: Vector, radius: float) -> None:
        """Keep V, and shorten the multipliers to radius x weights."""
        B = b.reshape(self.shape)
        lengths = (1.0 - self.factors) * np.linalg.norm(B, axis=1)
        allowed = radius * self.graph.weights
        kept = np.divide(allowed, lengths, out=np.ones_like(lengths), where=lengths > allowed)
        B *= (self.factors + (1.0 - self.factors) * kept)[:, None]


class Splitting:
    """The state of the method on one problem and how one step moves it.

    Parameters
    ----------
    problem : ConvexProblem
        What is solved.
    inverse : Inverse
        Solves for U.

    Attributes
    ----------
    z : ndarray
        The state: b of the row edges, b of the column edges, the missing cells.
    U : ndarray of shape (n_rows, n_columns)
        The last representation.
    gamma : float
        The penalty at which the state is.
    nu : float
        Penalty of the splitting.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem
    >>> from pyrocco.convex.inverse import make_inverse
    >>> from pyrocco.graph import Graph
    >>> pair = Graph(2, np.array([0]), np.array([1]), np.ones(1))
    >>> problem = ConvexProblem(np.array([[0.0, 0.0], [2.0, 2.0]]), pair, pair)
    >>> state = Splitting(problem, make_inverse(pair, pair))
    >>> state.begin(gamma=9.0)
    >>> for _ in range(50):
    ...     state.z = state.z + state.residual()
    >>> state.U.round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    def __init__(self, problem: ConvexProblem, inverse: Inverse):
        self.problem = problem
        self.inverse = inverse
        n_rows, n_columns = problem.X.shape
        self.rows = EdgeState(problem.rows, n_columns)
        self.columns = EdgeState(problem.columns, n_rows)
        self.nu = 1.0
        self.gamma = 0.0
        self.U = problem.filled.copy()
        self.z = np.concatenate(
            [
                self.rows.differences(self.U),
                self.columns.differences(np.ascontiguousarray(self.U.T)),
                self.U[problem.missing],
            ]
        )

    def begin(self, gamma: float) -> None:
        """Go to another gamma, with multipliers no longer than it allows."""
        self.gamma = gamma
        for edges, b in self._parts():
            edges.clip(b, gamma / self.nu)
        self.shrink()

    def shrink(self) -> None:
        """Bring the factors up to date with the state."""
        for edges, b in self._parts():
            edges.shrink(b, self.gamma / self.nu)

    def residual(self) -> Vector:
        """Solve for U and return by how much the state should move."""
        problem = self.problem
        F = problem.filled + self._spread(self.nu, *(2 * e.factors - 1 for e, _ in self._parts()))
        filling = self.z[self.rows.size + self.columns.size :]
        F[problem.missing] += filling
        self.U = self.inverse.solve(F, self.nu, self.U)
        out = np.empty_like(self.z)
        moved = np.split(out, [self.rows.size, self.rows.size + self.columns.size])
        for (edges, b), matrix, target in zip(
            self._parts(), (self.U, np.ascontiguousarray(self.U.T)), moved, strict=False
        ):
            edges.move(matrix, b, target)
        moved[2][:] = self.U[problem.missing] - filling
        return out

    def field(self) -> Matrix:
        """Z = E_r' L_r + L_c E_c of the multipliers, feasible for the dual."""
        return self._spread(self.nu, 1.0 - self.rows.factors, 1.0 - self.columns.factors)

    def change_penalty(self, nu: float) -> None:
        """Go on with another nu, from the same U, V and multipliers."""
        for edges, b in self._parts():
            edges.rescale(b, self.nu / nu)
        self.nu = nu
        self.shrink()

    def _spread(self, nu: float, row_factors: Vector, column_factors: Vector) -> Matrix:
        (rows, row_b), (columns, column_b) = self._parts()
        out = rows.spread(row_b, row_factors) + columns.spread(column_b, column_factors).T
        return np.asarray(nu * out)

    def _parts(self) -> tuple[tuple[EdgeState, Vector], tuple[EdgeState, Vector]]:
        end = self.rows.size + self.columns.size
        return (self.rows, self.z[: self.rows.size]), (self.columns, self.z[self.rows.size : end])
