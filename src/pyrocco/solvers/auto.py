"""Which solver for which system."""

from __future__ import annotations

from typing import Any

from pyrocco.model import SylvesterSystem
from pyrocco.solvers.base import Solution, Solver
from pyrocco.solvers.conjugate_gradient import ConjugateGradientSolver
from pyrocco.solvers.spectral import SpectralSolver

# Below this, two dense eigenvalue problems cost less than a dozen iterations.
_SPECTRAL_NODES = 128

_NAMED = {"spectral": SpectralSolver, "conjugate-gradient": ConjugateGradientSolver}
SOLVERS = ("auto", *_NAMED)


class AutoSolver:
    """Picks the solver by the shape of the system and says which it was.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((300, 30), 3, noise=5, random_state=0).X
    >>> ROCCO(solver="auto").fit(X).history_[0]["solver"]
    'conjugate-gradient'
    """

    def solve(self, system: SylvesterSystem, start: Any) -> Solution:
        """Solve `system` by the solver that fits it."""
        small = max(system.X.shape) <= _SPECTRAL_NODES
        chosen: Solver = SpectralSolver() if small else ConjugateGradientSolver()
        return chosen.solve(system, start)


def resolve_solver(solver: str | Solver) -> Solver:
    """Turn the name of a solver into the solver; objects pass through.

    Examples
    --------
    >>> resolve_solver("spectral").name
    'spectral'
    """
    if not isinstance(solver, str):
        if not callable(getattr(solver, "solve", None)):
            raise ValueError(f"solver must be a name or have a solve() method; got {solver!r}.")
        return solver
    if solver == "auto":
        return AutoSolver()
    if solver not in _NAMED:
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}; got {solver!r}.")
    made: Solver = _NAMED[solver]()
    return made
