"""The augmented Lagrangian of convex biclustering: a smooth problem in place of the hard one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyrocco.convex.edges import Edges
from pyrocco.convex.problem import ConvexProblem

Matrix = NDArray[np.float64]

# Curvature of a cell that nothing holds: missing, and all of its edges without weight.
_LOOSE = 1e-12


@dataclass(frozen=True, eq=False)
class Point:
    """A representation, and what the Lagrangian says there.

    Parameters
    ----------
    U : ndarray of shape (n_rows, n_columns)
        The representation.
    value : float
        The Lagrangian.
    gradient : ndarray of shape (n_rows, n_columns)
        Its gradient.
    objective : float
        Value of the problem itself.
    bound : float
        No U has a lower objective.
    """

    U: Matrix
    value: float
    gradient: Matrix
    objective: float
    bound: float


class Lagrangian:
    """The loss plus the energy of the edges of both graphs (`Edges`).

    Parameters
    ----------
    problem : ConvexProblem
        Data and graphs.

    Attributes
    ----------
    rows, columns : Edges
        The edges and their multipliers.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem
    >>> from pyrocco.graph import Graph
    >>> pair = Graph(2, np.array([0]), np.array([1]), np.ones(1))
    >>> problem = ConvexProblem(np.array([[0.0, 0.0], [3.0, 4.0]]), pair, pair)
    >>> lagrangian = Lagrangian(problem)
    >>> lagrangian.begin(gamma=0.5)
    >>> point = lagrangian.at(problem.filled)
    >>> point.objective, point.bound <= point.value <= point.objective
    (3.0, True)
    """

    def __init__(self, problem: ConvexProblem):
        self.problem = problem
        self.rows = Edges(problem.rows, problem.filled)
        self.columns = Edges(problem.columns, np.ascontiguousarray(problem.filled.T))
        self._seen = np.where(problem.missing, _LOOSE, 1.0)

    def begin(self, gamma: float) -> None:
        """Go to another gamma."""
        self.rows.begin(gamma)
        self.columns.begin(gamma)

    def settle(self, stiffen: float) -> None:
        """Take the multipliers of the last point, and make the springs stiffer."""
        for edges in (self.rows, self.columns):
            edges.settle()
            edges.stiffen(stiffen)

    def at(self, U: Matrix) -> Point:
        """Evaluate at U; `curvature` and `settle` speak of the last U."""
        problem = self.problem
        force, turned = np.zeros(U.shape), np.zeros(U.shape[::-1])
        energy = self.rows.pull(U, force)
        energy += self.columns.pull(np.ascontiguousarray(U.T), turned)
        force += turned.T
        error = U - problem.filled
        error[problem.missing] = 0.0
        loss = 0.5 * float(np.vdot(error, error))
        # The force is that of multipliers within their radii: a field for the dual.
        bound = problem.lower_bound(force)
        objective = loss + self.rows.penalty + self.columns.penalty
        return Point(U, loss + energy, error + force, objective, bound)

    def curvature(self, D: Matrix) -> Matrix:
        """Second derivative at the last U, applied to D."""
        out, turned = self._seen * D, np.zeros(D.shape[::-1])
        self.rows.bend(D, out)
        self.columns.bend(np.ascontiguousarray(D.T), turned)
        out += turned.T
        return np.asarray(out)

    def diagonal(self) -> Matrix:
        """Diagonal of the curvature, or somewhat more."""
        return np.asarray(self._seen + self.rows.degrees[:, None] + self.columns.degrees)
