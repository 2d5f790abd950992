"""Robust Continuous Co-Clustering (He and Moreira-Matias 2018)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, BiclusterMixin, ClusterMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pyrocco._typing import Dense, Floats, Labels, Mask, Matrix, MatrixLike, Names
from pyrocco.assign.nested import NestedClusters
from pyrocco.backends import Backend, cpu_backend, is_dask_array
from pyrocco.backends.chunked.dask import checked_array
from pyrocco.backends.threads import limit_threads
from pyrocco.cells.input import check_matrix, checked_chunks
from pyrocco.cells.kinds import Cells
from pyrocco.checkpoint import Checkpoint
from pyrocco.deprecation import warn_deprecated
from pyrocco.estimators.presentation import notebook_bundle, plot, report
from pyrocco.fitting.engines import Given
from pyrocco.fitting.pipeline import fit_rocco
from pyrocco.fitting.result import bicluster_columns, bicluster_rows
from pyrocco.fitting.settings import Settings
from pyrocco.graph import Graph
from pyrocco.progress import CallbackSupportMixin, Observer, observed_fit, with_callbacks
from pyrocco.representation import Record
from pyrocco.results.answers import Answers, Source, label_left_out_rows, refuse_dask
from pyrocco.results.cuts import CoClustering
from pyrocco.results.impute import impute
from pyrocco.results.persistence import save
from pyrocco.results.predict import Predicted, cluster_row_means
from pyrocco.results.statistics import TreeStatistics
from pyrocco.results.tables import SideNames, as_polars, is_polars, row_names_of
from pyrocco.solvers import Solver
from pyrocco.validation import check_kind, check_n_jobs, warn_not_converged


class ROCCO(BiclusterMixin, TransformerMixin, ClusterMixin, BaseEstimator, CallbackSupportMixin):
    """Robust Continuous Co-Clustering (ROCCO).

    Clusters the rows and the columns of a matrix at the same time, and determines both numbers
    of clusters. There is no regularisation to choose, and the result does not depend on the
    units of the data.

    ROCCO [1]_ builds a nearest-neighbour graph among the rows and one among the columns. It
    learns a smooth representation of the matrix, in which joined rows and joined columns are
    similar, by solving a Sylvester equation, and clusters its rows and columns.
    ``variant="paper"`` follows this algorithm literally. The paper does not say when its loop has
    converged, nor which distance its silhouette has. Here the loop stops where the decrease of mu
    ends, because a limit on the change of the objective, which RCC's program has, depends on the
    units and on the size of X. The silhouette has the metric of the graphs, because Euclidean
    distances would compare the lengths of documents, too. Both were chosen with the paper's
    numbers in view; most of them are then reproduced on the data sets that are exactly the
    paper's. *How it works* lists everything that the paper leaves open.

    The default variant finds out what the cells are, such as counts, and prepares them. It
    clusters the prepared data: by a model of blocks of values or of counts under noise if the
    evidence supports it, by leading features otherwise; a single gradient is one cluster. It
    uses the representation to fill missing values and to find outlier cells only, because
    labels from the representation were no better. See the page *How it works* for both variants.

    Parameters
    ----------
    n_clusters : None, int or pair, default=None
        Number of clusters. None determines the numbers; an integer sets both; a pair sets those
        of rows and columns, either of which may be None.
    prepare : {"auto"}, None, str, list of str or Cells, default="auto"
        Preparation of the values. ``"auto"`` finds out what the cells are (`cells_`) and
        prepares them as their kind needs it: the totals of rows and columns of counts are
        divided out, logarithms of positive values over orders of magnitude are taken, columns
        with different units are scaled. With ``"auto"`` the paper variant prepares nothing.
        None takes the values as they are. One or several names of `pyrocco.prepare` choose the
        preparations. `pyrocco.inspection.Cells`, such as `found_cells_` of another fit, say
        what the cells are and how they are prepared. All results are in the units of X.
    n_neighbors : int, default=10
        Number of nearest neighbours of each row and each column in the graphs of the
        representation.
    metric : {"auto", "euclidean", "manhattan", "cosine"}, default="auto"
        Distance between rows and between columns in the graphs. ``"auto"`` is cosine if more
        than half of the values are zero, and Euclidean otherwise, as in the paper.
    variant : {"refined", "paper"}, default="refined"
        ``"refined"`` gave better clusters in our benchmarks and does not depend on the units of
        X; ``"paper"`` is Algorithm 1 of the paper.
    solver : str or solver, default="auto"
        Solver of the linear systems that give the representation, see `pyrocco.solvers`.
    max_iter : int, default=100
        Maximum number of iterations of the representation.
    device : {"cpu", "cuda", "auto"} or backend, default="cpu"
        Where to compute. ``"cuda"`` needs a GPU and the extra ``gpu``; ``"auto"`` uses a GPU if
        there is one.
    random_state : None, int or RandomState, default=0
        Seed of the sample of rows on which the numbers of clusters of a large matrix are
        chosen and, in the paper variant, of k-means.
    n_jobs : int, default=None
        Maximum number of threads; None uses as many as the process may use.
    memory_limit : None, str or int, default=None
        Memory that the program may use, such as ``"4GB"`` or a number of bytes, including the
        matrix. If a fit in memory needs more, it uses single precision or keeps the prepared
        matrix and the representation in temporary files; if that needs more too, it raises a
        MemoryError before it starts.
    verbose : int, default=0
        1 prints the stages, 2 also the iterations, to standard error. In a notebook, 1 shows a
        bar instead.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of every row and of every column; 0 is the largest.
    labels_ : ndarray of int
        The row labels, under the name that scikit-learn uses.
    n_row_clusters_, n_column_clusters_ : int
        Numbers of clusters.
    row_membership_, column_membership_ : ndarray of float
        Probability of the label of every row and of every column under the fitted model. It
        does not say how likely a label is to be right, and should not be compared between
        preparations or models; `pyrocco.reproducibility` measures whether clusters are found
        again in other parts of the data.
    row_stability_, column_stability_ : ndarray of float
        Expected overlap (Jaccard index) of each cluster with itself when labels are redrawn
        from their probabilities.
    block_means_ : ndarray of shape (n_row_clusters, n_column_clusters)
        Mean of X over every block, that is, a row cluster and a column cluster. Outlier cells
        are moved towards their expected values; missing values are left out.
    cells_ : {"real values", "counts", "yes/no", "marks", "positive values", "different units"}
        The kind of the cells.
    preparation_ : str
        What was done to the values before the fit, and why, in one sentence.
    found_cells_ : Cells
        Both, with the names of the preparations. ``ROCCO(prepare=model.found_cells_)`` prepares
        another matrix in the same way, whatever its values look like.
    structure_ : {"blocks", "gradient", "features"}
        What the matrix is made of: blocks of similar cells under noise; a single gradient,
        or levels of rows and columns, which have no clusters; or rows and columns that are
        similar in their leading features.
    cell_weights_ : None, ndarray or CSR matrix
        Weights of the cells, from 0 for outlier cells to 1, and NaN for missing values; only of
        the nonzero cells if X is sparse. None if there are no outlier cells.
    representation_ : ndarray of shape (n_rows, n_columns)
        The smoothed matrix U, in the units of X. The default variant learns it in `fit` for
        missing values and outlier cells, and for matrices in chunks. Elsewhere it is learned
        when it, a graph, the history, `n_iter_` or `converged_` is first read. A model that was
        saved or pickled before has none, and these attributes raise an AttributeError.
    has_representation_ : bool
        Whether the representation has been learned, in `fit` or since.
    row_graph_, column_graph_ : Graph
        The nearest-neighbour graphs with which the representation was learned.
    rows_, columns_ : ndarray of bool
        Which rows, and which columns, are in each block.
    biclusters_ : tuple of ndarray
        The pair ``(rows_, columns_)``.
    tree_ : NestedClusters
        Nested clusters, finer and coarser than those of the fit, which `at`, `coarser` and
        `finer` cut.
    statistics_ : TreeStatistics
        Counts, means and scatter over the finest clusters of the tree.
    assigner_ : JointAssigner
        The object that clustered rows and columns. ``assigner_.sample_size`` is the size of
        the sample on which the default variant chooses the numbers of clusters.
    history_ : list of dict
        A record of every iteration of the representation: objective, alpha, beta, mu of both
        sides, solver, its iterations and residual, and seconds.
    n_iter_ : int
        Number of iterations of the representation.
    converged_ : bool
        Whether the representation converged before `max_iter`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if X was a DataFrame whose column names are all texts.
    row_names_in_ : ndarray of str
        Names of the rows, if X was a pandas DataFrame whose row names are all texts.

    See Also
    --------
    RCC : Clusters the rows only.
    COBRA : Convex biclustering.

    Notes
    -----
    A fitted model owns what it answers from. It keeps a copy of X until the nested clusters,
    the statistics, the predictors and the representation have been computed, which happens when
    they are first needed. A model that is pickled or saved contains no copy of X: all of
    these except the representation are computed before it is written. With `memory_limit` the
    copy may be in a temporary file. A model that was fitted to a Dask array keeps no copy, but
    the array itself until the representation has been computed.

    References
    ----------
    .. [1] X. He and L. Moreira-Matias. Robust Continuous Co-Clustering. arXiv:1802.05036, 2018.

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
        prepare: str | Collection[str] | Cells | None = "auto",
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
        self.prepare = prepare
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
    def fit(
        self,
        X: MatrixLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: Checkpoint | None = None,
        observer: Observer | None = None,
    ) -> ROCCO:
        """Cluster the rows and the columns of `X`.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Dask array of shape (n_rows, n_columns)
            The data. NaN marks missing values, which the paper variant and Dask arrays do not
            allow. For a Dask array, the row labels and the representation are Dask arrays too.
        y : ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_rows,), optional
            Integer weights. A row of weight 3 counts like three copies of it. A row of weight 0
            has no part in the fit and is labelled like a new row.
        checkpoint : Checkpoint, optional
            Where to save the state of the fit and to continue from, see
            `pyrocco.checkpoint.checkpoint_to`.
        observer : Observer, optional
            Is told about stages and iterations, see `pyrocco.progress.Observer`.

        Returns
        -------
        ROCCO
            The fitted estimator.
        """
        settings = Settings.of(self.get_params(deep=False))
        check_kind("checkpoint", checkpoint, Checkpoint, "of pyrocco.checkpoint.checkpoint_to")
        given = self._validated(X, sample_weight)
        self._remember_names(X)
        threads = limit_threads(check_n_jobs(self.n_jobs))
        with observed_fit(self, X, observer) as progress, threads:
            result = fit_rocco(given, settings, progress, checkpoint)
            chunks = given.X if given.is_dask else None
            source = Source(result, settings, sample_weight, cpu_backend(self.n_jobs), chunks)
            self._publish(replace(source, result=label_left_out_rows(source)))
        return self

    def _validated(self, X: MatrixLike, sample_weight: ArrayLike | None) -> Given:
        if is_dask_array(X):
            array = checked_array(checked_chunks(X))
            self.n_features_in_ = array.shape[1]
            return Given(array, sample_weight, is_dask=True)
        matrix = check_matrix(X, estimator=self, order="C")
        # Other containers, such as DataFrames, may hand out the very array that they hold.
        is_own = isinstance(X, np.ndarray) and not np.may_share_memory(matrix, X)
        return Given(matrix, sample_weight, is_own=is_own)

    def _remember_names(self, X: MatrixLike) -> None:
        names = row_names_of(X)
        if names is not None:
            self.row_names_in_ = names
        elif hasattr(self, "row_names_in_"):
            del self.row_names_in_  # of an earlier fit
        self._of_polars = is_polars(X)

    def _publish(self, source: Source) -> None:
        """Set the fitted attributes."""
        result = source.result
        rows, columns = result.clusters.rows, result.clusters.columns
        self.row_labels_ = self.labels_ = rows.labels
        self.column_labels_ = columns.labels
        self.row_membership_, self.column_membership_ = rows.membership, columns.membership
        self.row_stability_, self.column_stability_ = rows.stability, columns.stability
        self.n_row_clusters_ = len(rows.stability)
        self.n_column_clusters_ = len(columns.stability)
        self.block_means_ = result.block_means
        self.cell_weights_ = result.cell_weights
        self.found_cells_ = result.cells
        self.cells_, self.preparation_ = result.cells.kind, result.cells.sentence
        self.structure_ = result.clusters.structure
        self.assigner_ = result.assigner
        self._answers = Answers.of(source)
        learned = result.represented
        if learned is not None and not learned.converged and self.n_iter_ == self.max_iter:
            warn_not_converged(self.max_iter)

    @property
    def has_representation_(self) -> bool:
        """Whether the representation has been learned, in `fit` or since."""
        check_is_fitted(self)
        return self._answers.has_representation

    @property
    def representation_(self) -> Any:
        """The smoothed matrix U, in the units of X."""
        check_is_fitted(self)
        return self._answers.representation.U

    @property
    def row_graph_(self) -> Graph:
        """The nearest-neighbour graph of the rows."""
        check_is_fitted(self)
        return self._answers.representation.graphs[0]

    @property
    def column_graph_(self) -> Graph:
        """The nearest-neighbour graph of the columns."""
        check_is_fitted(self)
        return self._answers.representation.graphs[1]

    @property
    def history_(self) -> list[Record]:
        """A record of every iteration of the representation."""
        check_is_fitted(self)
        return self._answers.representation.history

    @property
    def n_iter_(self) -> int:
        """Number of iterations of the representation."""
        return len(self.history_)

    @property
    def converged_(self) -> bool:
        """Whether the representation converged before `max_iter`."""
        check_is_fitted(self)
        return self._answers.representation.converged

    @property
    def rows_(self) -> Mask:
        """Which rows are in each block; one row for each block."""
        check_is_fitted(self)
        return bicluster_rows(self.row_labels_, self.column_labels_)

    @property
    def columns_(self) -> Mask:
        """Which columns are in each block; one row for each block."""
        check_is_fitted(self)
        return bicluster_columns(self.row_labels_, self.column_labels_)

    @property
    def tree_(self) -> NestedClusters:
        """Nested clusters, from the finest to one."""
        return self._answers.tree

    @property
    def statistics_(self) -> TreeStatistics:
        """Statistics of the data over the finest clusters of the tree."""
        return self._answers.statistics

    def predict(self, X: MatrixLike) -> Labels:
        """Assign the rows of `X` to clusters.

        Rows that were in `fit` keep the label that they got there.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_new_rows, n_columns)
            Rows with the columns of `fit`, in the same order. Missing values are ignored, if
            the model allows them at all.

        Returns
        -------
        ndarray of int

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
        >>> model = ROCCO().fit(X[:50])
        >>> bool((model.predict(X[:50]) == model.row_labels_).all())
        True
        >>> len(model.predict(X[50:]))
        10
        """
        return self._predict_rows(X).labels

    def predict_proba(self, X: MatrixLike) -> Floats:
        """Compute the probability of every row cluster for the rows of `X`.

        The largest probability is that of the cluster that `predict` assigns, and equals the
        membership that `place` returns. Rows of the fit keep their labels: where another cluster
        would be more probable, the probability of the label is raised above it. A row that fits
        no cluster has probabilities as well; `place` says which rows are far from all clusters.

        Parameters
        ----------
        X : array or DataFrame of shape (n_new_rows, n_columns)
            Rows with the columns of `fit`, in the same order. Sparse matrices are refused,
            because scikit-learn's checks expect one column per class of ``y`` from estimators
            that accept them here. `place` takes them, and returns the probability of the label.

        Returns
        -------
        ndarray of shape (n_new_rows, n_row_clusters_)
            Column k is cluster k. Rows sum to 1.

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
        >>> model = ROCCO().fit(X[:50])
        >>> probabilities = model.predict_proba(X[50:])
        >>> bool((probabilities.argmax(axis=1) == model.predict(X[50:])).all())
        True
        """
        check_is_fitted(self)
        if sparse.issparse(X):
            raise TypeError(
                "predict_proba takes no sparse matrix: pass X.toarray(), or use place, which "
                "takes sparse matrices and returns the probability of the label of every row."
            )
        matrix = self._check_rows(X)
        return self._answers.row_probabilities(matrix)

    def score(self, X: MatrixLike, y: object = None) -> float:
        """Return how much of the variation of the rows of `X` the blocks explain (R squared).

        Each row is assigned to a cluster by `predict` and compared with the block means of this
        cluster, as deviations from the means of the columns in the fit, in the prepared values.
        1 means that the blocks explain all deviations, 0 that they explain no more than the means
        of the columns do, which is the score of a single row cluster. Higher is better; rows
        unlike those of the fit may have a negative score.

        On the rows of the fit, the score grows with the number of clusters. Use it to compare
        models on other rows, as `sklearn.model_selection.cross_val_score` does.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_new_rows, n_columns)
            Rows with the columns of `fit`, in the same order. Missing values do not count.
        y : ignored
            Present for API consistency.

        Returns
        -------
        float

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
        >>> round(ROCCO().fit(X[:50]).score(X[50:]), 2), round(ROCCO(1).fit(X[:50]).score(X), 2)
        (0.97, 0.0)
        """
        matrix = self._check_rows(X)
        return self._answers.explained_by_blocks(matrix)

    def predict_columns(self, X: MatrixLike) -> Labels:
        """Assign the columns of `X` to clusters.

        Columns that were in `fit` keep the label that they got there.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_new_columns)
            Columns with the rows of `fit`, in the same order.

        Returns
        -------
        ndarray of int
        """
        return self._predict_columns(X).labels

    def place(self, X: MatrixLike) -> Any:
        """Assign new rows to clusters, with a probability and a flag for rows that fit none.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_new_rows, n_columns)
            Rows with the columns of `fit`, in the same order.

        Returns
        -------
        DataFrame
            One row for each row of `X`, with its index if `X` is a DataFrame: ``label``, as from
            `predict`; ``membership``, the probability of the label under the fitted model;
            ``distance`` from the cluster, which exceeds 1 for one in a hundred rows like those of
            `fit`; and ``far``, whether it exceeds 1. The label of a far row is that of the
            nearest cluster. A DataFrame of polars if `X` is one.

        Examples
        --------
        >>> import numpy as np
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
        >>> unlike = 100 * np.random.default_rng(0).standard_normal((1, 40))
        >>> ROCCO().fit(X[:50]).place(np.vstack([X[50:52], unlike]))["far"].tolist()
        [False, False, True]
        """
        table = self._predict_rows(X).table(getattr(X, "index", None))
        return as_polars(table) if is_polars(X) else table

    def place_columns(self, X: MatrixLike) -> Any:
        """Assign new columns to clusters, with a probability and a flag for those that fit none.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_new_columns)
            Columns with the rows of `fit`, in the same order.

        Returns
        -------
        DataFrame
            As from `place`, with one row for each column of `X`. In a DataFrame of polars, which
            has no index, their names are in the first column.
        """
        table = self._predict_columns(X).table(getattr(X, "columns", None))
        return as_polars(table, "name") if is_polars(X) else table

    def transform(self, X: MatrixLike) -> Dense:
        """Compute the mean of every row of `X` over the columns of each column cluster.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_new_rows, n_columns)
            Rows with the columns of `fit`, in the same order.

        Returns
        -------
        ndarray of shape (n_new_rows, n_column_clusters)
            A DataFrame after ``set_output(transform="pandas")``. Missing values are ignored; NaN
            if a row has no other values in a cluster.

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
        >>> ROCCO().fit(X).transform(X[:4]).shape
        (4, 3)
        """
        matrix = self._check_rows(X)
        return cluster_row_means(matrix, self.column_labels_).astype(matrix.dtype)

    def get_feature_names_out(self, input_features: object = None) -> Dense:
        """Return the names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : ignored
            Present for API consistency.

        Returns
        -------
        ndarray of str
            ``column_cluster_0``, ``column_cluster_1``, ...
        """
        check_is_fitted(self)
        names = [f"column_cluster_{k}" for k in range(self.n_column_clusters_)]
        return np.array(names, dtype=object)

    def impute(self, X: MatrixLike) -> Any:
        """Fill the missing values of the matrix that was fitted.

        A missing value gets the value of the representation, plus the mean difference between
        the data and the representation in its block. Imputed values are shrunken towards the
        mean of their block.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The matrix of `fit`; NaN marks missing values.

        Returns
        -------
        ndarray or DataFrame
            A dense copy of `X` without missing values. All other values are unchanged.

        Examples
        --------
        >>> import numpy as np
        >>> from pyrocco import ROCCO
        >>> X = np.kron(np.eye(2), np.full((8, 8), 6.0))
        >>> X += np.random.default_rng(0).random(X.shape)
        >>> X[1, 2] = np.nan
        >>> imputed = ROCCO().fit(X).impute(X)
        >>> bool(5.5 < imputed[1, 2] < 7.5), bool(np.isnan(X[1, 2]))
        (True, True)
        """
        check_is_fitted(self)
        if is_dask_array(self.row_labels_):
            refuse_dask()
        labels = self.row_labels_, self.column_labels_
        preparation = self._answers.preparation
        return impute(X, self.representation_, *labels, self.cell_weights_, preparation)

    def at(
        self, n_row_clusters: int | None = None, n_column_clusters: int | None = None
    ) -> CoClustering:
        """Cut the nested clusters at other numbers of clusters, without another fit.

        Cuts are nested: a cluster of a coarser cut consists of whole clusters of a finer one.
        At the numbers of the fit, the labels are those of the fit.

        Parameters
        ----------
        n_row_clusters, n_column_clusters : int, optional
            Numbers of clusters; by default those of the fit.

        Returns
        -------
        CoClustering

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((100, 80), 4, noise=10, random_state=0).X
        >>> ROCCO().fit(X).at(3, 2).block_means_.shape
        (3, 2)
        """
        check_is_fitted(self)
        tree, membership = self.tree_, (self.row_membership_, self.column_membership_)
        fitted = CoClustering(
            tree,
            self.statistics_,
            membership,
            tree.rows.n_fitted,
            tree.columns.n_fitted,
            self._names,
            self._of_polars,
        )
        return fitted.at(n_row_clusters, n_column_clusters)

    def coarser(self) -> CoClustering:
        """Merge the two nearest row clusters and the two nearest column clusters.

        Returns
        -------
        CoClustering
        """
        return self.at().coarser()

    def finer(self) -> CoClustering:
        """Split one row cluster and one column cluster, where their parts differ most.

        Returns
        -------
        CoClustering
        """
        return self.at().finer()

    @property
    def _names(self) -> SideNames:
        rows, columns = (getattr(self, f"{side}_names_in_", None) for side in ("row", "feature"))
        return SideNames(rows, columns)

    def row_clusters(self) -> Any:
        """List the rows by name, with their clusters.

        Returns
        -------
        DataFrame
            ``cluster`` and ``membership`` of every row, with the names of the rows as index if X
            was a DataFrame with names. A DataFrame of polars if X was one.

        Examples
        --------
        >>> import pandas as pd
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = pd.DataFrame(make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X)
        >>> ROCCO().fit(X.add_prefix("gene ")).column_clusters().loc["gene 7", "cluster"]
        np.int64(2)
        """
        return self.at().row_clusters()

    def column_clusters(self) -> Any:
        """List the columns by name, with their clusters, as `row_clusters` does for rows.

        Returns
        -------
        DataFrame
        """
        return self.at().column_clusters()

    def explain(self, *, top: int = 10, column_names: Names | None = None) -> Any:
        """Describe what distinguishes each row cluster, and every block, as a tidy table.

        For each row cluster there is one row for every column cluster (``kind`` "block") and
        one for each of the single columns that differ most (``kind`` "column"), with the
        largest effect first.

        The clusters were found in the same data, so that p-values are smaller than they would
        be for clusters known in advance, even in pure noise. Use them to rank the rows of the
        table, not as evidence that clusters exist.

        Parameters
        ----------
        top : int, default=10
            Largest number of single columns to list for each row cluster.
        column_names : sequence, optional
            Names of the columns, in the order of the data; by default those of the DataFrame that
            was fitted, or positions.

        Returns
        -------
        DataFrame
            ``row_cluster``, ``column_cluster`` and ``column`` identify the block or column,
            ``n_rows`` and ``n_columns`` are its size. ``mean`` is its mean, ``rest_mean`` the
            mean of the other rows in the same columns. ``effect`` is the difference between the
            rows and the other rows in pooled standard deviations (Cohen's d), for which each row
            counts with its mean over the columns of the block; ``direction`` is its sign in
            words. ``p_adjusted`` is the p-value of Welch's t-test, adjusted by the method of
            Benjamini and Hochberg over all blocks and all columns, listed or not; NaN with fewer
            than two rows on either side or without scatter. ``homogeneity`` is 1 minus the ratio
            of the variance within to the total variance (of the matrix, or of the column).
            ``membership`` is the mean of the memberships of its rows and of its columns; at
            another cut than that of the fit, they are still those of the fit. Missing values
            are ignored.

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((100, 80), 4, noise=10, random_state=0).X
        >>> table = ROCCO().fit(X).explain(top=3)
        >>> table["kind"].value_counts().to_dict()
        {'block': 16, 'column': 12}
        >>> table.loc[0, ["kind", "direction"]].tolist()
        ['block', 'higher']
        """
        return self.at().explain(top=top, column_names=column_names)

    save = save
    plot = plot
    report = report

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Return what a notebook shows: scikit-learn's diagram, and the clusters of a fit."""
        return notebook_bundle(self, super()._repr_mimebundle_(**kwargs))

    @property
    def reading_(self) -> str:
        """Deprecated name of `structure_`."""
        return str(self._renamed("reading_", "structure_"))

    @property
    def row_confidence_(self) -> Floats:
        """Deprecated name of `row_membership_`."""
        return np.asarray(self._renamed("row_confidence_", "row_membership_"))

    @property
    def column_confidence_(self) -> Floats:
        """Deprecated name of `column_membership_`."""
        return np.asarray(self._renamed("column_confidence_", "column_membership_"))

    def _renamed(self, old: str, new: str) -> Any:
        value = getattr(self, new)  # raises an AttributeError first if the model is not fitted
        warn_deprecated(old, new, since="0.2", stacklevel=3)
        return value

    def _predict_rows(self, X: MatrixLike) -> Predicted:
        matrix = self._check_rows(X)
        return self._answers.predict_rows(matrix)

    def _predict_columns(self, X: MatrixLike) -> Predicted:
        check_is_fitted(self)
        matrix = check_matrix(X, allow_nan=self._allows_nan)
        if matrix.shape[0] != len(self.row_labels_):
            raise ValueError(
                f"Columns need the {len(self.row_labels_)} rows that the model was fitted to, in "
                f"the same order; got {matrix.shape[0]} rows."
            )
        return self._answers.predict_columns(matrix)

    def _check_rows(self, X: MatrixLike) -> Matrix:
        check_is_fitted(self)
        return check_matrix(X, estimator=self, reset=False, allow_nan=self._allows_nan)

    @property
    def _allows_nan(self) -> bool:
        """Whether `predict` accepts missing values: if `fit` accepts them."""
        return bool(get_tags(self).input_tags.allow_nan)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.variant != "paper"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
