"""Robust Continuous Co-Clustering (He and Moreira-Matias 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from pyrocco.backends import Backend, resolve_backend
from pyrocco.estimators.blocks import BlockMixin, block_means
from pyrocco.estimators.checks import (
    check_choice,
    check_count,
    check_n_clusters,
    fresh_random_state,
    resolve_metric,
)
from pyrocco.estimators.rcc import warn_not_converged
from pyrocco.estimators.variants import VARIANTS, Variant, resolve_variant
from pyrocco.graph import Graph, mutual_knn_graph
from pyrocco.graph.device import search_on
from pyrocco.graph.neighbors import METRICS
from pyrocco.progress import Progress
from pyrocco.representation import Record, Representation, learn_representation
from pyrocco.solvers import Solver, resolve_solver


class ROCCO(BlockMixin, ClusterMixin, BaseEstimator):
    """Groups of rows and groups of columns of a matrix.

    Parameters
    ----------
    n_clusters : None, int or pair, default=None
        None finds the numbers of clusters. A number fixes both; a pair fixes rows and
        columns, either of which may be None.
    n_neighbors : int, default=10
        Neighbours each row (and each column) names in the graphs.
    metric : {"auto", "euclidean", "manhattan", "cosine"}, default="auto"
        Distance between rows and between columns. ``"auto"`` is cosine for data of which
        more than half the cells are zero, Euclidean otherwise, as in the paper.
    variant : {"refined", "paper"}, default="refined"
        ``"refined"`` does not depend on the units of X and gives better labels;
        ``"paper"`` is Algorithm 1 to the letter.
    solver : str or solver, default="auto"
        How the linear systems are solved: see `pyrocco.solvers`.
    max_iter : int, default=100
        Iterations of the representation at most.
    device : {"cpu", "cuda", "auto"} or backend, default="cpu"
        Where to compute. ``"cuda"`` needs a GPU and the extra ``gpu``; ``"auto"`` takes a
        GPU where there is one.
    random_state : None, int or RandomState, default=0
        Seeds what is random: the sample of rows on which a large matrix' number of
        clusters is chosen and, in the paper variant, k-means.
    n_jobs : int, default=None
        Threads at most; None for as many as the process may use.
    verbose : int, default=0
        1 tells of stages, 2 also of iterations, on standard error.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of every row and of every column, largest cluster 0.
    labels_ : ndarray of int
        The row labels, under scikit-learn's name for them.
    representation_ : ndarray of shape (n_rows, n_columns)
        The smoothed matrix U, in the units of X.
    block_means_ : ndarray of shape (n_row_clusters_, n_column_clusters_)
        Mean of X over every pair of a row cluster and a column cluster.
    row_graph_, column_graph_ : Graph
        The graphs.
    history_ : list of dict
        One record an iteration: objective, alpha, beta, mu of both sides, solver, its
        iterations and residual, seconds.
    n_iter_ : int
        Iterations run.
    converged_ : bool
        Whether the representation settled before `max_iter`.
    n_row_clusters_, n_column_clusters_ : int
        Numbers of clusters.
    assigner_ : Assigner
        What turned the representation into labels. Where it chooses K on a sample of the
        rows, ``assigner_.sample_size`` is its size.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((100, 80), 4, noise=10, random_state=0).X
    >>> model = ROCCO().fit(X)
    >>> model.n_row_clusters_, model.n_column_clusters_
    (4, 4)
    """

    def __init__(
        self,
        n_clusters: int | tuple[int | None, int | None] | None = None,
        *,
        n_neighbors: int = 10,
        metric: str = "auto",
        variant: str = "refined",
        solver: str | Solver = "auto",
        max_iter: int = 100,
        device: str | Backend = "cpu",
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.variant = variant
        self.solver = solver
        self.max_iter = max_iter
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> ROCCO:
        """Find groups of rows and groups of columns of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        ROCCO
            Itself, fitted.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        variant, solver = self._resolve(X)
        backend = resolve_backend(self.device, self.n_jobs)
        progress = Progress(self.verbose)
        with threadpool_limits(self.n_jobs):
            scale = variant.scale(X)
            # A product: SciPy's quotient of a float32 CSR matrix is float64.
            unit_free = X * X.dtype.type(1 / scale)
            graphs = self._graphs(unit_free, variant, backend, progress)
            learned = self._learn(unit_free, graphs, variant, solver, backend, progress)
            self._assign(X, learned.U, variant, backend, progress)
        self._keep(learned, backend.to_numpy(learned.U), graphs, scale)
        return self

    def _resolve(self, X: Any) -> tuple[Variant, Solver]:
        check_count("n_neighbors", self.n_neighbors)
        check_count("max_iter", self.max_iter)
        check_choice("metric", self.metric, ("auto", *METRICS))
        check_choice("variant", self.variant, VARIANTS)
        check_n_clusters(self.n_clusters, X.shape)
        solver = resolve_solver(self.solver)
        variant = resolve_variant(
            self.variant,
            random_state=fresh_random_state(self.random_state),
            n_neighbors=self.n_neighbors,
            solver=solver,
        )
        return variant, solver

    def _graphs(
        self, X: Any, variant: Variant, backend: Backend, progress: Progress
    ) -> tuple[Graph, Graph]:
        metric = resolve_metric(self.metric, X)
        search = search_on(backend)
        columns = X.T.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X.T)
        with progress.stage("graph of rows"):
            row_graph = mutual_knn_graph(X, self.n_neighbors, metric, variant.bridges, search)
        with progress.stage("graph of columns"):
            column_graph = mutual_knn_graph(
                columns, self.n_neighbors, metric, variant.bridges, search
            )
        return row_graph, column_graph

    def _learn(
        self,
        X: Any,
        graphs: tuple[Graph, Graph],
        variant: Variant,
        solver: Solver,
        backend: Backend,
        progress: Progress,
    ) -> Representation:
        dense = backend.asarray(X)
        with progress.stage("representation"):
            return learn_representation(
                dense,
                variant.sides(dense, graphs, backend),
                shift=2.0,
                schedule=variant.schedule(),
                solver=solver,
                backend=backend,
                max_iter=self.max_iter,
                report=progress.iteration,
            )

    def _assign(
        self, X: Any, U: Any, variant: Variant, backend: Backend, progress: Progress
    ) -> None:
        n_rows, n_columns = check_n_clusters(self.n_clusters, X.shape)
        self.assigner_ = assigner = variant.assigner(X, backend)
        with progress.stage("clusters of rows"):
            self.row_labels_ = assigner.assign(U, n_rows)
        with progress.stage("clusters of columns"):
            self.column_labels_ = assigner.assign(backend.transpose(U), n_columns)
        self.labels_ = self.row_labels_
        self.n_row_clusters_ = int(self.row_labels_.max()) + 1
        self.n_column_clusters_ = int(self.column_labels_.max()) + 1
        self.block_means_ = block_means(X, self.row_labels_, self.column_labels_)

    def _keep(
        self,
        learned: Representation,
        U: NDArray[Any],
        graphs: tuple[Graph, Graph],
        scale: float,
    ) -> None:
        self.representation_ = U * U.dtype.type(scale)
        self.row_graph_, self.column_graph_ = graphs
        self.history_: list[Record] = learned.history
        self.n_iter_ = len(learned.history)
        self.converged_ = learned.converged
        if not learned.converged:
            warn_not_converged(self.max_iter)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
