"""A fitted model owns what it answers from: the caller's matrix may change afterwards."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from pyrocco import ROCCO
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.results.answers import Answers


def matrix(shape=(60, 40)):
    return np.ascontiguousarray(make_noisy_biclusters(shape, 3, noise=5, random_state=0).X)


def answers(model, X):
    """Everything that is computed after the fit."""
    return {
        "means": model.at(2, 2).block_means_,
        "labels": model.predict(X),
        "distances": model.place(X + 1)["distance"].to_numpy(),
        "columns": model.place_columns(X + 1)["distance"].to_numpy(),
        "effects": model.explain(top=2)["effect"].to_numpy(),
    }


FORMS = {
    "array": np.asarray,
    "CSR": sparse.csr_matrix,
    "CSR array": sparse.csr_array,
    "float32": lambda X: X.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "view": lambda X: np.ascontiguousarray(np.vstack([X, X]))[: len(X)],
}


@pytest.mark.parametrize("form", FORMS)
def test_a_matrix_may_be_changed_after_the_fit(form):
    X = FORMS[form](matrix())
    dense = X.toarray() if sparse.issparse(X) else X.copy()
    expected = answers(ROCCO().fit(X.copy()), dense)
    model = ROCCO().fit(X)
    X *= 0
    for name, value in answers(model, dense).items():
        np.testing.assert_array_equal(value, expected[name], name)


def test_one_changed_cell_changes_no_answer():
    """The largest matrix of these tests: no sample of its cells would show the change."""
    X = matrix((400, 400))
    model = ROCCO().fit(X)
    expected = ROCCO().fit(X.copy()).at(2, 2).block_means_
    X[0, 1] = 1e6
    np.testing.assert_array_equal(model.at(2, 2).block_means_, expected)


def test_a_data_frame_may_be_changed_after_the_fit():
    values = matrix()
    frame = pd.DataFrame(values, copy=False).add_prefix("gene")
    expected = answers(ROCCO().fit(values.copy()), values.copy())
    new = frame.copy()
    model = ROCCO().fit(frame)
    values[:] = 0
    frame.iloc[:, :] = 0
    np.testing.assert_array_equal(model.predict(new), expected["labels"])
    np.testing.assert_array_equal(model.at(2, 2).block_means_, expected["means"])


def test_an_array_inside_another_container_may_be_changed_after_the_fit():
    """Like xarray: the container hands out the very array that it holds."""

    class Container:
        def __init__(self, values):
            self.values, self.shape = values, values.shape

        def __array__(self, dtype=None, copy=None):
            return self.values

        def __len__(self):
            return len(self.values)

    X = matrix()
    expected = ROCCO().fit(X.copy()).at(2, 2).block_means_
    model = ROCCO().fit(Container(X))
    X[:] = 0
    np.testing.assert_array_equal(model.at(2, 2).block_means_, expected)


def test_threads_may_ask_at_the_same_time(monkeypatch):
    """The part that is computed last releases the data, which another thread may still need."""
    X, learn = matrix(), Answers._learn_rows
    entered, released = Event(), Event()

    def learn_late(self):
        if not entered.is_set():  # the first thread: the other one has half a second for the rest
            entered.set()
            released.wait(0.5)
        return learn(self)

    monkeypatch.setattr(Answers, "_learn_rows", learn_late)
    model = ROCCO().fit(X)
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(model.predict, X)
        assert entered.wait(10)
        answers(model, X)
        released.set()
    np.testing.assert_array_equal(first.result(), model.row_labels_)


def test_pickling_works_after_the_matrix_has_changed():
    X = matrix()
    same = X.copy()
    model = ROCCO().fit(X)
    X -= X.mean()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(same), model.row_labels_)
    np.testing.assert_array_equal(again.at().row_labels_, model.row_labels_)


def test_weights_and_outliers_too():
    X = matrix()
    X[::9, ::7] *= 1000
    weights = np.arange(60) % 3
    expected = answers(ROCCO().fit(X.copy(), sample_weight=weights), X.copy())
    same, model = X.copy(), ROCCO().fit(X, sample_weight=weights)
    X[:] = 0
    for name, value in answers(model, same).items():
        np.testing.assert_array_equal(value, expected[name], name)


def with_a_missing_value(X):
    X = X.copy()
    X[0, 0] = np.nan
    return X


def test_the_representation_is_learned_in_the_fit_only_where_labels_need_it():
    X = matrix()
    assert not ROCCO().fit(X).has_representation_
    assert ROCCO().fit(with_a_missing_value(X)).has_representation_
    assert ROCCO(3, variant="paper").fit(X).has_representation_
    with pytest.raises(NotFittedError):
        _ = ROCCO().has_representation_


@pytest.mark.parametrize("weights", [None, np.arange(60) % 3])
def test_the_representation_does_not_depend_on_when_it_is_learned(weights):
    """Neither on changes of the matrix, nor on other answers that were given before."""
    X = matrix()
    first = ROCCO().fit(X, sample_weight=weights)
    expected, labels = first.representation_, first.row_labels_.copy()
    later = ROCCO().fit(X, sample_weight=weights)
    answers(later, X.copy())
    X[:] = 0
    np.testing.assert_array_equal(later.representation_, expected)
    np.testing.assert_array_equal(later.row_labels_, labels)
    assert later.n_iter_ == len(later.history_) > 0
    assert later.converged_
    assert later.row_graph_.n_nodes == 60
    assert later.column_graph_.n_nodes == 40


def test_nothing_is_computed_before_it_is_asked_for_and_then_the_copy_is_released():
    X = matrix()
    model = ROCCO().fit(X)
    held = model._answers
    assert held._source.result.data is not X
    assert held._tree is held._row_predictor is held.represented is None
    first = model.tree_
    answers(model, X)
    assert model.tree_ is first
    assert held._source is not None  # the representation may still be asked for
    U = model.representation_
    assert held._source is None
    assert model.representation_ is U
