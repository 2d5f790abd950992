"""Weights of rows: whole numbers of copies, and none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.fitting.repeated_rows import RowCopies
from tests.estimators.test_invariance import any_storage


@given(any_storage, st.sampled_from([None, (3, 2)]))
@settings(max_examples=4)
def test_weights_of_one_are_no_weights(X, n_clusters):
    plain = ROCCO(n_clusters).fit(X)
    weighted = ROCCO(n_clusters).fit(X, sample_weight=np.ones(X.shape[0]))
    for name in ("row_labels_", "column_labels_", "representation_", "block_means_"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(plain, name))


@given(any_storage, st.integers(0, 1000))
@settings(max_examples=6)
def test_rows_without_weight_change_nothing_for_the_others(X, seed):
    has_weight = np.random.default_rng(seed).random(X.shape[0]) < 0.8
    weighted = ROCCO().fit(X, sample_weight=has_weight.astype(int))
    alone = ROCCO().fit(X[has_weight])
    np.testing.assert_array_equal(weighted.row_labels_[has_weight], alone.row_labels_)
    np.testing.assert_array_equal(weighted.column_labels_, alone.column_labels_)
    np.testing.assert_allclose(weighted.block_means_, alone.block_means_)
    np.testing.assert_array_equal(weighted.row_labels_[~has_weight], alone.predict(X[~has_weight]))
    np.testing.assert_array_equal(weighted.predict(X), weighted.row_labels_)
    np.testing.assert_array_equal(weighted.predict_columns(X), weighted.column_labels_)
    assert weighted.representation_.shape == X.shape
    assert weighted.at(n_row_clusters=1).row_labels_.shape == (X.shape[0],)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_row_of_weight_three_counts_like_three_copies(form, planted):
    X, rows, _ = planted
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = ROCCO().fit(form(X), sample_weight=weights)
    repeated = ROCCO().fit(form(np.repeat(X, weights, axis=0)))
    np.testing.assert_array_equal(np.repeat(weighted.row_labels_, weights), repeated.row_labels_)
    np.testing.assert_array_equal(weighted.column_labels_, repeated.column_labels_)
    np.testing.assert_allclose(weighted.block_means_, repeated.block_means_)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    assert adjusted_rand_score(rows, weighted.row_labels_) == 1.0
    assert weighted.row_graph_.n_nodes == len(X)
    assert (weighted.row_graph_.heads < weighted.row_graph_.tails).all()
    assert (weighted.row_graph_.degrees[weights == 0] == 0).all()


@pytest.mark.parametrize("weights", [[1.5, 1, 1], [-1, 1, 1], [0, 0, 0], [1, 1], [[1, 1, 1]]])
def test_other_weights_are_refused(weights):
    with pytest.raises(ValueError, match=r"[Ww]eight|inconsistent"):
        RowCopies.of(np.eye(3), weights)
