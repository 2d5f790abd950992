"""What a fitted model answers from, computed when it is first needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import RLock
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from pyrocco._typing import Dense, Floats, Matrix, is_sparse
from pyrocco.assign.nested import NestedClusters
from pyrocco.backends import NumpyBackend
from pyrocco.cells.preparation import Preparation
from pyrocco.cells.values import divided, to_dense, transpose
from pyrocco.fitting.engines import Given
from pyrocco.fitting.pipeline import learn_later
from pyrocco.fitting.result import FitResult, Represented
from pyrocco.fitting.settings import Settings
from pyrocco.results.predict import (
    FittedSide,
    Predicted,
    Predictor,
    PreparedRows,
    learn_predictor,
)
from pyrocco.results.statistics import TreeStatistics


class Answers:
    """The nested clusters of a fit, statistics of its data, predictors, and the representation.

    They are computed on first use, from a copy of the data that the model owns. All but the
    representation are also computed before the model is copied, pickled or saved. Once all of
    them are computed, the copy is released.

    Parameters
    ----------
    tree : NestedClusters, optional
        The nested clusters.
    statistics : TreeStatistics, optional
        Statistics of the data over the finest clusters.
    row_predictor, column_predictor : Predictor, optional
        Assign new rows and new columns to clusters.
    preparation, column_preparation : Preparation, optional
        How the values of the fit were prepared, for the labels of rows and for those of columns.
    represented : Represented, optional
        The representation.
    """

    # Two threads may ask for the same part, and the last part releases the data.
    _lock: ClassVar[RLock] = RLock()

    def __init__(
        self,
        tree: NestedClusters | None = None,
        statistics: TreeStatistics | None = None,
        row_predictor: Predictor | None = None,
        column_predictor: Predictor | None = None,
        preparation: Preparation | None = None,
        column_preparation: Preparation | None = None,
        represented: Represented | None = None,
    ):
        self.preparation = preparation or Preparation()
        self.column_preparation = column_preparation or self.preparation
        self._tree, self._statistics = tree, statistics
        self._row_predictor, self._column_predictor = row_predictor, column_predictor
        self.represented = represented
        self._source: Source | None = None

    @classmethod
    def of(cls, source: Source) -> Answers:
        """Prepare to answer from a result; nothing is computed yet."""
        result = source.result
        answers = cls(
            preparation=result.preparation,
            column_preparation=result.column_preparation,
            represented=result.represented,
        )
        answers._source = source
        return answers

    @property
    def tree(self) -> NestedClusters:
        """The nested clusters."""
        with self._lock:
            if self._tree is None:
                source, _ = self._known()
                clusters = source.result.clusters
                labels = clusters.row_labels, clusters.column_labels
                self._tree = NestedClusters.build(self._values(), *labels)
            return self._tree

    @property
    def statistics(self) -> TreeStatistics:
        """Statistics of the data over the finest clusters."""
        with self._lock:
            if self._statistics is None:
                source, data = self._known()
                X, unit = source.result.cleaned, source.result.unit
                if X is None:
                    X = divided(data, unit)
                self._statistics = TreeStatistics.of(X, self.tree, unit)
                self._release()
            return self._statistics

    @property
    def row_predictor(self) -> Predictor:
        """Assigns new rows to clusters."""
        with self._lock:
            if self._row_predictor is None:
                self._row_predictor = self._learn_rows()
                self._release()
            return self._row_predictor

    @property
    def column_predictor(self) -> Predictor:
        """Assigns new columns to clusters."""
        with self._lock:
            if self._column_predictor is None:
                self._column_predictor = self._learn_columns()
                self._release()
            return self._column_predictor

    @property
    def data(self) -> Matrix | None:
        """The copy of the data, while the model keeps it."""
        source = self._source
        return None if source is None else source.result.data

    @property
    def has_representation(self) -> bool:
        """Whether the representation has been learned."""
        return self.represented is not None

    @property
    def representation(self) -> Represented:
        """The representation of the data."""
        with self._lock:
            if self.represented is None:
                if self._source is None:
                    # hasattr and getattr of the attributes of a model expect this error.
                    raise AttributeError(
                        "The representation was not computed before the model was saved or "
                        "copied: read model.representation_ once after fit, or fit again."
                    )
                self.represented = learn_later(self._source.given_again(), self._source.settings)
                self._release()
            return self.represented

    def predict_rows(self, X: Matrix) -> Predicted:
        """Assign new rows to clusters."""
        return self.row_predictor.predict(self._new_rows(X))

    def row_probabilities(self, X: Matrix) -> Floats:
        """Compute the probability of every row cluster for new rows."""
        return self.row_predictor.probabilities(self._new_rows(X))

    def explained_by_blocks(self, X: Matrix) -> float:
        """Return the share of the squared deviations of new rows that the blocks explain."""
        return self.row_predictor.explained(self._new_rows(X))

    def predict_columns(self, X: Matrix) -> Predicted:
        """Assign new columns to clusters."""
        X = transpose(sparse.csr_array(X) if is_sparse(X) else X)
        preparation = self.column_preparation.transposed().for_new_rows(X)
        return self.column_predictor.predict(PreparedRows(X, preparation))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.tree, self.statistics, self.row_predictor, self.column_predictor
        preparations = self.preparation, self.column_preparation
        return Answers, (*parts, *preparations, self.represented)

    def _new_rows(self, X: Matrix) -> PreparedRows:
        X = sparse.csr_array(X) if is_sparse(X) else X
        return PreparedRows(X, self.preparation.for_new_rows(X))

    def _learn_rows(self) -> Predictor:
        source, data = self._known()
        result = source.result
        rows, preparation, values = result.clusters.rows, self.preparation, self._values()
        own = rows.labels, rows.membership
        fitted = result.fitted_rows
        if fitted is not None:
            data, values = data[fitted.index], values[fitted.index]
            preparation = preparation.rows(fitted.index)
            own = fitted.labels, fitted.membership
        prepared = PreparedRows(data, preparation)
        side = FittedSide(prepared, values, *own, result.clusters.column_labels)
        return _learn(side, result.scale, source)

    def _learn_columns(self) -> Predictor:
        source, data = self._known()
        result = source.result
        columns = result.clusters.columns
        values = source.backend.transpose(self._values(of_columns=True))
        prepared = PreparedRows(transpose(data), self.column_preparation.transposed())
        own = columns.labels, columns.membership
        side = FittedSide(prepared, values, *own, result.clusters.row_labels)
        return _learn(side, result.column_scale, source)

    def _values(self, of_columns: bool = False) -> Dense:
        """Return the data as they were fitted: prepared, without outliers or missing values."""
        source, data = self._known()
        result = source.result
        preparation, scale = result.preparation, result.scale
        if of_columns:
            preparation, scale = result.column_preparation, result.column_scale
        X = data
        if result.cleaned is not None:
            X = result.cleaned * result.cleaned.dtype.type(result.unit)
        values = divided(to_dense(preparation.apply(X)), scale)
        missing = np.isnan(values)
        if missing.any():
            U = divided(to_dense(preparation.apply(self.representation.U)), scale)
            values = np.where(missing, U, values)
        return source.backend.asarray(values)

    def _known(self) -> tuple[Source, Matrix]:
        if self._source is None or self._source.result.data is None:
            refuse_dask()
        return self._source, self._source.result.data

    def _release(self) -> None:
        """Let the copy of the data go once nothing more can be asked of it."""
        parts = self._tree, self._statistics, self._row_predictor, self._column_predictor
        if all(part is not None for part in (*parts, self.represented)):
            self._source = None


@dataclass(frozen=True)
class Source:
    """What answers are computed from.

    Parameters
    ----------
    result : FitResult
        The result of the fit, with a copy of the data.
    settings : Settings
        The parameters of the fit.
    sample_weight : array-like or None
        The weights of the rows.
    backend : NumpyBackend
        Where answers are computed.
    chunks : Dask array, optional
        The data of a fit to a Dask array, which has no copy of them.
    """

    result: FitResult
    settings: Settings
    sample_weight: ArrayLike | None
    backend: NumpyBackend
    chunks: Any = None

    def given_again(self) -> Given:
        """Return the input of the fit."""
        if self.chunks is not None:
            return Given(self.chunks, is_dask=True)
        return Given(self.result.data, self.sample_weight, is_own=True)


def _learn(side: FittedSide, scale: float, source: Source) -> Predictor:
    has_outliers = source.result.cell_weights is not None
    return learn_predictor(side, scale, source.result.clusters, has_outliers, source.backend)


def label_left_out_rows(source: Source) -> FitResult:
    """Label rows of weight zero, which had no part in the fit, as new rows are labelled."""
    result = source.result
    fitted, data = result.fitted_rows, result.data
    if fitted is None or data is None:
        return result
    left_out = np.flatnonzero(np.bincount(fitted.index, minlength=data.shape[0]) == 0)
    if not len(left_out):
        return result
    predicted = Answers.of(source).predict_rows(data[left_out])
    rows = result.clusters.rows
    labels, membership = rows.labels.copy(), rows.membership.copy()
    labels[left_out], membership[left_out] = predicted.labels, predicted.membership
    rows = replace(rows, labels=labels, membership=membership)
    return replace(result, clusters=replace(result.clusters, rows=rows))


def refuse_dask() -> NoReturn:
    """Raise an error that says what a model of a Dask array can be asked."""
    raise NotImplementedError(
        "A model that was fitted to a Dask array has its labels, block means and representation "
        "(a Dask array, which to_zarr writes), but not its data. To cut the clusters at other "
        "numbers, explain them, predict new rows, impute missing values or save the model, fit a "
        "sample of the rows in memory."
    )
