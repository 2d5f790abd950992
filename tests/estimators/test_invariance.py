"""What must not change the answer: order, orientation, units, storage, repetition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
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


def sparse_blocks(seed, shape):
    """Three blocks under noise, as CSR; the rest is empty."""
    X = make_biclusters(shape, 3, noise=5, random_state=seed)[0]
    return sparse.csr_array(np.where(np.quantile(X, 0.7) < X, X, 0))


any_storage = st.one_of(
    matrices,
    st.builds(sparse_blocks, st.integers(0, 10_000), st.sampled_from([(40, 30), (24, 48)])),
)
dtypes = st.sampled_from([np.float32, np.float64])


@given(any_storage, st.integers(0, 10_000), dtypes)
@settings(max_examples=14)
def test_permutation(X, seed, dtype):
    X = X.astype(dtype)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    model, permuted = ROCCO().fit(X), ROCCO().fit(X[rows][:, columns])
    assert same(model.row_labels_[rows], permuted.row_labels_)
    assert same(model.column_labels_[columns], permuted.column_labels_)


@given(any_storage, dtypes)
@settings(max_examples=14)
def test_transpose_swaps_rows_and_columns(X, dtype):
    X = X.astype(dtype)
    model, transposed = ROCCO().fit(X), ROCCO().fit(X.T)
    assert same(model.row_labels_, transposed.column_labels_)
    assert same(model.column_labels_, transposed.row_labels_)


@given(any_storage, st.floats(-9, 9).map(lambda digits: 10**digits), dtypes)
@settings(max_examples=14)
def test_scaling(X, factor, dtype):
    X = X.astype(dtype)
    model, scaled = ROCCO().fit(X), ROCCO().fit(dtype(factor) * X)
    assert same(model.row_labels_, scaled.row_labels_)
    assert same(model.column_labels_, scaled.column_labels_)
    # Rows of different sparse blocks are all equally far: rounding chooses among them.
    if not sparse.issparse(X):
        tight = 1e-6 if dtype == np.float64 else 1e-3
        expected = dtype(factor) * model.representation_
        np.testing.assert_allclose(
            scaled.representation_, expected, rtol=tight, atol=tight * factor
        )


@given(matrices, st.integers(0, 100), st.sampled_from(["refined", "paper"]))
@settings(max_examples=8)
def test_same_seed_same_answer(X, seed, variant):
    first, second = (ROCCO(random_state=seed, variant=variant).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.row_labels_, second.row_labels_)
    np.testing.assert_array_equal(first.column_labels_, second.column_labels_)
    np.testing.assert_array_equal(first.representation_, second.representation_)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_extreme_units(factor, planted):
    X, rows, _ = planted
    assert same(rows, ROCCO().fit(factor * X).row_labels_)
