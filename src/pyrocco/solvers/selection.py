"""Choice of the solver."""

from __future__ import annotations

from collections.abc import Callable

from pyrocco._typing import DeviceArray
from pyrocco.model import SylvesterSystem
from pyrocco.solvers.bartels_stewart import BartelsStewartSolver
from pyrocco.solvers.conjugate_gradient import ConjugateGradientSolver
from pyrocco.solvers.multigrid import MultigridSolver
from pyrocco.solvers.solution import Solution, Solver
from pyrocco.solvers.spectral import DecoupledSolver, SpectralSolver
from pyrocco.validation import shown

# Up to this size, two dense eigenvalue problems cost less than a dozen iterations.
_SPECTRAL_NODES = 128
# Up to this size, the eigenvectors of the shorter side cost less than they save.
_DECOUPLED_NODES = 500
_AS_EXACT = 1e-12
# On chunked matrices conjugate gradients re-chunk in every step. With more cells than this,
# that costs more than the eigenvectors.
_RECHUNKED_CELLS = 10**8

_NAMED: dict[str, Callable[[], Solver]] = {
    "spectral": SpectralSolver,
    "bartels-stewart": BartelsStewartSolver,
    "conjugate-gradient": ConjugateGradientSolver,
    "decoupled": DecoupledSolver,
    "multigrid": MultigridSolver,
}
SOLVERS = ("auto", *_NAMED)


class AutoSolver:
    """Chooses a solver by the shape of the system.

    The exact `SpectralSolver` for small matrices, `DecoupledSolver` if one side is short,
    `ConjugateGradientSolver` otherwise.

    Parameters
    ----------
    tol : float
        Relative residual at which the iterative solvers stop.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((300, 30), 3, noise=5, random_state=0).X
    >>> ROCCO(solver="auto").fit(X).history_[0]["solver"]
    'decoupled'
    """

    def __init__(self, tol: float = 1e-3):
        self.tol = tol

    def choose(self, system: SylvesterSystem) -> Solver:
        """Return the solver for `system`."""
        here, n_cells = system.backend.in_one_place, system.X.shape[0] * system.X.shape[1]
        if max(system.X.shape) <= _SPECTRAL_NODES:
            # The eigenvectors of both sides are not available for a chunked matrix.
            return SpectralSolver() if here else DecoupledSolver(_AS_EXACT)
        if min(system.X.shape) <= _DECOUPLED_NODES or not (here or n_cells <= _RECHUNKED_CELLS):
            return DecoupledSolver(self.tol)
        return ConjugateGradientSolver(self.tol)

    def solve(self, system: SylvesterSystem, start: DeviceArray) -> Solution:
        """Solve `system` by the chosen solver."""
        return self.choose(system).solve(system, start)


def resolve_solver(solver: str | Solver) -> Solver:
    """Return the solver of a given name, or the given object itself.

    Examples
    --------
    >>> resolve_solver("spectral").name
    'spectral'
    """
    if not isinstance(solver, str):
        if not callable(getattr(solver, "solve", None)):
            raise ValueError(
                f"solver must be one of {', '.join(SOLVERS)}, or an object with a solve() method; "
                f"got {shown(solver)}."
            )
        return solver
    if solver == "auto":
        return AutoSolver()
    if solver not in _NAMED:
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}; got {shown(solver)}.")
    return _NAMED[solver]()
