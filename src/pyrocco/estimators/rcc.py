"""Robust Continuous Clustering (Shah and Koltun 2017)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from pyrocco.assign.continuous import (
    ContinuousClustering,
    cluster_rows,
    published_calibration,
    unit_free_calibration,
)
from pyrocco.backends import cpu_backend
from pyrocco.estimators.checks import (
    check_choice,
    check_count,
    resolve_metric,
    root_mean_square,
)
from pyrocco.estimators.saving import SavingMixin
from pyrocco.estimators.watching import WatchedMixin, with_callbacks
from pyrocco.graph import METRICS, Graph, mutual_knn_graph
from pyrocco.progress import Progress
from pyrocco.representation import Record
from pyrocco.solvers import Solver, resolve_solver


class RCC(WatchedMixin, SavingMixin, ClusterMixin, BaseEstimator):
    """Clusters of rows, their number found by the method.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours each row names in the mutual nearest-neighbour graph.
    metric : {"auto", "euclidean", "manhattan", "cosine"}, default="auto"
        Distance between rows. ``"auto"`` is cosine for data of which more than half the
        cells are zero, Euclidean otherwise.
    variant : {"refined", "paper"}, default="refined"
        ``"paper"`` runs the published program to the letter; its answer depends on the
        units of X. ``"refined"`` runs it on X over its root mean square, so that no
        threshold carries a unit, and joins the components of the graph.
    solver : str or solver, default="auto"
        How the linear systems are solved: see `pyrocco.solvers`.
    max_iter : int, default=99
        Iterations at most.
    n_jobs : int, default=None
        Threads at most; None for as many as the process may use.
    verbose : int, default=0
        1 tells of stages, 2 also of iterations, on standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of every row, largest cluster 0.
    representation_ : ndarray of shape (n_rows, n_columns)
        A representative for every row, in the units of X.
    graph_ : Graph
        The mutual nearest-neighbour graph.
    history_ : list of dict
        One record an iteration.
    n_iter_ : int
        Iterations run.
    converged_ : bool
        Whether the method stopped by itself.
    n_clusters_ : int
        Clusters found.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pyrocco import RCC
    >>> X, _ = make_blobs(200, 5, centers=4, random_state=0)
    >>> RCC().fit(X).n_clusters_
    4
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        metric: str = "auto",
        variant: str = "refined",
        solver: str | Solver = "auto",
        max_iter: int = 99,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.variant = variant
        self.solver = solver
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> RCC:
        """Find clusters among the rows of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        RCC
            Itself, fitted.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        self._check_parameters()
        scale = root_mean_square(X) if self.variant == "refined" else 1.0
        with self._watched_fit(X) as progress:
            with threadpool_limits(self.n_jobs):
                found, graph = self._cluster(X * X.dtype.type(1 / scale), progress)
            self._keep(found, graph, scale)
        return self

    def _check_parameters(self) -> None:
        check_count("n_neighbors", self.n_neighbors)
        check_count("max_iter", self.max_iter)
        check_choice("metric", self.metric, ("auto", *METRICS))
        check_choice("variant", self.variant, ("refined", "paper"))

    def _cluster(self, X: Any, progress: Progress) -> tuple[ContinuousClustering, Graph]:
        solver = resolve_solver(self.solver)
        calibrate = unit_free_calibration if self.variant == "refined" else published_calibration
        with progress.stage("graph"):
            graph = mutual_knn_graph(
                X,
                self.n_neighbors,
                resolve_metric(self.metric, X),
                bridges=True if self.variant == "refined" else "forest",
            )
        with progress.stage("representation", steps=self.max_iter):
            found = cluster_rows(
                X,
                graph,
                calibrate(X),
                solver=solver,
                backend=cpu_backend(self.n_jobs),
                max_iter=self.max_iter,
                report=progress.iteration,
            )
        return found, graph

    def _keep(self, found: ContinuousClustering, graph: Graph, scale: float) -> None:
        learned = found.representation
        self.labels_: NDArray[np.intp] = found.labels
        self.representation_: NDArray[Any] = learned.U * learned.U.dtype.type(scale)
        self.graph_ = graph
        self.history_: list[Record] = learned.history
        self.n_iter_ = len(learned.history)
        self.converged_ = learned.converged
        self.n_clusters_ = int(found.labels.max()) + 1
        if not learned.converged and self.n_iter_ == self.max_iter:
            warn_not_converged(self.max_iter)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def warn_not_converged(max_iter: int) -> None:
    """Warn that the iteration cap ended a fit."""
    warnings.warn(
        f"Stopped after max_iter={max_iter} iterations before the representation settled; "
        "raise max_iter for a more exact answer.",
        ConvergenceWarning,
        stacklevel=4,
    )
