"""Solvers of the linear system of one iteration: one file and one class each."""

from pyrocco.solvers.auto import SOLVERS, AutoSolver, resolve_solver
from pyrocco.solvers.base import Solution, Solver
from pyrocco.solvers.conjugate_gradient import ConjugateGradientSolver
from pyrocco.solvers.spectral import SpectralSolver

__all__ = [
    "SOLVERS",
    "AutoSolver",
    "ConjugateGradientSolver",
    "Solution",
    "Solver",
    "SpectralSolver",
    "resolve_solver",
]
