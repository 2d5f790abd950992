"""Combinatorial multigrid: the hierarchy of levels is data, the cycle through them is code."""

from pyrocco.solvers.multigrid.solver import (
    CombinatorialMultigrid,
    LinearSolution,
    MultigridSolver,
)

__all__ = ["CombinatorialMultigrid", "LinearSolution", "MultigridSolver"]
