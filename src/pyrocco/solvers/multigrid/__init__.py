"""Combinatorial multigrid: the hierarchy is data, the cycle is code."""

from pyrocco.solvers.multigrid.combinatorial import CombinatorialMultigrid, LinearSolution
from pyrocco.solvers.multigrid.solver import MultigridSolver

__all__ = ["CombinatorialMultigrid", "LinearSolution", "MultigridSolver"]
