"""What every solver takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from pyrocco.model import SylvesterSystem


@dataclass(frozen=True)
class Solution:
    """A representation and how it was reached.

    Parameters
    ----------
    U : array
        The representation, on the back end of the system.
    iterations : int
        Iterations taken; 1 for direct solvers.
    residual : float
        Norm of the residual over the norm of the right-hand side.
    converged : bool
        Whether `residual` is within the solver's tolerance.
    solver : str
        Name of the solver that did the work.
    """

    U: Any
    iterations: int
    residual: float
    converged: bool
    solver: str


class Solver(Protocol):
    """Solves a `SylvesterSystem`."""

    def solve(self, system: SylvesterSystem, start: Any) -> Solution:
        """Solve `system`; iterative solvers begin at `start`, which they may overwrite."""
