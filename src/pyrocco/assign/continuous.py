"""Robust Continuous Clustering (RCC): the paper's assignment for dense input."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pyrocco._typing import Array, Dense, Labels, stored_values
from pyrocco.assign.kmeans import SilhouetteKMeans
from pyrocco.assign.labels import relabel
from pyrocco.backends import Backend, NumpyBackend, matrix_norm
from pyrocco.graph import Graph, mutual_knn_graph
from pyrocco.model import Side, UpToFour, length_scales
from pyrocco.representation import Record, Representation, learn_representation
from pyrocco.solvers import AutoSolver, Solver, resolve_solver

# Relative residual that suffices for the labels, where no test of convergence asks for less.
LOOSE = 1e-3
# A smaller one is out of reach of single precision.
FINE = 1e-6


@dataclass(frozen=True)
class Calibration:
    """The parameters of RCC that have a unit."""

    norm: float  # spectral norm of strength x Laplacian
    # Mu falls to `mu_factor` times delta to the power `mu_power` (see `LengthScales`).
    mu_factor: float
    mu_power: int
    tolerance: float  # change of the objective below which it is stable
    solver_tol: float  # relative residual of the solver "auto"


def published_calibration(X: Dense) -> Calibration:
    """Return the parameters of RCC as published: results depend on the units of `X`.

    The program solves the linear systems exactly and compares the change of the objective with
    0.1. No eigenvalue of I + lambda L is below 1, so that a relative residual r raises the
    objective by at most r^2 ||X||_F^2 / 2. The solver keeps this below a hundredth of that change.
    """
    tolerance = 0.1
    size = float(np.linalg.norm(stored_values(X)))
    bound = math.sqrt(0.02 * tolerance) / max(size, 1.0)
    return Calibration(matrix_norm(X), 1.0, 1, tolerance, min(LOOSE, max(bound, FINE)))


def unit_free_calibration(X: Dense) -> Calibration:
    """Return parameters relative to the data, for an `X` of unit root mean square.

    They are the published rules as ratios, on data of a scale for which these work well:
    smoothing a thousand times the data term, mu down to a twentieth of delta squared, and a
    change of 1e-5 of the largest data term. The ratios were chosen after looking at the labels
    of seven small sets (nine pairs were tried, and a value between two of them was taken), so
    that agreement with those sets says little.
    """
    # A sparse matrix has zeros that its `size` does not count.
    n_cells = X.shape[0] * X.shape[1]
    return Calibration(1000.0, 0.05, 2, 1e-5 * n_cells / 2, LOOSE)


@dataclass(frozen=True)
class ContinuousClustering:
    """Labels of rows and the representation that gave them."""

    labels: Labels
    representation: Representation


def cluster_rows(
    X: Dense,
    graph: Graph,
    calibration: Calibration,
    *,
    solver: Solver,
    backend: Backend,
    max_iter: int = 99,
    report: Callable[[Record], object] = lambda record: None,
) -> ContinuousClustering:
    """Cluster the rows of `X` by Robust Continuous Clustering.

    Rows are in the same cluster if they are connected by edges whose length in the
    representation is at most `epsilon`. The edge lengths in X determine this threshold and
    the range of mu. The solver "auto" is at least as exact as the calibration says.
    """
    if isinstance(solver, AutoSolver):
        solver = AutoSolver(min(solver.tol, calibration.solver_tol))
    X = backend.asarray(X)
    n_columns = X.shape[1]
    lengths = backend.edge_lengths(X, graph.heads, graph.tails, 0)
    scales = length_scales(lengths, n_columns)
    none = np.empty(0, dtype=np.intp)
    mu_end = calibration.mu_factor * scales.delta**calibration.mu_power
    rows = Side(graph, 0, calibration.norm, scales.mu, mu_end)
    columns = Side(Graph(n_columns, none, none, np.empty(0)), 1, 0.0)
    learned = learn_representation(
        X,
        (rows, columns),
        shift=1.0,
        schedule=UpToFour(calibration.tolerance),
        solver=solver,
        backend=backend,
        max_iter=max_iter,
        report=report,
    )
    lengths = backend.edge_lengths(learned.U, graph.heads, graph.tails, 0)
    labels = relabel(graph.components(np.sqrt(lengths) <= scales.epsilon))
    return ContinuousClustering(labels, learned)


@dataclass(eq=False)
class ContinuousAssigner:
    """Robust Continuous Clustering of a representation; k-means for a given K.

    Shah and Koltun, "Robust continuous clustering", Proceedings of the National Academy of
    Sciences 114 (2017) 9814-9819.
    """

    n_neighbors: int = 10  # in the graph of the representation
    solver: str | Solver = "auto"
    random_state: int | np.random.RandomState | None = 0  # of k-means
    backend: Backend = field(default_factory=NumpyBackend)

    def assign(self, U: Array, n_clusters: int | None) -> Labels:
        """Label the rows of `U`."""
        rows = self.backend.to_numpy(U)
        if n_clusters is not None:
            return SilhouetteKMeans(self.random_state).assign(rows, n_clusters)
        graph = mutual_knn_graph(rows, self.n_neighbors, bridges="forest")
        solver = resolve_solver(self.solver)
        calibration = published_calibration(rows)
        return cluster_rows(rows, graph, calibration, solver=solver, backend=self.backend).labels
