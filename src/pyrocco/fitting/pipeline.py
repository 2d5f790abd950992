"""One fit of ROCCO, from a validated matrix to its result.

`fit_rocco` is the whole way. Its stages are the functions below it: isolated outlier cells,
preparation, graphs and representation where they are needed, clusters, and, if there are more
outlier cells, the same again without them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from pyrocco._typing import Array, Dense, DeviceArray, Matrix, is_sparse
from pyrocco.assign import Counted
from pyrocco.assign.features import leading_features
from pyrocco.backends import Backend, ChunkedMatrix, is_missing
from pyrocco.cells.kinds import are_common
from pyrocco.cells.values import (
    SPARSE_DENSITY,
    density,
    has_missing,
    is_mostly_zero,
    resolve_metric,
    to_dense,
    transpose,
)
from pyrocco.checkpoint import Checkpoint, Stages, open_stages
from pyrocco.fitting.engines import Arranged, Engine, Given, engine_for
from pyrocco.fitting.isolated_cells import find_isolated_cells
from pyrocco.fitting.missing import first_guess
from pyrocco.fitting.outliers import (
    WeightedCells,
    is_dominated,
    weigh_cells,
    weigh_nonzero_cells,
)
from pyrocco.fitting.result import Fit, FitResult, PreparedCells, Represented
from pyrocco.fitting.settings import Settings
from pyrocco.graph import Graph, combined_graph, mutual_knn_graph
from pyrocco.graph.build import search_for
from pyrocco.graph.masked import MaskedSearch
from pyrocco.progress import Progress
from pyrocco.representation import Representation, learn_representation
from pyrocco.validation import NClusters

Graphs = tuple[Graph, Graph]

# Number of leading features among which rows, and columns, have a second set of neighbours.
FEATURE_GRAPH_RANK = 20
# With more rows the search would take most of the time, and one set of neighbours is enough.
FEATURE_GRAPH_ROWS = 20_000


@dataclass(frozen=True)
class Task:
    """What the stages of a fit have in common.

    Parameters
    ----------
    settings : Settings
        Checked parameters.
    engine : Engine
        Where the data are.
    n_clusters : pair of int or None
        Numbers of clusters, where they are given.
    stages : Stages
        Stored results of the stages.
    progress : Progress
        Is told about the stages.
    cells : PreparedCells
        The kind of the cells, and how they were prepared.
    represents : bool
        Whether to learn the representation even if labels do not need it.
    """

    settings: Settings
    engine: Engine
    n_clusters: NClusters
    stages: Stages
    progress: Progress
    cells: PreparedCells
    represents: bool

    @property
    def backend(self) -> Backend:
        """Where arrays are and what computes on them."""
        return self.engine.backend

    @property
    def finds_outliers(self) -> bool:
        """Whether outlier cells are searched for; there are none among yes and no."""
        return self.settings.variant.finds_outliers and self.cells.kind != "yes/no"

    def is_mostly_zero(self, X: Matrix | ChunkedMatrix) -> bool:
        """Whether most cells say nothing; a no is as good an answer as a yes."""
        is_answer = self.settings.variant.prepares and self.cells.are_answers
        share = density(X)
        return share < SPARSE_DENSITY and not (is_answer and are_common(share))


def fit_rocco(
    given: Given, settings: Settings, progress: Progress, checkpoint: Checkpoint | None = None
) -> FitResult:
    """Fit ROCCO to a matrix.

    Parameters
    ----------
    given : Given
        The validated matrix.
    settings : Settings
        Checked parameters.
    progress : Progress
        Is told about the stages.
    checkpoint : Checkpoint, optional
        Where to save the state of the fit, and to continue from.

    Returns
    -------
    FitResult
    """
    engine = engine_for(given, settings)
    arranged = engine.arrange(given, settings.variant)
    n_clusters = arranged.n_clusters(settings.parameters["n_clusters"])
    stages = open_stages(checkpoint, settings.parameters, arranged.X, engine.backend)
    arranged, weights = move_isolated_cells(arranged, settings, progress)
    with progress.stage("preparation"):
        cells = engine.prepare(arranged, settings)
    # It also fills rows and columns without any value.
    represents = settings.variant.represents or arranged.non_empty is not None
    task = Task(settings, engine, n_clusters, stages, progress, cells, represents)
    fit = fit_cells(cells.X, weights, task)
    return engine.result(fit, arranged, given, cells)


def learn_later(given: Given, settings: Settings) -> Represented:
    """Learn the representation of a matrix that was fitted without it.

    Parameters
    ----------
    given : Given
        The matrix of the fit.
    settings : Settings
        The parameters of the fit.

    Returns
    -------
    Represented
    """
    variant = replace(settings.variant, represents=True)
    result = fit_rocco(given, replace(settings, variant=variant), Progress())
    return cast(Represented, result.represented)


def move_isolated_cells(
    arranged: Arranged, settings: Settings, progress: Progress
) -> tuple[Arranged, Matrix | None]:
    """Move isolated outlier cells to their expected values; return the weights of all cells.

    The scale is computed again without them. The weights are None if there are no such cells.
    """
    X, variant = arranged.X, settings.variant
    if isinstance(X, ChunkedMatrix) or not variant.finds_outliers:
        return arranged, None
    with progress.stage("isolated outlier cells"):
        cells = find_isolated_cells(X)
    if cells is None:
        return arranged, None
    return replace(arranged, X=cells.X, scale=variant.scale(cells.X)), cells.weights


def fit_cells(X: Matrix | ChunkedMatrix, weights: Matrix | None, task: Task) -> Fit:
    """Fit a matrix; if it has outlier cells, fit it again with these moved.

    `weights` are those of cells that were moved before, if any.
    """
    mostly_zero = task.is_mostly_zero(X)
    cells = find_dominant_cells(X, mostly_zero, task)
    if cells is None:
        # In chunks, outlier cells stay where they are.
        repeats = task.finds_outliers and not isinstance(X, ChunkedMatrix)
        fit = fit_once(X, mostly_zero, task, stops_at_outliers=repeats)
        if not (task.finds_outliers and fit.clusters.contaminated):
            return replace(fit, cell_weights=weights)
        if isinstance(X, ChunkedMatrix):
            _warn_of_outliers()
            return fit
        cells = find_outlier_cells(X, task)
        with task.progress.stage("fit without outlier cells", steps=None):
            return _fit_weighted(cells, weights, task)
    return _fit_weighted(cells, weights, task)


def _fit_weighted(cells: WeightedCells, weights: Matrix | None, task: Task) -> Fit:
    """Fit the cells with outliers moved; `weights` are those of cells that were moved before."""
    fit = fit_once(cells.X, task.is_mostly_zero(cells.X), task)
    if weights is not None:
        cells = cells._replace(weights=np.minimum(cells.weights, weights))
    return replace(fit, cell_weights=cells.weights)


def fit_once(
    X: Matrix | ChunkedMatrix, mostly_zero: bool, task: Task, *, stops_at_outliers: bool = False
) -> Fit:
    """Cluster rows and columns, after the representation was learned where it is needed.

    It fills missing values, and the paper's method clusters it. Elsewhere the labels come from the
    data, and the representation is learned when it is asked for. `stops_at_outliers` says that
    labels are not needed if there are outlier cells.
    """
    graphs, learned = None, None
    if isinstance(X, ChunkedMatrix):
        if task.represents:
            graphs, learned = learn(task.cells.of_given_rows.X, mostly_zero, task)
    elif task.represents or has_missing(X):
        graphs, learned = learn(X, mostly_zero, task)
    with task.progress.stage("clusters"):
        metric = resolve_metric(task.settings.metric, mostly_zero)
        assigner = task.settings.variant.assigner(mostly_zero, metric, task.backend)
        values = task.backend.operand(X) if learned is None else task.backend.asarray(X)
        U = values if learned is None else learned.U
        counted = replace(_counted(task), stops_at_outliers=stops_at_outliers)
        clusters = assigner.assign(values, U, task.n_clusters, counted)
    return Fit(X, graphs, learned, assigner, clusters)


def _counted(task: Task) -> Counted:
    """Return what the assigner needs to know beside the prepared matrix."""
    columns = task.cells.columns
    there = None if columns is None else task.backend.operand(columns.X)
    are_answers = task.settings.variant.prepares and task.cells.are_answers
    return Counted(task.cells.counts, there, are_answers)


def learn(
    X: Matrix | ChunkedMatrix, mostly_zero: bool, task: Task
) -> tuple[Graphs, Representation]:
    """Build the graphs of a matrix and learn its representation, or take the stored ones."""
    stored = task.stages.begin_representation()
    if stored is not None:
        return stored
    metric = resolve_metric(task.settings.metric, mostly_zero)
    if not isinstance(X, ChunkedMatrix) and has_missing(X):
        graphs, learned = learn_with_missing(np.asarray(X), metric, task)
    else:
        values = task.backend.asarray(X)
        found = task.stages.graphs()
        if found is None:
            found = add_feature_neighbors(build_graphs(X, metric, task), values, task)
            task.stages.keep_graphs(found)
        graphs = found
        learned = smooth(values, graphs, task)
    task.stages.keep_representation(graphs)
    return graphs, learned


def learn_with_missing(X: Dense, metric: str, task: Task) -> tuple[Graphs, Representation]:
    """Learn a representation, fill missing values with it, and learn it again.

    The first one uses neighbours by the values that two rows share; the second one also those
    among the leading features, for which the missing values must be filled.
    """
    backend = task.backend
    with task.progress.stage("missing values", steps=None):
        graphs = build_graphs(X, metric, task)
        missing = is_missing(backend.asarray(X))
        values = backend.asarray(first_guess(X))
        values[missing] = smooth(values, graphs, task, missing).U[missing]
    graphs = add_feature_neighbors(graphs, values, task)
    return graphs, smooth(values, graphs, task, missing)


def build_graphs(X: Matrix | ChunkedMatrix, metric: str, task: Task) -> Graphs:
    """Build the nearest-neighbour graphs of the rows and of the columns."""
    in_chunks = isinstance(X, ChunkedMatrix)
    search = MaskedSearch() if not in_chunks and has_missing(X) else search_for(task.backend)
    options = task.settings.n_neighbors, metric, task.settings.variant.bridges, search
    with task.progress.stage("graph of rows"):
        rows = mutual_knn_graph(X, *options)
    with task.progress.stage("graph of columns"):
        return rows, mutual_knn_graph(_transposed(X, task.backend), *options)


def _transposed(X: Matrix | ChunkedMatrix, backend: Backend) -> Any:
    if isinstance(X, ChunkedMatrix):
        return X.T
    if is_sparse(X):
        return transpose(X)
    # On the back end: a GPU transposes a large matrix much faster.
    return backend.to_numpy(backend.transpose(backend.asarray(X)))


def add_feature_neighbors(graphs: Graphs, values: Array, task: Task) -> Graphs:
    """Add nearest neighbours among the leading features, if the variant uses them."""
    if not task.settings.variant.feature_graphs:
        return graphs
    with task.progress.stage("graph of features"):
        sides = values, task.backend.transpose(values)
        rows, columns = (_add_neighbors(*pair, task) for pair in zip(graphs, sides, strict=True))
        return rows, columns


def _add_neighbors(graph: Graph, values: Array, task: Task) -> Graph:
    if graph.n_nodes > FEATURE_GRAPH_ROWS:
        return graph
    features = leading_features(values, FEATURE_GRAPH_RANK, task.backend)
    # No bridges between components: the first graph is connected already.
    k, search = task.settings.n_neighbors, search_for(task.backend)
    return combined_graph(graph, mutual_knn_graph(features, k, "euclidean", "forest", search))


def smooth(
    values: DeviceArray, graphs: Graphs, task: Task, missing: DeviceArray | None = None
) -> Representation:
    """Learn the representation U: Algorithm 1, lines 3-8."""
    settings = task.settings
    with task.progress.stage("representation", steps=settings.max_iter):
        return learn_representation(
            values,
            settings.variant.sides(values, graphs, task.backend),
            shift=2.0,
            schedule=settings.variant.schedule(values, missing is not None),
            solver=settings.solver,
            backend=task.backend,
            max_iter=settings.max_iter,
            report=task.progress.iteration,
            missing=missing,
            checkpoint=task.stages.begin_loop(),
        )


def find_dominant_cells(
    X: Matrix | ChunkedMatrix, mostly_zero: bool, task: Task
) -> WeightedCells | None:
    """Weigh the cells of a mostly-zero matrix if a few of them dominate it.

    Returns the stored weights of an earlier fit if there are any, and None otherwise.
    """
    stored = task.stages.outliers()
    if stored is not None:
        return WeightedCells(*stored)
    if not (task.finds_outliers and mostly_zero and is_dominated(X)):
        return None
    if isinstance(X, ChunkedMatrix):
        _warn_of_outliers()
        return None
    return weigh_nonzero_cells(X)


def find_outlier_cells(X: Matrix, task: Task) -> WeightedCells:
    """Weigh all cells by their distance from the representation."""
    with task.progress.stage("outlier cells", steps=None):
        cells = weigh_cells(to_dense(X), Smoother(task))
    task.stages.keep_outliers(*cells)
    return cells


@dataclass(frozen=True)
class Smoother:
    """Returns the representation of a matrix, as an array of NumPy."""

    task: Task

    def __call__(self, X: Dense) -> Dense:
        """Build the graphs of `X` and learn its representation."""
        _, learned = learn(X, is_mostly_zero(X), self.task)
        return self.task.backend.to_numpy(learned.U)


def _warn_of_outliers() -> None:
    warnings.warn(
        "Some values are much larger than the others. Outlier cells get a lower weight only if "
        "the matrix is fitted in memory: look at the largest values, and clip them or take "
        "logarithms.",
        UserWarning,
        stacklevel=5,
    )
