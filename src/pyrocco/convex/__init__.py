"""Convex biclustering (Chi, Allen and Baraniuk 2017): the problem behind COBRA."""

from pyrocco.convex.groups import Groups, groups_of
from pyrocco.convex.problem import ConvexProblem
from pyrocco.convex.solve import ConvexSolution, iterate_path, solve, solve_path
from pyrocco.convex.validation import Validation, hold_out, validate
from pyrocco.convex.weights import gaussian_knn_graph

__all__ = [
    "ConvexProblem",
    "ConvexSolution",
    "Groups",
    "Validation",
    "gaussian_knn_graph",
    "groups_of",
    "hold_out",
    "iterate_path",
    "solve",
    "solve_path",
    "validate",
]
