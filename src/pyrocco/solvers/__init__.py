"""Solvers of the linear system of one iteration."""

from pyrocco.solvers.bartels_stewart import BartelsStewartSolver
from pyrocco.solvers.conjugate_gradient import ConjugateGradientSolver
from pyrocco.solvers.multigrid import MultigridSolver
from pyrocco.solvers.selection import SOLVERS, AutoSolver, resolve_solver
from pyrocco.solvers.solution import Solution, Solver
from pyrocco.solvers.spectral import DecoupledSolver, SpectralSolver

__all__ = [
    "SOLVERS",
    "AutoSolver",
    "BartelsStewartSolver",
    "ConjugateGradientSolver",
    "DecoupledSolver",
    "MultigridSolver",
    "Solution",
    "Solver",
    "SpectralSolver",
    "resolve_solver",
]
