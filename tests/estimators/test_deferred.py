"""What a fit promises: made once, when asked for, from the matrix as it was."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from pyrocco import ROCCO
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.estimators.deferred import Deferred


@pytest.fixture
def matrix():
    return np.ascontiguousarray(make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("ask", [ROCCO.at, lambda model: model.predict(np.ones((1, 40)))])
def test_a_matrix_changed_after_the_fit_is_noticed(matrix, form, ask):
    X = form(matrix)
    model = ROCCO(2).fit(X)
    X *= 2
    with pytest.raises(RuntimeError, match="changed after the fit"):
        ask(model)


def test_what_was_asked_for_before_stays(matrix):
    X = matrix
    model = ROCCO().fit(X)
    means, labels = model.at(2, 2).block_means_, model.predict(X)
    same = X.copy()
    X[:] = 0
    np.testing.assert_array_equal(model.at(2, 2).block_means_, means)
    np.testing.assert_array_equal(model.predict(same), labels)


def test_a_pickled_model_needs_the_matrix_no_more(matrix):
    X = matrix
    model = ROCCO().fit(X)
    again = pickle.loads(pickle.dumps(model))
    same = X.copy()
    X[:] = 0
    np.testing.assert_array_equal(again.predict(same), model.row_labels_)
    np.testing.assert_array_equal(again.at().row_labels_, model.row_labels_)


def test_made_once():
    calls = []
    later = Deferred(make=lambda: calls.append(1))
    assert later.value is later.value
    assert len(calls) == 1
