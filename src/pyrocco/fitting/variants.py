"""The two variants of ROCCO: the parts in which they differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyrocco._typing import Array, Matrix
from pyrocco.assign import (
    CoClusterer,
    ContinuousAssigner,
    EachSide,
    JointAssigner,
    SilhouetteKMeans,
)
from pyrocco.backends import Backend
from pyrocco.cells.values import check_safe_squares, root_mean_square
from pyrocco.graph import Graph
from pyrocco.graph.build import Bridges
from pyrocco.model import EveryFour, Schedule, Side, SmoothOnce, SmoothUntilStill, length_scales
from pyrocco.solvers import Solver

# Norm of strength x Laplacian in the default variant: where it is strongest, smoothing is ten
# times as strong as the data term. Values from 3 to 30 did about as well (docs/how-it-works.md).
SMOOTHING = 10.0
# Relative change of the objective below which missing values are taken to have converged.
STILL = 1e-5


@dataclass(frozen=True)
class Refined:
    """The default variant.

    The data are prepared and divided by their scale, rows and columns are clustered together,
    and outlier cells are found. The representation, whose graphs use leading features too, is
    learned where values are missing, outlier cells are weighed or the matrix is in chunks.
    """

    random_state: np.random.RandomState
    bridges: Bridges = True
    feature_graphs: bool = True
    finds_outliers: bool = True
    allows_missing: bool = True
    sorts_repeated_rows: bool = True
    prepares: bool = True
    blocks: bool = True
    # Whether the representation is learned even where labels do not need it.
    represents: bool = False

    def scale(self, X: Matrix) -> float:
        """Return the root mean square of the values, by which they are divided."""
        return root_mean_square(X)

    def sides(self, X: Array, graphs: tuple[Graph, Graph], backend: Backend) -> tuple[Side, Side]:
        """Return both sides of the model, equally strong."""
        return Side(graphs[0], 0, SMOOTHING), Side(graphs[1], 1, SMOOTHING)

    def schedule(self, X: Array, has_missing: bool) -> Schedule:
        """Return the schedule: one convex solve, or several until missing values converge."""
        return SmoothUntilStill(STILL * X.shape[0] * X.shape[1]) if has_missing else SmoothOnce()

    def assigner(self, mostly_zero: bool, metric: str, backend: Backend) -> JointAssigner:
        """Return the assigner; mostly-zero data are clustered by the direction of their rows."""
        return CoClusterer(
            blocks=self.blocks and not mostly_zero,
            random_state=self.random_state,
            backend=backend,
            by_length=not mostly_zero,
        )


@dataclass(frozen=True)
class Paper:
    """Algorithm 1 of the paper, read literally.

    Two things that the paper leaves open decide its results on text, see docs/how-it-works.md.
    They are fields of the variant and no parameters of `ROCCO`.

    Parameters
    ----------
    random_state : RandomState
        Generator of k-means.
    n_neighbors : int
        Number of neighbours in the graph of RCC, the last step for dense data.
    solver : Solver
        Solver of the systems of RCC.
    tolerance : float or None
        RCC's test of convergence, see `EveryFour`; None stops where the continuation ends.
    silhouette : str or None
        Metric of the silhouette; None takes that of the graphs.
    bridges : bool or "forest"
        Which edges join the parts of a graph, see `pyrocco.graph.build`.
    feature_graphs : bool
        Whether the graphs use leading features, too.
    finds_outliers, allows_missing : bool
        Whether outlier cells are looked for, and whether values may be missing.
    sorts_repeated_rows : bool
        Whether rows are sorted and repeated rows fitted once. k-means starts from rows drawn at
        random, so their order is part of the data.
    prepares, represents : bool
        Whether the values are prepared, and whether the representation is always learned.
    """

    random_state: np.random.RandomState
    n_neighbors: int
    solver: Solver
    tolerance: float | None = None
    silhouette: str | None = None
    bridges: Bridges = "forest"
    feature_graphs: bool = False
    finds_outliers: bool = False
    allows_missing: bool = False
    sorts_repeated_rows: bool = False
    prepares: bool = False
    represents: bool = True

    def scale(self, X: Matrix) -> float:
        """Return 1: the paper uses the data as they are, if their squares are in range."""
        check_safe_squares(X, "variant='paper'", ", or use variant='refined'")
        return 1.0

    def sides(self, X: Array, graphs: tuple[Graph, Graph], backend: Backend) -> tuple[Side, Side]:
        """Return both sides: strengths by Eq. 15, mu three times the largest squared length."""
        norm = backend.matrix_norm(X)
        return (
            _graduated(X, graphs[0], 0, norm, backend),
            _graduated(X, graphs[1], 1, norm, backend),
        )

    def schedule(self, X: Array, has_missing: bool) -> Schedule:
        """Return the schedule that halves mu every four iterations (line 7)."""
        return EveryFour(self.tolerance)

    def assigner(self, mostly_zero: bool, metric: str, backend: Backend) -> JointAssigner:
        """Return k-means with the silhouette for sparse data, else RCC (lines 9-14)."""
        if mostly_zero:
            metric = self.silhouette or metric
            kmeans = SilhouetteKMeans(self.random_state, metric=metric, backend=backend)
            return EachSide(kmeans, backend)
        rcc = ContinuousAssigner(self.n_neighbors, self.solver, self.random_state, backend)
        return EachSide(rcc, backend)


Variant = Refined | Paper
VARIANTS = ("refined", "paper")


def resolve_variant(
    name: str, *, random_state: np.random.RandomState, n_neighbors: int, solver: Solver
) -> Variant:
    """Return the variant of this name."""
    if name == "paper":
        return Paper(random_state, n_neighbors, solver)
    return Refined(random_state)


def _graduated(X: Array, graph: Graph, axis: int, norm: float, backend: Backend) -> Side:
    lengths = backend.edge_lengths(X, graph.heads, graph.tails, axis)
    scales = length_scales(lengths, X.shape[1 - axis])
    return Side(graph, axis, norm, scales.mu, scales.delta)
