"""The augmented Lagrangian of convex biclustering, and Newton steps on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from pyrocco._typing import Floats, Mask
from pyrocco.convex import kernels
from pyrocco.convex.problem import ConvexProblem, edge_lengths
from pyrocco.graph import Graph

# The stiffness of an edge is its radius divided by this share of the mean length.
_SHORT = 0.3
# Curvature of a missing value whose edges all have weight zero.
_LOOSE = 1e-12
# Relative residual of a Newton system, and the limit of its iterations.
_ROUGH = 0.1
_CG_STEPS = 500
# Line search: a step is accepted if it brings this share of the decrease that its slope
# promises, and otherwise divided by four. Far from the solution full steps may be too long.
_ENOUGH = 1e-4
_SHORTEST = 1e-10
# Relative difference below which values are equal up to rounding.
_ROUNDING = 1e-13


class Edges:
    """Multipliers of the edges of a graph, and their terms of the augmented Lagrangian.

    The penalty radius ||U_head - U_tail|| is replaced by a smooth function: quadratic, like the
    energy of a spring, while the norm of stiffness (U_head - U_tail) + multiplier is at most the
    radius, and linear beyond. An edge in the quadratic range is called closed: with the optimal
    multipliers its length is zero. Radii are gamma times the weights. Multipliers are no longer
    than the radii, so that they give a lower bound of the problem. The edge lengths in the first
    `U` set the stiffness; `lengths` are those at the last U.
    """

    def __init__(self, graph: Graph, U: Floats):
        self.graph = graph
        self._ends = graph.heads, graph.tails
        self.lengths = edge_lengths(U, graph)
        self._short = (_SHORT * float(self.lengths.mean()) if graph.n_edges else 0.0) or 1.0
        self.multipliers = np.zeros((graph.n_edges, U.shape[1]))
        self._tension = np.zeros_like(self.multipliers)
        self._shares = np.zeros(graph.n_edges)
        self.set_gamma(0.0)

    def set_gamma(self, gamma: float) -> None:
        """Set the radii for `gamma` and shorten the multipliers accordingly."""
        self.radii = gamma * self.graph.weights
        self._stiffness = self.radii / self._short
        kernels.clip_lengths(self.multipliers, self.radii)

    def add_gradient(self, U: Floats, gradient: Floats) -> float:
        """Add the gradient at U to `gradient` and return the value."""
        state = self._tension, self._shares, self.lengths
        given = self.multipliers, self._stiffness, self.radii
        return float(kernels.edge_gradient(U, *self._ends, *given, *state, gradient))

    def add_hessian_product(self, D: Floats, out: Floats) -> None:
        """Add the Hessian at the last U times D to `out`."""
        springs = self._tension, self._stiffness, self.radii, self._shares
        kernels.edge_hessian(D, *self._ends, *springs, out)

    def update_multipliers(self, stiffen: float) -> None:
        """Take the gradients of the edges as multipliers and increase the stiffness."""
        self._tension *= self._shares[:, None]
        self.multipliers, self._tension = self._tension, self.multipliers
        self._stiffness *= stiffen

    @property
    def closed(self) -> Mask:
        """Mask of the edges in the quadratic range."""
        return np.asarray(self._shares == 1.0)

    @property
    def penalty(self) -> float:
        """Sum of radii times lengths."""
        return float(self.radii @ self.lengths)

    @property
    def degrees(self) -> Floats:
        """Upper bound of the curvature of each node in any coordinate."""
        acting = self._stiffness * self._shares
        at_heads, at_tails = (np.bincount(end, acting, self.graph.n_nodes) for end in self._ends)
        return np.asarray(at_heads + at_tails)


@dataclass(frozen=True, eq=False)
class Point:
    """A representation and the values of the Lagrangian there."""

    U: Floats
    value: float  # the Lagrangian
    gradient: Floats  # its gradient
    objective: float  # objective of the problem
    bound: float  # lower bound of the objective over all U


class Lagrangian:
    """The loss plus the smoothed penalty of the edges of both graphs (`Edges`)."""

    def __init__(self, problem: ConvexProblem):
        self.problem = problem
        self.rows = Edges(problem.rows, problem.filled)
        self.columns = Edges(problem.columns, np.ascontiguousarray(problem.filled.T))
        self._curvature = np.where(problem.missing, _LOOSE, 1.0)

    def set_gamma(self, gamma: float) -> None:
        """Change gamma."""
        self.rows.set_gamma(gamma)
        self.columns.set_gamma(gamma)

    def update_multipliers(self, stiffen: float) -> None:
        """Take the multipliers of the last point and increase the stiffness."""
        self.rows.update_multipliers(stiffen)
        self.columns.update_multipliers(stiffen)

    def evaluate(self, U: Floats) -> Point:
        """Evaluate at U, the point that the other methods refer to."""
        problem = self.problem
        force, transposed = np.zeros(U.shape), np.zeros(U.shape[::-1])
        energy = self.rows.add_gradient(U, force)
        energy += self.columns.add_gradient(np.ascontiguousarray(U.T), transposed)
        force += transposed.T
        error = U - problem.filled
        error[problem.missing] = 0.0
        loss = 0.5 * float(np.vdot(error, error))
        # The gradients of the edges are within their radii: feasible for the dual.
        bound = problem.lower_bound(force)
        objective = loss + self.rows.penalty + self.columns.penalty
        return Point(U, loss + energy, error + force, objective, bound)

    def hessian_product(self, D: Floats) -> Floats:
        """Multiply D by the Hessian at the last U."""
        out, transposed = self._curvature * D, np.zeros(D.shape[::-1])
        self.rows.add_hessian_product(D, out)
        self.columns.add_hessian_product(np.ascontiguousarray(D.T), transposed)
        out += transposed.T
        return np.asarray(out)

    def diagonal(self) -> Floats:
        """Return an upper bound of the diagonal of the Hessian."""
        return np.asarray(self._curvature + self.rows.degrees[:, None] + self.columns.degrees)


def newton_step(lagrangian: Lagrangian, point: Point) -> Point:
    """Take a Newton step with line search from the last evaluated point."""
    direction = _newton_direction(lagrangian, point.gradient)
    slope = float(np.vdot(point.gradient, direction))
    slack = _ROUNDING * abs(point.value)
    step = 1.0
    while True:
        trial = lagrangian.evaluate(point.U + step * direction)
        if trial.value <= point.value + _ENOUGH * step * slope + slack or step < _SHORTEST:
            return trial
        step /= 4.0


def _newton_direction(lagrangian: Lagrangian, gradient: Floats) -> Floats:
    """Solve the Newton system roughly by preconditioned conjugate gradients."""
    shape, size = gradient.shape, gradient.size
    diagonal = lagrangian.diagonal().ravel()
    # Every iterate of conjugate gradients is a descent direction, converged or not.
    solution, _ = cg(
        LinearOperator(
            (size, size), lambda d: lagrangian.hessian_product(d.reshape(shape)).ravel()
        ),
        -gradient.ravel(),
        rtol=_ROUGH,
        maxiter=_CG_STEPS,
        M=LinearOperator((size, size), lambda r: r.ravel() / diagonal),
    )
    return np.asarray(solution.reshape(shape))
