"""What must not change the answer: order, orientation, units, storage, repetition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_biclusters, make_checkerboard
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO

matrices = st.builds(
    lambda make, seed, noise, shape: make(
        shape, 3 if make is make_biclusters else (3, 2), noise=noise, random_state=seed
    )[0],
    st.sampled_from([make_biclusters, make_checkerboard]),
    st.integers(0, 10_000),
    st.sampled_from([1.0, 5.0, 20.0]),
    st.sampled_from([(40, 30), (50, 20), (24, 48)]),
)


def same(a, b):
    return adjusted_rand_score(a, b) == 1.0


@given(matrices, st.integers(0, 10_000))
def test_permutation(X, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    model, permuted = ROCCO().fit(X), ROCCO().fit(X[np.ix_(rows, columns)])
    assert same(model.row_labels_[rows], permuted.row_labels_)
    assert same(model.column_labels_[columns], permuted.column_labels_)


@given(matrices)
def test_transpose_swaps_rows_and_columns(X):
    model, transposed = ROCCO().fit(X), ROCCO().fit(X.T)
    assert same(model.row_labels_, transposed.column_labels_)
    assert same(model.column_labels_, transposed.row_labels_)


@given(matrices, st.floats(1e-6, 1e6))
def test_scaling(X, factor):
    model, scaled = ROCCO().fit(X), ROCCO().fit(factor * X)
    assert same(model.row_labels_, scaled.row_labels_)
    assert same(model.column_labels_, scaled.column_labels_)
    np.testing.assert_allclose(
        scaled.representation_, factor * model.representation_, rtol=1e-6, atol=1e-9 * factor
    )


@given(matrices, st.integers(0, 100), st.sampled_from(["refined", "paper"]))
@settings(max_examples=10)
def test_same_seed_same_answer(X, seed, variant):
    first, second = (ROCCO(random_state=seed, variant=variant).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.row_labels_, second.row_labels_)
    np.testing.assert_array_equal(first.column_labels_, second.column_labels_)
    np.testing.assert_array_equal(first.representation_, second.representation_)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_extreme_units(factor, planted):
    X, rows, _ = planted
    assert same(rows, ROCCO().fit(factor * X).row_labels_)
