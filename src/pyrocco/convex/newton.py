"""Newton steps on the Lagrangian, their systems solved by conjugate gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg

from pyrocco.convex.lagrangian import Lagrangian, Point

Matrix = NDArray[np.float64]

# Residual of a Newton system over its right-hand side.
_ROUGH = 0.1
_CG_STEPS = 500
# A step is taken when it brings this share of what its slope promises, else cut to a quarter:
# far from the solution, where the forces of open edges are constant, it may be far too long.
_ENOUGH = 1e-4
_SHORTEST = 1e-10
# Values closer than this, relative, are equal to rounding.
_ROUNDING = 1e-13


def newton_step(lagrangian: Lagrangian, point: Point) -> Point:
    """Go from the last point of the Lagrangian to a lower one, as far as rounding lets it.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem
    >>> from pyrocco.convex.lagrangian import Lagrangian
    >>> from pyrocco.graph import Graph
    >>> pair = Graph(2, np.array([0]), np.array([1]), np.ones(1))
    >>> problem = ConvexProblem(np.array([[0.0, 0.0], [3.0, 4.0]]), pair, pair)
    >>> lagrangian = Lagrangian(problem)
    >>> lagrangian.begin(gamma=0.5)
    >>> start = lagrangian.at(problem.filled)
    >>> newton_step(lagrangian, start).value < start.value
    True
    """
    direction = _direction(lagrangian, point.gradient)
    slope = float(np.vdot(point.gradient, direction))
    slack = _ROUNDING * abs(point.value)
    step = 1.0
    while True:
        trial = lagrangian.at(point.U + step * direction)
        if trial.value <= point.value + _ENOUGH * step * slope + slack or step < _SHORTEST:
            return trial
        step /= 4.0


def _direction(lagrangian: Lagrangian, gradient: Matrix) -> Matrix:
    shape, size = gradient.shape, gradient.size
    diagonal = lagrangian.diagonal().ravel()
    # Whether it converged does not matter: conjugate gradients go downhill wherever they stop.
    found, _ = cg(
        LinearOperator((size, size), lambda d: lagrangian.curvature(d.reshape(shape)).ravel()),
        -gradient.ravel(),
        rtol=_ROUGH,
        maxiter=_CG_STEPS,
        M=LinearOperator((size, size), lambda r: r.ravel() / diagonal),
    )
    return np.asarray(found.reshape(shape))
