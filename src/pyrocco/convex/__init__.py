"""Convex biclustering (Chi, Allen and Baraniuk 2017), the method of COBRA."""

from pyrocco.convex.model_selection import (
    Validation,
    check_gammas,
    hold_out,
    validate,
)
from pyrocco.convex.problem import (
    ConvexProblem,
    ScaledProblem,
    gaussian_knn_graph,
    scaled_problem,
)
from pyrocco.convex.solve import (
    Clusters,
    ConvexSolution,
    clusters_of,
    iterate_path,
    solve,
    solve_path,
)

__all__ = [
    "Clusters",
    "ConvexProblem",
    "ConvexSolution",
    "ScaledProblem",
    "Validation",
    "check_gammas",
    "clusters_of",
    "gaussian_knn_graph",
    "hold_out",
    "iterate_path",
    "scaled_problem",
    "solve",
    "solve_path",
    "validate",
]
