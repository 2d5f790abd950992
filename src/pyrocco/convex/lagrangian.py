"""The augmented Lagrangian of convex biclustering, and Newton steps on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyrocco._typing import DeviceArray
from pyrocco.convex.conjugate_gradients import conjugate_gradients
from pyrocco.convex.edges import Edges
from pyrocco.convex.problem import ConvexProblem

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


@dataclass(frozen=True, eq=False)
class Point:
    """A representation and the values of the Lagrangian there."""

    U: DeviceArray
    value: float  # the Lagrangian
    gradient: DeviceArray  # its gradient
    objective: float  # objective of the problem
    bound: float  # lower bound of the objective over all U


class Lagrangian:
    """The loss plus the smoothed penalty of the edges of both graphs (`Edges`)."""

    def __init__(self, problem: ConvexProblem):
        backend, transposed = problem.backend, problem.backend.transpose(problem.filled)
        self.problem = problem
        self.rows = Edges(problem.rows, problem.filled, backend)
        self.columns = Edges(problem.columns, transposed, backend)
        curvature = np.where(problem.missing, _LOOSE, 1.0)
        self._curvature: DeviceArray = backend.asarray(curvature)

    def set_gamma(self, gamma: float) -> None:
        """Change gamma."""
        self.rows.set_gamma(gamma)
        self.columns.set_gamma(gamma)

    def update_multipliers(self, stiffen: float) -> None:
        """Take the multipliers of the last point and increase the stiffness."""
        self.rows.update_multipliers(stiffen)
        self.columns.update_multipliers(stiffen)

    def evaluate(self, U: DeviceArray) -> Point:
        """Evaluate at U, the point that the other methods refer to."""
        problem, backend = self.problem, self.problem.backend
        force, across = backend.zeros_like(U), backend.transpose(U)
        along_columns = backend.zeros_like(across)
        energy = self.rows.add_gradient(U, force)
        energy += self.columns.add_gradient(across, along_columns)
        force += along_columns.T
        error = problem.error(U)
        loss = 0.5 * backend.dot(error, error)
        # The gradients of the edges are within their radii: feasible for the dual.
        bound = problem.lower_bound(force)
        objective = loss + self.rows.penalty + self.columns.penalty
        return Point(U, loss + energy, error + force, objective, bound)

    def hessian_product(self, D: DeviceArray) -> DeviceArray:
        """Multiply D by the Hessian at the last U."""
        out: DeviceArray = self._curvature * D
        across = self.problem.backend.transpose(D)
        along_columns = self.problem.backend.zeros_like(across)
        self.rows.add_hessian_product(D, out)
        self.columns.add_hessian_product(across, along_columns)
        out += along_columns.T
        return out

    def diagonal(self) -> DeviceArray:
        """Return an upper bound of the diagonal of the Hessian."""
        diagonal: DeviceArray = self._curvature + self.rows.degrees[:, None] + self.columns.degrees
        return diagonal


def newton_step(lagrangian: Lagrangian, point: Point) -> Point:
    """Take a Newton step with line search from the last evaluated point."""
    direction = _newton_direction(lagrangian, point.gradient)
    slope = lagrangian.problem.backend.dot(point.gradient, direction)
    slack = _ROUNDING * abs(point.value)
    step = 1.0
    while True:
        trial = lagrangian.evaluate(point.U + step * direction)
        if trial.value <= point.value + _ENOUGH * step * slope + slack or step < _SHORTEST:
            return trial
        step /= 4.0


def _newton_direction(lagrangian: Lagrangian, gradient: DeviceArray) -> DeviceArray:
    """Solve the Newton system roughly by preconditioned conjugate gradients."""
    # Every iterate of conjugate gradients is a descent direction, converged or not.
    return conjugate_gradients(
        lagrangian.hessian_product,
        -1.0 * gradient,
        lagrangian.diagonal(),
        lagrangian.problem.backend,
        tol=_ROUGH,
        max_iter=_CG_STEPS,
    )
