"""Exact solution by the algorithm of Bartels and Stewart."""

from __future__ import annotations

from typing import Any

from scipy.linalg import solve_sylvester

from pyrocco.model import SylvesterSystem
from pyrocco.solvers.base import Solution
from pyrocco.solvers.multigrid.problem import SylvesterProblem


class BartelsStewartSolver:
    """SciPy's solver of Sylvester equations, on the dense matrices A and B of Eq. 11.

    Exact and O(n^3 + p^3) like `SpectralSolver`, but blind to the symmetry of A and B, and
    so several times slower: a second opinion, not a way to save time.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> from pyrocco.solvers.bartels_stewart import BartelsStewartSolver
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
    >>> ROCCO(solver=BartelsStewartSolver()).fit(X).history_[0]["solver"]
    'bartels-stewart'
    """

    name = "bartels-stewart"

    def solve(self, system: SylvesterSystem, start: Any) -> Solution:
        """Solve `system`; `start` is not needed."""
        backend = system.backend
        problem = SylvesterProblem.of(system)
        U = solve_sylvester(problem.A.toarray(), problem.B.toarray(), problem.C)
        residual = problem.relative_residual(U)
        U = backend.asarray(U.astype(backend.to_numpy(system.X).dtype))
        return Solution(U, 1, residual, True, self.name)
