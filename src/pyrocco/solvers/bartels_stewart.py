"""Direct solution of the system by the algorithm of Bartels and Stewart."""

from __future__ import annotations

from scipy.linalg import solve_sylvester

from pyrocco._typing import DeviceArray
from pyrocco.model import SylvesterSystem
from pyrocco.solvers.solution import Solution, SylvesterProblem


class BartelsStewartSolver:
    """Bartels-Stewart algorithm: Schur decompositions of both sides.

    Calls `scipy.linalg.solve_sylvester` with the dense matrices A and B of Eq. 11. It is exact
    and takes O(n^3 + p^3) operations, as `SpectralSolver` does, but does not use the symmetry
    of A and B and is several times slower. Use it to check other solvers.

    References
    ----------
    Bartels and Stewart, "Algorithm 432: Solution of the matrix equation AX + XB = C",
    Communications of the ACM 15 (1972) 820-826.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> from pyrocco.solvers import BartelsStewartSolver
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X
    >>> ROCCO(solver=BartelsStewartSolver()).fit(X).history_[0]["solver"]
    'bartels-stewart'
    """

    name = "bartels-stewart"

    def solve(self, system: SylvesterSystem, start: DeviceArray) -> Solution:
        """Solve `system`; `start` is not used."""
        backend = system.backend
        problem = SylvesterProblem.of(system)
        U = solve_sylvester(problem.A.toarray(), problem.B.toarray(), problem.C)
        residual = problem.relative_residual(U)
        U = backend.asarray(U.astype(backend.to_numpy(system.X).dtype))
        return Solution(U, 1, residual, True, self.name)
