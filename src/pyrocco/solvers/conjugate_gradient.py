"""Conjugate gradients on the whole system, which is never formed."""

from __future__ import annotations

import math

from pyrocco._typing import Array
from pyrocco.model import SylvesterSystem
from pyrocco.solvers.solution import Solution


class ConjugateGradientSolver:
    """Conjugate gradients with Jacobi preconditioner, started from the previous solution.

    Use it for large matrices with two long sides and a well-conditioned system.

    Parameters
    ----------
    tol : float
        Relative residual at which to stop.
    max_iter : int
        Maximum number of iterations.

    References
    ----------
    Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", Journal
    of Research of the National Bureau of Standards 49 (1952) 409-436.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> from pyrocco.solvers import ConjugateGradientSolver
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
    >>> model = ROCCO(solver=ConjugateGradientSolver(tol=1e-6)).fit(X)
    >>> model.history_[0]["residual"] < 1e-6
    True
    """

    name = "conjugate-gradient"

    def __init__(self, tol: float = 1e-3, max_iter: int = 1000):
        self.tol = tol
        self.max_iter = max_iter

    def solve(self, system: SylvesterSystem, start: Array) -> Solution:
        """Solve `system` from `start`, in place, with at least one step."""
        backend, U = system.backend, start
        target = self.tol * system.shift * math.sqrt(backend.squared_norm(system.X))
        R, D, image = system.workspace.like(U, 3, backend)
        weighted, plain = backend.begin(system, U, R, D)
        iterations = 0
        while plain > 0 and iterations < self.max_iter:
            step = weighted / backend.apply(system, D, image)
            before = weighted
            weighted, plain = backend.advance(system, U, R, D, image, step)
            iterations += 1
            if math.sqrt(plain) <= target:
                break
            backend.direction(system, R, D, weighted / before)
        residual = self.tol * math.sqrt(plain) / target if target > 0 else 0.0
        return Solution(U, iterations, residual, residual <= self.tol, self.name)
