"""The interface of solvers, and the system of one iteration as SciPy matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from pyrocco._typing import Array, DeviceArray, Floats
from pyrocco.backends import Operator
from pyrocco.model import SylvesterSystem


@dataclass(frozen=True)
class Solution:
    """A representation and how it was computed.

    Parameters
    ----------
    U : array
        The representation, on the back end of the system.
    iterations : int
        Number of iterations; 1 for direct solvers.
    residual : float
        Norm of the residual divided by the norm of the right-hand side.
    converged : bool
        Whether `residual` is within the solver's tolerance.
    solver : str
        Name of the solver.
    start_product : float, optional
        Inner product of the start and its image under the left-hand side of the system, if the
        solver has computed it.
    """

    U: Array
    iterations: int
    residual: float
    converged: bool
    solver: str
    start_product: float | None = None


class Solver(Protocol):
    """Solves a `SylvesterSystem`."""

    def solve(self, system: SylvesterSystem, start: DeviceArray) -> Solution:
        """Solve `system`; iterative solvers begin at `start`, which they may overwrite."""


@dataclass(frozen=True)
class SylvesterProblem:
    """A U + U B = C in float64, with A and B symmetric and diagonally dominant.

    Half of the shift of the system is on each side: A = I + P and B = I + Q in Eq. 11. Both store
    their positive diagonals.
    """

    A: sparse.csr_array
    B: sparse.csr_array
    C: Floats

    @classmethod
    def of(cls, system: SylvesterSystem) -> SylvesterProblem:
        """Copy a system to main memory."""
        to_numpy = system.backend.to_numpy
        X = to_numpy(system.X)
        return cls(
            _side(Operator(*map(to_numpy, system.rows)), system.shift / 2),
            _side(Operator(*map(to_numpy, system.columns)), system.shift / 2),
            system.shift * X.astype(np.float64),
        )

    def transposed(self) -> SylvesterProblem:
        """Return the same equation for the transpose of U."""
        return SylvesterProblem(self.B, self.A, self.C.T)

    def relative_residual(self, U: Floats) -> float:
        """Return the norm of the residual over that of the right-hand side; 0 if C is zero."""
        scale = float(np.linalg.norm(self.C))
        image = self.A @ U + (self.B @ U.T).T
        return float(np.linalg.norm(self.C - image)) / scale if scale > 0 else 0.0


def _side(operator: Operator, shift: float) -> sparse.csr_array:
    """Return shift I + Laplacian."""
    indptr, indices = np.asarray(operator.indptr), np.asarray(operator.indices)
    values = np.asarray(operator.values, dtype=np.float64)
    n = len(indptr) - 1
    adjacency = sparse.csr_array((values, indices, indptr), shape=(n, n))
    # Degrees stored in float32 would differ from the sums of their rows: no exact dominance.
    degrees = np.asarray(adjacency.sum(axis=1))
    return sparse.csr_array(sparse.diags_array(degrees + shift) - adjacency)
