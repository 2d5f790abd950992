"""Methods of scikit-learn that need a number of clusters, with one chosen by the silhouette."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, BiclusterMixin, ClusterMixin
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from pyrocco.assign import relabel
from pyrocco.assign.kmeans import silhouettes
from pyrocco.estimators.checks import check_count, fresh_random_state
from pyrocco.estimators.saving import SavingMixin

Pair = tuple[NDArray[np.intp], NDArray[np.intp]]


class _BestSilhouette(SavingMixin, BaseEstimator):
    """Try K = 2, 3, ... and keep the labels of rows with the best silhouette."""

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

    def _check(self, X: Any, min_columns: int) -> Any:
        check_count("max_clusters", self.max_clusters, 2)
        check_count("sample_size", self.sample_size, 3)
        return validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=3,
            ensure_min_features=min_columns,
        )

    def _choose(self, X: Any) -> Pair:
        """Labels for the best K; what went wrong with the others is kept, not raised."""
        random = fresh_random_state(self.random_state)
        self.failures_: dict[int, str] = {}
        tried: dict[int, Pair] = {}
        for k in range(2, min(self.max_clusters, X.shape[0] - 1) + 1):
            try:
                tried[k] = self._quietly(X, k, random)
            except (ValueError, ArithmeticError, IndexError, RuntimeError) as error:
                self.failures_[k] = str(error)
        self.silhouettes_ = self._judged(X, tried)
        if not self.silhouettes_:
            raise ValueError(f"no number of clusters gave labels; {_first(self.failures_)}")
        self.n_clusters_ = max(self.silhouettes_, key=self.silhouettes_.__getitem__)
        return tried[self.n_clusters_]

    def _judged(self, X: Any, tried: dict[int, Pair]) -> dict[int, float]:
        """Silhouettes of the rows; a labelling that has none counts as a failure."""
        if not tried:
            return {}
        values = silhouettes(X, [rows for rows, _ in tried.values()], self.sample_size)
        judged = dict(zip(tried, values.tolist(), strict=True))
        none = {k for k, value in judged.items() if math.isnan(value)}
        self.failures_ |= dict.fromkeys(none, "all rows have one label, or each its own.")
        return {k: value for k, value in judged.items() if k not in none}

    def _quietly(self, X: Any, k: int, random: np.random.RandomState) -> Pair:
        with warnings.catch_warnings():
            # Roots of negative sums, in whose place scikit-learn puts zeros.
            warnings.simplefilter("ignore", RuntimeWarning)
            # Fewer different rows than clusters: the silhouette judges what is left.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self._cluster(X, k, random)

    def _cluster(self, X: Any, k: int, random: np.random.RandomState) -> Pair:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class AutoKMeans(ClusterMixin, _BestSilhouette):
    """k-means with the number of clusters that has the best silhouette ("autoKM").

    Parameters
    ----------
    max_clusters : int, default=20
        Largest number of clusters tried; the smallest is 2.
    sample_size : int, default=10_000
        Rows on which the silhouette is computed; all of them when there are fewer.
    random_state : None, int or RandomState, default=0
        Seeds k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of every row, largest cluster 0.
    n_clusters_ : int
        The number of clusters chosen.
    silhouettes_ : dict of int to float
        Silhouette by number of clusters.
    failures_ : dict of int to str
        Numbers of clusters that could not be tried, and why.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from pyrocco.estimators.auto import AutoKMeans
    >>> X, _ = make_blobs(100, 5, centers=4, random_state=0)
    >>> AutoKMeans().fit(X).n_clusters_
    4
    """

    def fit(self, X: Any, y: Any = None) -> AutoKMeans:
        """Find clusters among the rows of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        AutoKMeans
            Itself, fitted.
        """
        self.labels_, _ = self._choose(self._check(X, 1))
        return self

    def _cluster(self, X: Any, k: int, random: np.random.RandomState) -> Pair:
        labels = KMeans(k, n_init=10, random_state=random).fit_predict(X)
        return relabel(labels), np.empty(0, dtype=np.intp)


class _AutoSpectral(BiclusterMixin, _BestSilhouette):
    """What both spectral methods share: empty rows and columns are put aside."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find groups of rows and groups of columns of `X`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_columns)
            The data.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        estimator
            Itself, fitted.
        """
        X = self._check(X, 2)
        rows, columns = _filled(X, 1), _filled(X, 0)
        if rows.sum() < 3 or columns.sum() < 2:
            raise ValueError("at least 3 rows and 2 columns of X must not be all zero.")
        row_labels, column_labels = self._choose(X[rows][:, columns])
        self.row_labels_ = _spread(row_labels, rows)
        self.column_labels_ = _spread(column_labels, columns)
        return self

    def _cluster(self, X: Any, k: int, random: np.random.RandomState) -> Pair:
        model = self._model(X, k, random).fit(X)
        return relabel(model.row_labels_), relabel(model.column_labels_)

    def _model(self, X: Any, k: int, random: np.random.RandomState) -> Any:
        raise NotImplementedError


class AutoSpectralCoclustering(_AutoSpectral):
    """Spectral co-clustering, number of clusters by silhouette of rows ("autoSCC").

    The method cannot place rows and columns that are all zero: they are put aside and
    labelled -1.

    Parameters
    ----------
    max_clusters : int, default=20
        Largest number of clusters tried; the smallest is 2.
    sample_size : int, default=10_000
        Rows on which the silhouette is computed; all of them when there are fewer.
    random_state : None, int or RandomState, default=0
        Seeds the method.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of every row and of every column, largest cluster 0; -1 for all-zero ones.
    n_clusters_ : int
        The number of clusters chosen.
    silhouettes_ : dict of int to float
        Silhouette by number of clusters.
    failures_ : dict of int to str
        Numbers of clusters that could not be tried, and why.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> from pyrocco.estimators.auto import AutoSpectralCoclustering
    >>> X = make_noisy_biclusters((60, 50), 3, noise=2, random_state=0).X
    >>> AutoSpectralCoclustering().fit(X).n_clusters_
    3
    """

    def _model(self, X: Any, k: int, random: np.random.RandomState) -> Any:
        return SpectralCoclustering(k, random_state=random)

    @property
    def rows_(self) -> NDArray[np.bool_]:
        """Members of every bicluster among the rows, one bicluster a line."""
        check_is_fitted(self)
        return np.asarray(self.row_labels_ == np.arange(self.n_clusters_)[:, None])

    @property
    def columns_(self) -> NDArray[np.bool_]:
        """Members of every bicluster among the columns, one bicluster a line."""
        check_is_fitted(self)
        return np.asarray(self.column_labels_ == np.arange(self.n_clusters_)[:, None])


class AutoSpectralBiclustering(_AutoSpectral):
    """Spectral biclustering, number of clusters by silhouette of rows ("autoSBC").

    As many clusters of columns as of rows are asked for. The method cannot place rows and
    columns that are all zero: they are put aside and labelled -1.

    Parameters
    ----------
    max_clusters : int, default=20
        Largest number of clusters tried; the smallest is 2.
    sample_size : int, default=10_000
        Rows on which the silhouette is computed; all of them when there are fewer.
    random_state : None, int or RandomState, default=0
        Seeds the method.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of every row and of every column, largest cluster 0; -1 for all-zero ones.
    n_clusters_ : int
        The number of clusters chosen.
    silhouettes_ : dict of int to float
        Silhouette by number of clusters.
    failures_ : dict of int to str
        Numbers of clusters that could not be tried, and why.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_checkerboard
    >>> from pyrocco.estimators.auto import AutoSpectralBiclustering
    >>> X, _, _ = make_checkerboard((60, 50), (3, 3), noise=1, random_state=0)
    >>> AutoSpectralBiclustering(max_clusters=5).fit(X).n_clusters_
    3
    """

    def _model(self, X: Any, k: int, random: np.random.RandomState) -> Any:
        n_vectors = min(6, *X.shape)
        return SpectralBiclustering(
            (k, min(k, X.shape[1])),
            n_components=n_vectors,
            n_best=min(3, n_vectors),
            random_state=random,
        )

    @property
    def rows_(self) -> NDArray[np.bool_]:
        """Members of every bicluster among the rows, column clusters running fastest."""
        check_is_fitted(self)
        which = np.repeat(np.arange(self.n_clusters_), _size(self.column_labels_))
        return np.asarray(self.row_labels_ == which[:, None])

    @property
    def columns_(self) -> NDArray[np.bool_]:
        """Members of every bicluster among the columns, one bicluster a line."""
        check_is_fitted(self)
        which = np.tile(np.arange(_size(self.column_labels_)), self.n_clusters_)
        return np.asarray(self.column_labels_ == which[:, None])


def _filled(X: Any, axis: int) -> NDArray[np.bool_]:
    """Which rows (axis 1) or columns (axis 0) have a cell that is not zero."""
    counts = (X != 0).sum(axis=axis) if sparse.issparse(X) else np.count_nonzero(X, axis=axis)
    return np.asarray(counts).ravel() > 0


def _spread(labels: NDArray[np.intp], kept: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Labels of all from labels of those kept: -1 for the others."""
    everyone = np.full(len(kept), -1, dtype=np.intp)
    everyone[kept] = labels
    return everyone


def _size(labels: NDArray[np.intp]) -> int:
    return int(labels.max()) + 1


def _first(failures: dict[int, str]) -> str:
    k, reason = next(iter(failures.items()))
    return f"with {k} clusters: {reason}"
