"""New rows and new columns of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from pyrocco.assign.profiles import block_sums
from pyrocco.backends import Backend
from pyrocco.estimators.blocks import block_means
from pyrocco.estimators.chunks import dense_parts
from pyrocco.estimators.cleaning import learn_cleaner
from pyrocco.estimators.deferred import Deferred, Source
from pyrocco.estimators.placing import Placed, Placer, Side, learn_placer
from pyrocco.estimators.weights import Copies

Labels = NDArray[np.intp]
# Representation, labels and confidence of the rows as they were fitted, copies and all.
FittedRows = tuple[Any, Labels, NDArray[np.float64]]


class PredictionMixin(TransformerMixin):
    """A co-clustering that takes new rows and new columns."""

    row_labels_: Labels
    column_labels_: Labels
    row_membership_: NDArray[np.float64]
    column_membership_: NDArray[np.float64]
    cell_weights_: Any
    block_means_: NDArray[np.float64]
    representation_: NDArray[Any]
    structure_: str
    _placers: Deferred

    @property
    def _row_placer(self) -> Placer:
        placer: Placer = self._placers.value[0]
        return placer

    @property
    def _column_placer(self) -> Placer:
        placer: Placer = self._placers.value[1]
        return placer

    def predict(self, X: Any) -> Labels:
        """Find the cluster of every row of `X`.

        Rows that were in `fit` keep the label they got there.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_new_rows, n_columns)
            Rows with the columns of `fit`, in the same order. Only the cells that are not
            missing count, where the model takes missing cells at all.

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
        return self._place_rows(X).labels

    def predict_columns(self, X: Any) -> Labels:
        """Find the cluster of every column of `X`.

        Columns that were in `fit` keep the label they got there.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_new_columns)
            Columns with the rows of `fit`, in the same order.

        Returns
        -------
        ndarray of int
        """
        return self._place_columns(X).labels

    def place(self, X: Any) -> pd.DataFrame:
        """Say of every row of `X` where it belongs, how surely, and whether anywhere.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_new_rows, n_columns)
            Rows with the columns of `fit`, in the same order.

        Returns
        -------
        DataFrame
            One line a row, under its name where `X` is a DataFrame: ``label``, as from
            `predict`; ``confidence``, the probability of the label; ``distance`` from the
            cluster, 1 where one of a hundred rows like those of `fit` would be farther;
            ``far``, whether it is beyond that. The label of a far row is that of the
            cluster it is least far from.

        Examples
        --------
        >>> import numpy as np
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
        >>> strange = 100 * np.random.default_rng(0).standard_normal((1, 40))
        >>> ROCCO().fit(X[:50]).place(np.vstack([X[50:52], strange]))["far"].tolist()
        [False, False, True]
        """
        return _table(self._place_rows(X), getattr(X, "index", None))

    def place_columns(self, X: Any) -> pd.DataFrame:
        """Say of every column of `X` where it belongs, how surely, and whether anywhere.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_new_columns)
            Columns with the rows of `fit`, in the same order.

        Returns
        -------
        DataFrame
            As from `place`, one line a column.
        """
        return _table(self._place_columns(X), getattr(X, "columns", None))

    def transform(self, X: Any) -> NDArray[Any]:
        """Mean of every row of `X` over the columns of each column cluster.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_new_rows, n_columns)
            Rows with the columns of `fit`, in the same order.

        Returns
        -------
        ndarray of shape (n_new_rows, n_column_clusters_)
            A DataFrame after ``set_output(transform="pandas")``. Missing cells count for
            nothing; NaN where a row has no other cells in a cluster.

        Examples
        --------
        >>> from pyrocco import ROCCO
        >>> from pyrocco.datasets import make_noisy_biclusters
        >>> X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
        >>> ROCCO().fit(X).transform(X[:4]).shape
        (4, 3)
        """
        X = self._check_rows(X)
        means = [_cluster_means(part, self.column_labels_) for part in dense_parts(X, 1.0)]
        return np.concatenate(means).astype(X.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : ignored
            For the interface of scikit-learn.

        Returns
        -------
        ndarray of str
            ``column_cluster_0``, ``column_cluster_1``, ...
        """
        check_is_fitted(self)
        count = int(self.column_labels_.max()) + 1
        return np.array([f"column_cluster_{k}" for k in range(count)], dtype=object)

    def _keep_copies(
        self, X: Any, fitted: Any, copies: Copies, unit: float, backend: Backend
    ) -> FittedRows | None:
        """Take means, and labels of rows that had no part, from a fit of rows with weights.

        Returns what is needed of that fit later: nothing where every row is there once.
        """
        if copies.is_each_once:
            return None
        found, U = fitted.found.rows, fitted.learned.U
        means = block_means(fitted.X, found.labels, self.column_labels_, backend.to_numpy(U))
        self.block_means_ = means * unit
        rows = U, found.labels, found.membership
        left_out = copies.left_out
        if len(left_out):
            placer = self._placer(Side(copies.of(X), *rows, self.column_labels_), unit, backend)
            placed = placer.place(X[left_out])
            self.row_labels_[left_out] = placed.labels
            self.row_membership_[left_out] = placed.confidence
        return rows

    def _place_later(
        self,
        source: Source,
        copies: Copies,
        rows: FittedRows | None,
        unit: float,
        backend: Backend,
    ) -> None:
        """Promise to know what rows and columns look like."""

        def learn() -> tuple[Placer, Placer]:
            X = source.matrix()
            U = backend.asarray(self.representation_ / self.representation_.dtype.type(unit))
            own = copies.of(self.row_labels_), copies.of(self.row_membership_)
            row_parts: FittedRows = (copies.of(U), *own) if rows is None else rows
            found = self.column_labels_, self.column_membership_
            sides = (
                Side(copies.of(X), *row_parts, found[0]),
                Side(_turned(X), backend.transpose(U), found[0], found[1], self.row_labels_),
            )
            row_placer, column_placer = (self._placer(side, unit, backend) for side in sides)
            return row_placer, column_placer

        self._placers = Deferred(make=learn)

    def _placer(self, side: Side, unit: float, backend: Backend) -> Placer:
        cleaner = None
        if self.cell_weights_ is not None:
            dense = side.X.toarray() if sparse.issparse(side.X) else side.X
            cleaner = learn_cleaner(dense / unit, backend.to_numpy(side.U), side.labels)
        return learn_placer(side, unit, self.structure_, cleaner, backend)

    def _place_rows(self, X: Any) -> Placed:
        X = self._check_rows(X)
        return self._row_placer.place(X)

    def _place_columns(self, X: Any) -> Placed:
        check_is_fitted(self)
        X = check_array(X, **self._accepted())
        if X.shape[0] != len(self.row_labels_):
            raise ValueError(
                f"columns need the {len(self.row_labels_)} rows that the model was fitted to, in "
                f"the same order; got {X.shape[0]} rows."
            )
        return self._column_placer.place(_turned(X))

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._accepted())

    def _accepted(self) -> dict[str, Any]:
        """What X may be: missing cells where `fit` takes them."""
        allow_nan = get_tags(self).input_tags.allow_nan
        return {
            "accept_sparse": "csr",
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": "allow-nan" if allow_nan else True,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _turned(X: Any) -> Any:
    """The transpose, of the same kind."""
    return X.T.tocsr() if sparse.issparse(X) else X.T


def _cluster_means(X: NDArray[np.float64], labels: Labels) -> NDArray[np.float64]:
    """Mean of the observed cells of every row in every column cluster."""
    sums, counts = block_sums(X, labels)
    means = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _table(placed: Placed, names: Any) -> pd.DataFrame:
    labels, confidence, distance = placed
    columns = {
        "label": labels,
        "confidence": confidence,
        "distance": distance,
        "far": distance > 1,
    }
    return pd.DataFrame(columns, names)
