"""Robust Continuous Clustering (Shah and Koltun 2017)."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin

from pyrocco._typing import Dense, Labels, Matrix, MatrixLike
from pyrocco.assign.continuous import (
    ContinuousClustering,
    cluster_rows,
    published_calibration,
    unit_free_calibration,
)
from pyrocco.backends import cpu_backend
from pyrocco.backends.threads import limit_threads
from pyrocco.cells.input import check_matrix
from pyrocco.cells.values import (
    check_safe_squares,
    divided,
    is_mostly_zero,
    resolve_metric,
    root_mean_square,
)
from pyrocco.graph import METRICS, Graph, mutual_knn_graph
from pyrocco.progress import (
    CallbackSupportMixin,
    Observer,
    Progress,
    observed_fit,
    with_callbacks,
)
from pyrocco.results.persistence import save
from pyrocco.solvers import Solver, resolve_solver
from pyrocco.validation import (
    check_choice,
    check_count,
    check_n_jobs,
    check_verbose,
    warn_not_converged,
)


class RCC(ClusterMixin, BaseEstimator, CallbackSupportMixin):
    """Robust Continuous Clustering (RCC).

    Clusters the rows of a matrix and determines the number of clusters. RCC [1]_ joins mutual
    nearest neighbours in a graph and moves a representative of every row so that joined
    representatives approach each other, with a robust penalty that lets wrong edges go. Rows
    whose representatives have met form a cluster.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest neighbours of each row in the graph.
    metric : {"auto", "euclidean", "manhattan", "cosine"}, default="auto"
        Distance between rows. ``"auto"`` is cosine if more than half of the values are zero,
        and Euclidean otherwise.
    variant : {"refined", "paper"}, default="refined"
        ``"paper"`` runs the published program literally; its result depends on the units of X.
        ``"refined"`` runs it on X divided by its root mean square, so that no threshold has a
        unit, and connects the components of the graph.
    solver : str or solver, default="auto"
        Solver of the linear systems, see `pyrocco.solvers`. With ``variant="paper"``, ``"auto"``
        solves them as exactly as the published test of convergence needs.
    max_iter : int, default=99
        Maximum number of iterations.
    n_jobs : int, default=None
        Maximum number of threads; None uses as many as the process may use.
    verbose : int, default=0
        1 prints the stages, 2 also the iterations, to standard error. In a notebook, 1 shows a
        bar instead.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of every row; 0 is the largest.
    n_clusters_ : int
        Number of clusters.
    representation_ : ndarray of shape (n_rows, n_columns)
        The representative of every row, in the units of X.
    graph_ : Graph
        The mutual nearest-neighbour graph.
    history_ : list of dict
        A record of every iteration.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the method converged before `max_iter`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if X was a DataFrame whose column names are all texts.

    See Also
    --------
    ROCCO : Clusters rows and columns at the same time.

    References
    ----------
    .. [1] S. A. Shah and V. Koltun. Robust continuous clustering. PNAS 114(37), 2017.

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
    def fit(self, X: MatrixLike, y: object = None, *, observer: Observer | None = None) -> RCC:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : ignored
            Present for API consistency.
        observer : Observer, optional
            Is told about stages and iterations, see `pyrocco.progress.Observer`.

        Returns
        -------
        RCC
            The fitted estimator.
        """
        check_count("n_neighbors", self.n_neighbors)
        check_count("max_iter", self.max_iter)
        check_choice("metric", self.metric, ("auto", *METRICS))
        check_choice("variant", self.variant, ("refined", "paper"))
        check_verbose(self.verbose)
        threads = check_n_jobs(self.n_jobs)
        solver = resolve_solver(self.solver)
        matrix = check_matrix(X, estimator=self, allow_nan=False, order="C")
        scale = self._scale(matrix)
        with observed_fit(self, X, observer) as progress, limit_threads(threads):
            found, graph = self._cluster(divided(matrix, scale), solver, progress)
            self._publish(found, graph, scale)
        return self

    def _scale(self, X: Matrix) -> float:
        if self.variant == "refined":
            return root_mean_square(X)
        check_safe_squares(X, "variant='paper'", ", or use variant='refined'")
        return 1.0

    def _cluster(
        self, X: Matrix, solver: Solver, progress: Progress
    ) -> tuple[ContinuousClustering, Graph]:
        refined = self.variant == "refined"
        metric = resolve_metric(self.metric, is_mostly_zero(X))
        with progress.stage("graph"):
            graph = mutual_knn_graph(
                X, self.n_neighbors, metric, bridges=True if refined else "forest"
            )
        calibration = unit_free_calibration(X) if refined else published_calibration(X)
        with progress.stage("representation", steps=self.max_iter):
            found = cluster_rows(
                X,
                graph,
                calibration,
                solver=solver,
                backend=cpu_backend(self.n_jobs),
                max_iter=self.max_iter,
                report=progress.iteration,
            )
        return found, graph

    def _publish(self, found: ContinuousClustering, graph: Graph, scale: float) -> None:
        """Set the fitted attributes."""
        learned = found.representation
        self.labels_: Labels = found.labels
        self.representation_: Dense = learned.U * learned.U.dtype.type(scale)
        self.graph_ = graph
        self.history_ = learned.history
        self.n_iter_ = len(learned.history)
        self.converged_ = learned.converged
        self.n_clusters_ = int(found.labels.max()) + 1
        if not self.converged_ and self.n_iter_ == self.max_iter:
            warn_not_converged(self.max_iter)

    save = save

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
