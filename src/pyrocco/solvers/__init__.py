"""Solvers of the linear system of one iteration: one file and one class each."""

from pyrocco.solvers.auto import SOLVERS, AutoSolver, resolve_solver
from pyrocco.solvers.bartels_stewart import BartelsStewartSolver
from pyrocco.solvers.base import Solution, Solver
from pyrocco.solvers.conjugate_gradient import ConjugateGradientSolver
from pyrocco.solvers.decoupled import DecoupledSolver
from pyrocco.solvers.multigrid import MultigridSolver
from pyrocco.solvers.spectral import SpectralSolver

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
