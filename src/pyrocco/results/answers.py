"""What a fitted model answers from, computed when it is first needed."""

from __future__ import annotations

from dataclasses import replace
from threading import RLock
from typing import Any, ClassVar, NoReturn

import numpy as np
from scipy import sparse

from pyrocco._typing import Dense, Matrix, is_sparse
from pyrocco.assign.nested import NestedClusters
from pyrocco.backends import NumpyBackend
from pyrocco.cells.preparation import Preparation
from pyrocco.cells.values import divided, to_dense, transpose
from pyrocco.fitting.result import FitResult
from pyrocco.results.predict import (
    FittedSide,
    Predicted,
    Predictor,
    PreparedRows,
    learn_predictor,
)
from pyrocco.results.statistics import TreeStatistics


class Answers:
    """The nested clusters of a fit, statistics of its data, and predictors.

    They are computed on first use, from a copy of the data that the model owns, and before the
    model is copied, pickled or saved. Once all of them are computed, the copy is released.

    Parameters
    ----------
    tree : NestedClusters, optional
        The nested clusters.
    statistics : TreeStatistics, optional
        Statistics of the data over the finest clusters.
    row_predictor, column_predictor : Predictor, optional
        Assign new rows and new columns to clusters.
    preparation : Preparation, optional
        How the values of the fit were prepared.
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
    ):
        self.preparation = Preparation() if preparation is None else preparation
        self._tree, self._statistics = tree, statistics
        self._row_predictor, self._column_predictor = row_predictor, column_predictor
        self._source: tuple[FitResult, NumpyBackend] | None = None

    @classmethod
    def of(cls, result: FitResult, backend: NumpyBackend) -> Answers:
        """Prepare to answer from a result; nothing is computed yet."""
        answers = cls(preparation=result.preparation)
        answers._source = result, backend
        return answers

    @property
    def tree(self) -> NestedClusters:
        """The nested clusters."""
        with self._lock:
            if self._tree is None:
                result, _, _ = self._known()
                labels = result.clusters.row_labels, result.clusters.column_labels
                U = result.preparation.apply(result.representation)
                self._tree = NestedClusters.build(U, *labels)
            return self._tree

    @property
    def statistics(self) -> TreeStatistics:
        """Statistics of the data over the finest clusters."""
        with self._lock:
            if self._statistics is None:
                result, data, _ = self._known()
                X = result.cleaned
                if X is None:
                    X = divided(data, result.unit)
                self._statistics = TreeStatistics.of(X, self.tree, result.unit)
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

    def predict_rows(self, X: Matrix) -> Predicted:
        """Assign new rows to clusters."""
        X = sparse.csr_array(X) if is_sparse(X) else X
        return self.row_predictor.predict(PreparedRows(X, self.preparation.for_new_rows(X)))

    def predict_columns(self, X: Matrix) -> Predicted:
        """Assign new columns to clusters."""
        X = transpose(sparse.csr_array(X) if is_sparse(X) else X)
        preparation = self.preparation.transposed().for_new_rows(X)
        return self.column_predictor.predict(PreparedRows(X, preparation))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.tree, self.statistics, self.row_predictor, self.column_predictor
        return Answers, (*parts, self.preparation)

    def _learn_rows(self) -> Predictor:
        result, data, backend = self._known()
        clusters, fitted = result.clusters, result.fitted_rows
        if fitted is None:
            rows = PreparedRows(data, self.preparation)
            U, labels = _divided(result, backend), clusters.row_labels
            side = FittedSide(rows, U, labels, clusters.rows.membership, clusters.column_labels)
        else:
            rows = PreparedRows(data[fitted.index], self.preparation.rows(fitted.index))
            U = _prepared(fitted.U, rows.preparation, result)
            own = fitted.labels, fitted.membership
            side = FittedSide(rows, U, *own, clusters.column_labels)
        return _learn(side, result, backend)

    def _learn_columns(self) -> Predictor:
        result, data, backend = self._known()
        clusters = result.clusters
        U = backend.transpose(_divided(result, backend))
        columns = clusters.column_labels, clusters.columns.membership
        prepared = PreparedRows(transpose(data), self.preparation.transposed())
        side = FittedSide(prepared, U, *columns, clusters.row_labels)
        return _learn(side, result, backend)

    def _known(self) -> tuple[FitResult, Matrix, NumpyBackend]:
        if self._source is None or self._source[0].data is None:
            refuse_dask()
        result, backend = self._source
        return result, self._source[0].data, backend

    def _release(self) -> None:
        """Let the copy of the data go once nothing more can be asked of it."""
        parts = self._tree, self._statistics, self._row_predictor, self._column_predictor
        if all(part is not None for part in parts):
            self._source = None


def _learn(side: FittedSide, result: FitResult, backend: NumpyBackend) -> Predictor:
    has_outliers = result.cell_weights is not None
    structure = result.clusters.structure
    return learn_predictor(side, result.scale, structure, has_outliers, backend)


def _divided(result: FitResult, backend: NumpyBackend) -> Dense:
    U = result.preparation.apply(result.representation)
    return backend.asarray(divided(U, result.scale))


def _prepared(U: Dense, preparation: Preparation, result: FitResult) -> Dense:
    """Prepare a representation that is divided by the unit of the data."""
    if not preparation.steps:
        return U
    return to_dense(divided(preparation.apply(U * U.dtype.type(result.unit)), result.scale))


def label_left_out_rows(result: FitResult, backend: NumpyBackend) -> FitResult:
    """Label rows of weight zero, which had no part in the fit, as new rows are labelled."""
    fitted, data = result.fitted_rows, result.data
    if fitted is None or data is None:
        return result
    left_out = np.flatnonzero(np.bincount(fitted.index, minlength=data.shape[0]) == 0)
    if not len(left_out):
        return result
    predicted = Answers.of(result, backend).predict_rows(data[left_out])
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
