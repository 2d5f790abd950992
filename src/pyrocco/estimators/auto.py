"""Methods of scikit-learn with the number of clusters chosen by the silhouette."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, BiclusterMixin, ClusterMixin
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pyrocco._typing import Labels, Mask, Matrix, MatrixLike
from pyrocco.assign import relabel
from pyrocco.assign.kmeans import silhouettes
from pyrocco.cells.input import check_matrix
from pyrocco.cells.values import in_safe_range
from pyrocco.fitting.result import bicluster_columns, bicluster_rows
from pyrocco.results.persistence import save
from pyrocco.validation import check_count, check_random_state

Pair = tuple[Labels, Labels]
# Clusters the rows and the columns of a matrix into a given number of clusters.
Method = Callable[[Matrix, int, np.random.RandomState], Pair]


@dataclass(frozen=True)
class Choice:
    """The labels with the best silhouette, and what was tried.

    Parameters
    ----------
    rows, columns : ndarray of int
        Labels of rows and of columns.
    n_clusters : int
        Number of clusters.
    silhouettes : dict of int to float
        Silhouette by number of clusters.
    failures : dict of int to str
        Numbers of clusters that failed, and why.
    """

    rows: Labels
    columns: Labels
    n_clusters: int
    silhouettes: dict[int, float]
    failures: dict[int, str]


def choose_by_silhouette(
    method: Method, X: Matrix, max_clusters: int, sample_size: int, random: np.random.RandomState
) -> Choice:
    """Try 2, 3, ... clusters, and choose the labels of rows with the best silhouette."""
    failures: dict[int, str] = {}
    tried: dict[int, Pair] = {}
    for k in range(2, min(max_clusters, X.shape[0] - 1) + 1):
        try:
            with warnings.catch_warnings():
                # Square roots of negative sums, which scikit-learn replaces by zeros.
                warnings.simplefilter("ignore", RuntimeWarning)
                # Fewer distinct rows than clusters: the silhouette decides.
                warnings.simplefilter("ignore", ConvergenceWarning)
                tried[k] = method(X, k, random)
        except (ValueError, ArithmeticError, IndexError, RuntimeError) as error:
            failures[k] = str(error)
    values = dict.fromkeys(tried, math.nan)
    if tried:
        found = silhouettes(X, [rows for rows, _ in tried.values()], sample_size)
        values = dict(zip(tried, found.tolist(), strict=True))
    undefined = {k for k, value in values.items() if math.isnan(value)}
    failures |= dict.fromkeys(undefined, "all rows have one label, or each its own.")
    values = {k: value for k, value in values.items() if k not in undefined}
    if not values:
        k, reason = next(iter(failures.items()))
        raise ValueError(f"No number of clusters gave labels; with {k} clusters: {reason}")
    best = max(values, key=values.__getitem__)
    return Choice(*tried[best], best, values, failures)


def _choose_nonzero(estimator: Any, X: MatrixLike, method: Method) -> Choice:
    """Choose for the rows and columns that are not all zero; the others are labelled -1."""
    X = _check(estimator, X, min_columns=2)
    rows, columns = _is_nonzero(X, 1), _is_nonzero(X, 0)
    if rows.sum() < 3 or columns.sum() < 2:
        raise ValueError("at least 3 rows and 2 columns of X must not be all zero.")
    choice = _choose(estimator, X[rows][:, columns], method)
    spread = _spread(choice.rows, rows), _spread(choice.columns, columns)
    return Choice(*spread, choice.n_clusters, choice.silhouettes, choice.failures)


def _choose(estimator: Any, X: Matrix, method: Method) -> Choice:
    random = check_random_state(estimator.random_state)
    return choose_by_silhouette(method, X, estimator.max_clusters, estimator.sample_size, random)


def _check(estimator: Any, X: MatrixLike, min_columns: int) -> Matrix:
    check_count("max_clusters", estimator.max_clusters, 2)
    check_count("sample_size", estimator.sample_size, 3)
    check_random_state(estimator.random_state)
    checked = check_matrix(
        X,
        estimator=estimator,
        allow_nan=False,
        ensure_min_samples=3,
        ensure_min_features=min_columns,
    )
    return in_safe_range(checked)[0]  # the labels do not depend on the unit


def _k_means(X: Matrix, k: int, random: np.random.RandomState) -> Pair:
    labels = KMeans(k, n_init=10, random_state=random).fit_predict(X)
    return relabel(labels), np.empty(0, dtype=np.intp)


def _spectral_coclustering(X: Matrix, k: int, random: np.random.RandomState) -> Pair:
    model = SpectralCoclustering(k, random_state=random).fit(X)
    return relabel(model.row_labels_), relabel(model.column_labels_)


def _spectral_biclustering(X: Matrix, k: int, random: np.random.RandomState) -> Pair:
    n_vectors = min(6, *X.shape)
    model = SpectralBiclustering(
        (k, min(k, X.shape[1])),
        n_components=n_vectors,
        n_best=min(3, n_vectors),
        random_state=random,
    ).fit(X)
    return relabel(model.row_labels_), relabel(model.column_labels_)


def _is_nonzero(X: Matrix, axis: int) -> Mask:
    """Which rows (axis 1) or columns (axis 0) have a nonzero value."""
    counts = (X != 0).sum(axis=axis) if sparse.issparse(X) else np.count_nonzero(X, axis=axis)
    return np.asarray(counts).ravel() > 0


def _spread(labels: Labels, present: Mask) -> Labels:
    """Labels of all rows from those of the rows that are present: -1 for the others."""
    everyone = np.full(len(present), -1, dtype=np.intp)
    everyone[present] = labels
    return everyone


class AutoKMeans(ClusterMixin, BaseEstimator):
    """k-means with the number of clusters chosen by the silhouette ("autoKM" in the paper).

    Parameters
    ----------
    max_clusters : int, default=20
        Largest number of clusters to try; the smallest is 2.
    sample_size : int, default=10_000
        Largest number of rows for which the silhouette is computed.
    random_state : None, int or RandomState, default=0
        Seed of the random numbers that k-means uses.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of every row; 0 is the largest.
    n_clusters_ : int
        The chosen number of clusters.
    silhouettes_ : dict of int to float
        Silhouette by number of clusters.
    failures_ : dict of int to str
        Numbers of clusters that failed, and why.
    n_features_in_ : int
        Number of columns seen in `fit`.

    See Also
    --------
    RCC : Clusters rows without a number of clusters to choose.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pyrocco import AutoKMeans
    >>> X, _ = make_blobs(100, 5, centers=4, random_state=0)
    >>> AutoKMeans().fit(X).n_clusters_
    4
    """

    def __init__(
        self,
        max_clusters: int = 20,
        *,
        sample_size: int = 10_000,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.max_clusters = max_clusters
        self.sample_size = sample_size
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: object = None) -> AutoKMeans:
        """Cluster the rows of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : ignored
            Present for API consistency.

        Returns
        -------
        AutoKMeans
            The fitted estimator.
        """
        choice = _choose(self, _check(self, X, min_columns=1), _k_means)
        self.labels_ = choice.rows
        self.n_clusters_ = choice.n_clusters
        self.silhouettes_, self.failures_ = choice.silhouettes, choice.failures
        return self

    save = save

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class AutoSpectralCoclustering(BiclusterMixin, BaseEstimator):
    """Spectral co-clustering with the number of clusters chosen by the silhouette ("autoSCC").

    Spectral co-clustering [1]_ is not defined for rows and columns that are all zero: these
    are left out and labelled -1. The silhouette is that of the rows.

    Parameters
    ----------
    max_clusters : int, default=20
        Largest number of clusters to try; the smallest is 2.
    sample_size : int, default=10_000
        Largest number of rows for which the silhouette is computed.
    random_state : None, int or RandomState, default=0
        Seed of the random numbers that the method uses.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of every row and of every column; 0 is the largest, -1 marks all-zero ones.
    rows_, columns_ : ndarray of bool
        Which rows, and which columns, are in each bicluster.
    biclusters_ : tuple of ndarray
        The pair ``(rows_, columns_)``.
    n_clusters_ : int
        The chosen number of clusters.
    silhouettes_ : dict of int to float
        Silhouette by number of clusters.
    failures_ : dict of int to str
        Numbers of clusters that failed, and why.
    n_features_in_ : int
        Number of columns seen in `fit`.

    See Also
    --------
    sklearn.cluster.SpectralCoclustering : The method for a given number of clusters.

    References
    ----------
    .. [1] I. S. Dhillon. Co-clustering documents and words using bipartite spectral graph
       partitioning. KDD 2001.

    Examples
    --------
    >>> from pyrocco import AutoSpectralCoclustering
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((60, 50), 3, noise=2, random_state=0).X
    >>> AutoSpectralCoclustering().fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        max_clusters: int = 20,
        *,
        sample_size: int = 10_000,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.max_clusters = max_clusters
        self.sample_size = sample_size
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: object = None) -> AutoSpectralCoclustering:
        """Cluster the rows and the columns of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : ignored
            Present for API consistency.

        Returns
        -------
        AutoSpectralCoclustering
            The fitted estimator.
        """
        choice = _choose_nonzero(self, X, _spectral_coclustering)
        self.row_labels_, self.column_labels_ = choice.rows, choice.columns
        self.n_clusters_ = choice.n_clusters
        self.silhouettes_, self.failures_ = choice.silhouettes, choice.failures
        return self

    save = save

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def rows_(self) -> Mask:
        """Which rows are in each bicluster; one row for each bicluster."""
        check_is_fitted(self)
        return np.asarray(self.row_labels_ == np.arange(self.n_clusters_)[:, None])

    @property
    def columns_(self) -> Mask:
        """Which columns are in each bicluster; one row for each bicluster."""
        check_is_fitted(self)
        return np.asarray(self.column_labels_ == np.arange(self.n_clusters_)[:, None])


class AutoSpectralBiclustering(BiclusterMixin, BaseEstimator):
    """Spectral biclustering with the number of clusters chosen by the silhouette ("autoSBC").

    Spectral biclustering [1]_ is asked for as many column clusters as row clusters. It is not
    defined for rows and columns that are all zero: these are left out and labelled -1. The
    silhouette is that of the rows.

    Parameters
    ----------
    max_clusters : int, default=20
        Largest number of clusters to try; the smallest is 2.
    sample_size : int, default=10_000
        Largest number of rows for which the silhouette is computed.
    random_state : None, int or RandomState, default=0
        Seed of the random numbers that the method uses.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of every row and of every column; 0 is the largest, -1 marks all-zero ones.
    rows_, columns_ : ndarray of bool
        Which rows, and which columns, are in each bicluster.
    biclusters_ : tuple of ndarray
        The pair ``(rows_, columns_)``.
    n_clusters_ : int
        The chosen number of clusters.
    silhouettes_ : dict of int to float
        Silhouette by number of clusters.
    failures_ : dict of int to str
        Numbers of clusters that failed, and why.
    n_features_in_ : int
        Number of columns seen in `fit`.

    See Also
    --------
    sklearn.cluster.SpectralBiclustering : The method for a given number of clusters.

    References
    ----------
    .. [1] Y. Kluger, R. Basri, J. T. Chang and M. Gerstein. Spectral biclustering of microarray
       data: coclustering genes and conditions. Genome Research, 2003.

    Examples
    --------
    >>> from sklearn.datasets import make_checkerboard
    >>> from pyrocco import AutoSpectralBiclustering
    >>> X, _, _ = make_checkerboard((60, 50), (3, 3), noise=1, random_state=0)
    >>> AutoSpectralBiclustering(max_clusters=5).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        max_clusters: int = 20,
        *,
        sample_size: int = 10_000,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.max_clusters = max_clusters
        self.sample_size = sample_size
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: object = None) -> AutoSpectralBiclustering:
        """Cluster the rows and the columns of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : ignored
            Present for API consistency.

        Returns
        -------
        AutoSpectralBiclustering
            The fitted estimator.
        """
        choice = _choose_nonzero(self, X, _spectral_biclustering)
        self.row_labels_, self.column_labels_ = choice.rows, choice.columns
        self.n_clusters_ = choice.n_clusters
        self.silhouettes_, self.failures_ = choice.silhouettes, choice.failures
        return self

    save = save

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def rows_(self) -> Mask:
        """Which rows are in each bicluster; one row for each bicluster."""
        check_is_fitted(self)
        return bicluster_rows(self.row_labels_, self.column_labels_)

    @property
    def columns_(self) -> Mask:
        """Which columns are in each bicluster; one row for each bicluster."""
        check_is_fitted(self)
        return bicluster_columns(self.row_labels_, self.column_labels_)
