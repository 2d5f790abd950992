"""The two ways to run ROCCO, each resolved to the parts that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign import (
    CoClusterer,
    ContinuousAssigner,
    EachSide,
    JointAssigner,
    SilhouetteKMeans,
)
from pyrocco.backends import Backend
from pyrocco.estimators.checks import root_mean_square
from pyrocco.graph import Graph
from pyrocco.graph.build import Bridges
from pyrocco.model import EveryFour, Schedule, Side, SmoothOnce, SmoothUntilStill, length_scales
from pyrocco.solvers import Solver

# Norm of strength x Laplacian in the default: smoothing ten times as strong as the data
# term at its strongest. From 3 to 30 did about as well in trials (docs/how-it-works.md).
SMOOTHING = 10.0
# Change of the objective, as a share of the data term at U = 0, that counts as none while
# missing cells follow the representation.
STILL = 1e-5


@dataclass(frozen=True)
class Refined:
    """The default: no quantity has a unit, graphs see features too, rows and columns together."""

    random_state: np.random.RandomState
    bridges: Bridges = True
    feature_graphs: bool = True
    robust: bool = True
    blocks: bool = True

    def scale(self, X: Any) -> float:
        """Unit in which X is measured."""
        return root_mean_square(X)

    def sides(self, X: Any, graphs: tuple[Graph, Graph], backend: Backend) -> tuple[Side, Side]:
        """Both sides, equally strong."""
        return Side(graphs[0], 0, SMOOTHING), Side(graphs[1], 1, SMOOTHING)

    def schedule(self, X: Any, has_gaps: bool) -> Schedule:
        """One convex solve; several where missing cells are to settle."""
        return SmoothUntilStill(STILL * X.shape[0] * X.shape[1]) if has_gaps else SmoothOnce()

    def assigner(self, mostly_zero: bool, backend: Backend) -> JointAssigner:
        """Blocks are sought, and lengths of rows heeded, where most cells are filled."""
        return CoClusterer(
            blocks=self.blocks and not mostly_zero,
            random_state=self.random_state,
            backend=backend,
            by_length=not mostly_zero,
        )


@dataclass(frozen=True)
class Paper:
    """Algorithm 1 to the letter."""

    random_state: np.random.RandomState
    n_neighbors: int
    solver: Solver
    bridges: Bridges = "forest"
    feature_graphs: bool = False
    robust: bool = False

    def scale(self, X: Any) -> float:
        """X as it is."""
        return 1.0

    def sides(self, X: Any, graphs: tuple[Graph, Graph], backend: Backend) -> tuple[Side, Side]:
        """Strengths by Eq. 15, mu from three times the largest squared edge length."""
        norm = backend.matrix_norm(X)
        return (
            _graduated(X, graphs[0], 0, norm, backend),
            _graduated(X, graphs[1], 1, norm, backend),
        )

    def schedule(self, X: Any, has_gaps: bool) -> Schedule:
        """Mu halved every four iterations."""
        return EveryFour()

    def assigner(self, mostly_zero: bool, backend: Backend) -> JointAssigner:
        """k-means with the silhouette for sparse data, RCC for the rest (lines 9-14)."""
        if mostly_zero:
            return EachSide(SilhouetteKMeans(self.random_state, backend=backend), backend)
        rcc = ContinuousAssigner(self.n_neighbors, self.solver, self.random_state, backend)
        return EachSide(rcc, backend)


Variant = Refined | Paper
VARIANTS = ("refined", "paper")


def resolve_variant(
    name: str, *, random_state: np.random.RandomState, n_neighbors: int, solver: Solver
) -> Variant:
    """Turn the name of a variant into its parts."""
    if name == "paper":
        return Paper(random_state, n_neighbors, solver)
    return Refined(random_state)


def _graduated(X: NDArray[Any], graph: Graph, axis: int, norm: float, backend: Backend) -> Side:
    lengths = backend.edge_lengths(X, graph.heads, graph.tails, axis)
    scales = length_scales(lengths, X.shape[1 - axis])
    return Side(graph, axis, norm, scales.mu, scales.delta)
