"""Robust Continuous Co-Clustering (He and Moreira-Matias 2018)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from pyrocco.backends import Backend, is_dask_array, resolve_backend
from pyrocco.checkpoint import journal_of
from pyrocco.estimators.blocked import BlockedMixin
from pyrocco.estimators.blocks import BlockMixin, block_means
from pyrocco.estimators.budget import plan_for
from pyrocco.estimators.checks import (
    check_choice,
    check_count,
    check_n_clusters,
    fresh_random_state,
)
from pyrocco.estimators.coclustering import NestedMixin
from pyrocco.estimators.deferred import Source
from pyrocco.estimators.learning import LearningMixin
from pyrocco.estimators.missing import ImputeMixin, observe
from pyrocco.estimators.prediction import PredictionMixin
from pyrocco.estimators.rcc import warn_not_converged
from pyrocco.estimators.saving import SavingMixin
from pyrocco.estimators.stages import Fitted, Work
from pyrocco.estimators.trust import Trusted, is_dominated, trust_cells, trust_filled_cells
from pyrocco.estimators.variants import VARIANTS, Variant, resolve_variant
from pyrocco.estimators.watching import WatchedMixin, with_callbacks
from pyrocco.estimators.weights import Copies
from pyrocco.graph import METRICS
from pyrocco.representation import Record
from pyrocco.solvers import Solver, resolve_solver


class ROCCO(
    BlockedMixin,
    LearningMixin,
    WatchedMixin,
    NestedMixin,
    PredictionMixin,
    SavingMixin,
    ImputeMixin,
    BlockMixin,
    ClusterMixin,
    BaseEstimator,
):
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
    memory_limit : None, str or int, default=None
        What the program may take, as ``"4GB"`` or in bytes, the matrix among it. Where a fit in
        memory would take more, it goes to single precision, or keeps the representation in
        files; where that does not fit either, it says so before it starts.
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
    row_membership_, column_membership_ : ndarray of float
        Probability that a label is right, from 0 to 1.
    row_stability_, column_stability_ : ndarray of float
        For each cluster, what it would have in common with itself if all labels were drawn
        anew from their probabilities: expected intersection over expected union.
    block_means_ : ndarray of shape (n_row_clusters_, n_column_clusters_)
        Mean of X over every pair of a row cluster and a column cluster, distrusted cells
        drawn to the representation, missing ones left out (all missing: of U).
    cell_weights_ : None, ndarray or CSR matrix
        None where every cell was trusted; else the trust in each, from 0 to 1 (sparse
        data: in the filled ones), NaN where it is missing.
    structure_ : {"blocks", "gradient", "features"}
        What the matrix was taken for: blocks of like cells under noise; a single gradient,
        which has no clusters; or rows and columns alike in their leading features.
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
    tree_ : NestedClusters
        Parts of the clusters, and the clusters merged down to one: what `at`, `coarser` and
        `finer` cut.
    statistics_ : TreeStatistics
        Counts, means and scatter over the finest clusters of the tree, for all its cuts.
    assigner_ : JointAssigner
        What turned the representation into labels; ``assigner_.sample_size`` is the size of
        the sample on which the default chooses the numbers of clusters.
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
        memory_limit: str | int | None = None,
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
        self.memory_limit = memory_limit
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ROCCO:
        """Find groups of rows and groups of columns of `X`.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask array of shape (n_rows, n_columns)
            The data; NaN marks missing cells (not in the paper variant). Of a Dask array,
            labels of rows and the representation are Dask arrays too.
        y : ignored
            For the interface of scikit-learn.
        sample_weight : array of shape (n_rows,), optional
            Whole numbers. A row of weight 3 counts like three copies of it; one of weight 0
            has no part in the fit and gets its label as a new row would.

        Returns
        -------
        ROCCO
            Itself, fitted.
        """
        if is_dask_array(X):
            self._fit_dask(X, sample_weight)
            return self
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
            ensure_all_finite="allow-nan",
        )  # fmt: skip
        plan = plan_for(self, X)
        if plan.way == "files":
            self._fit_in_files(X, plan.work, sample_weight)
            return self
        X = X.astype(np.float32) if plan.way == "single" else X
        # The paper's k-means starts from rows drawn at random: it keeps their order.
        given, copies = X, Copies.weigh(X, sample_weight, sort=self.variant != "paper")
        X, observed = observe(copies.of(X), self.variant)
        variant, solver = self._resolve(X)
        backend = resolve_backend(self.device, self.n_jobs)
        journal = journal_of(self, X, backend)
        with self._watched_fit(given) as progress, threadpool_limits(self.n_jobs):
            scale = variant.scale(X)
            # A product: SciPy's quotient of a float32 CSR matrix is float64.
            unitless = X * X.dtype.type(1 / scale)
            numbers = check_n_clusters(self.n_clusters, X.shape)
            work = Work(unitless, variant, solver, backend, progress, journal, numbers)
            copied = observed.restore(self._fit_trusted(work), backend)
            fitted = copies.restore(copied, backend)
            self._keep(fitted, backend, scale)
            rows = self._keep_copies(given, copied, copies, scale, backend)
            source = Source(given)
            self._promise(source, fitted, scale, not len(copies.left_out))
            self._place_later(source, copies, rows, scale, backend)
        return self

    def _fit_trusted(self, work: Work) -> Fitted:
        """Fit; where cells cannot be trusted, fit again to what remains of them."""
        X, variant = work.X, work.variant
        if variant.robust and work.mostly_zero and is_dominated(X):
            return self._fit_cleaned(work, trust_filled_cells(X))
        if work.journal.trusted is not None:
            return self._fit_cleaned(work, Trusted(*work.journal.trusted))
        fitted = self._fit_once(work)
        if not (variant.robust and fitted.found.contaminated):
            return fitted
        dense = X.toarray() if sparse.issparse(X) else X
        with work.progress.stage("cells to trust", steps=None):
            trusted = trust_cells(dense, lambda Z: self._smooth(work, Z))
        work.journal.keep_trusted(*trusted)
        return self._fit_cleaned(work, trusted)

    def _fit_cleaned(self, work: Work, trusted: Trusted) -> Fitted:
        fitted = self._fit_once(replace(work, X=trusted.X))
        return replace(fitted, weights=trusted.weights)

    def _fit_once(self, work: Work) -> Fitted:
        graphs, learned = work.journal.remembered(lambda: self._represent(work))
        with work.progress.stage("clusters"):
            assigner = work.variant.assigner(work.mostly_zero, work.backend)
            found = assigner.assign(work.backend.asarray(work.X), learned.U, work.numbers)
        return Fitted(work.X, graphs, learned, assigner, found)

    def _smooth(self, work: Work, X: NDArray[Any]) -> NDArray[Any]:
        work = replace(work, X=X)
        _, learned = work.journal.remembered(lambda: self._represent(work))
        return work.backend.to_numpy(learned.U)

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

    def _keep(self, fitted: Fitted, backend: Backend, scale: float) -> None:
        self._keep_labels(fitted)
        U = backend.to_numpy(fitted.learned.U)
        means = block_means(fitted.X, self.row_labels_, self.column_labels_, U)
        self.block_means_ = means * scale
        # In place: nobody else needs the representation without units any more.
        U *= U.dtype.type(scale)
        self.representation_ = U

    def _keep_labels(self, fitted: Fitted) -> None:
        found, learned = fitted.found, fitted.learned
        self.row_labels_ = self.labels_ = found.rows.labels
        self.column_labels_ = found.columns.labels
        self.row_membership_ = found.rows.confidence
        self.column_membership_ = found.columns.confidence
        self.row_stability_ = found.rows.stability
        self.column_stability_ = found.columns.stability
        self.n_row_clusters_ = int(self.row_labels_.max()) + 1
        self.n_column_clusters_ = int(self.column_labels_.max()) + 1
        self.cell_weights_ = fitted.weights
        self.structure_ = found.reading
        self.assigner_ = fitted.assigner
        self.row_graph_, self.column_graph_ = fitted.graphs
        self.history_: list[Record] = learned.history
        self.n_iter_ = len(learned.history)
        self.converged_ = learned.converged
        if not learned.converged and self.n_iter_ == self.max_iter:
            warn_not_converged(self.max_iter)

    def _promise(self, source: Source, fitted: Fitted, scale: float, complete: bool) -> None:
        """Let what takes the data once more wait until it is asked for."""
        # Cells that were drawn in or left out are nowhere else; others are the data, scaled.
        cleaned = None if fitted.weights is None and complete else fitted.X
        unit = self.representation_.dtype.type(1 / scale)
        self._nest_later(lambda: source.matrix() * unit if cleaned is None else cleaned, scale)

    @property
    def reading_(self) -> str:
        """Deprecated name of `structure_`."""
        return str(self._renamed("reading_", "structure_"))

    @property
    def row_confidence_(self) -> NDArray[np.float64]:
        """Deprecated name of `row_membership_`."""
        return np.asarray(self._renamed("row_confidence_", "row_membership_"))

    @property
    def column_confidence_(self) -> NDArray[np.float64]:
        """Deprecated name of `column_membership_`."""
        return np.asarray(self._renamed("column_confidence_", "column_membership_"))

    def _renamed(self, old: str, new: str) -> Any:
        value = getattr(self, new)  # an AttributeError first where the model is not fitted
        warnings.warn(
            f"{old} is now called {new}; the old name will be removed in version 0.3.",
            FutureWarning,
            stacklevel=3,
        )
        return value

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.variant != "paper"
        return tags
