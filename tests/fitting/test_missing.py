"""Missing values: NaN in X."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.backends import NumpyBackend
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.fitting.missing import first_guess
from pyrocco.fitting.result import block_means
from pyrocco.model import Side, SmoothOnce
from pyrocco.representation import learn_representation
from pyrocco.solvers import SpectralSolver

SHAPE = (30, 24)


def with_missing_values(seed=0, share=0.3, noise=5.0, shape=SHAPE, n_clusters=3):
    data = make_noisy_biclusters(shape, n_clusters, noise=noise, random_state=seed)
    gone = np.random.default_rng(seed).random(shape) < share
    return np.where(gone, np.nan, data.X), data, gone


def same(a, b):
    return adjusted_rand_score(a, b) == 1.0


gappy = st.builds(
    lambda seed, share: with_missing_values(seed, share)[0],
    st.integers(0, 10_000),
    st.sampled_from([0.01, 0.1, 0.3, 0.5]),
)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clusters_are_found_without_the_missing_values(share, dtype):
    X, data, _ = with_missing_values(share=share)
    model = ROCCO().fit(X.astype(dtype))
    assert same(model.row_labels_, data.row_labels)
    assert same(model.column_labels_, data.column_labels)
    assert model.representation_.dtype == dtype
    assert np.isfinite(model.representation_).all()
    assert model.structure_ == "blocks"
    assert model.converged_
    assert model.row_graph_.search == "exact on shared cells"


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_every_metric(metric):
    X, data, _ = with_missing_values()
    assert same(ROCCO(metric=metric).fit(X).row_labels_, data.row_labels)


@given(gappy, st.integers(0, 10_000))
@settings(max_examples=3)
def test_permutation(X, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    model, permuted = ROCCO().fit(X), ROCCO().fit(X[rows][:, columns])
    assert same(model.row_labels_[rows], permuted.row_labels_)
    assert same(model.column_labels_[columns], permuted.column_labels_)


@given(gappy)
@settings(max_examples=3)
def test_transpose(X):
    model, transposed = ROCCO().fit(X), ROCCO().fit(X.T)
    assert same(model.row_labels_, transposed.column_labels_)
    assert same(model.column_labels_, transposed.row_labels_)
    np.testing.assert_allclose(model.representation_, transposed.representation_.T, rtol=1e-6)


@given(gappy, st.floats(-9, 9).map(lambda digits: 10**digits))
@settings(max_examples=3)
def test_scaling(X, factor):
    model, scaled = ROCCO().fit(X), ROCCO().fit(factor * X)
    assert same(model.row_labels_, scaled.row_labels_)
    expected = factor * model.representation_
    np.testing.assert_allclose(scaled.representation_, expected, rtol=1e-6, atol=1e-6 * factor)


def test_the_value_of_a_cell_before_it_was_removed_has_no_effect():
    """U solves the problem over observed cells: filling with U and smoothing gives U again."""
    X, _, gone = with_missing_values(share=0.3)
    model = ROCCO(max_iter=1000).fit(X)
    U, scale = model.representation_, np.sqrt(np.nanmean(X**2))
    again = learn_representation(
        np.where(gone, U, X) / scale,
        (Side(model.row_graph_, 0, 10.0), Side(model.column_graph_, 1, 10.0)),
        shift=2.0,
        schedule=SmoothOnce(),
        solver=SpectralSolver(),
        backend=NumpyBackend(),
        max_iter=1,
        report=lambda record: None,
    )
    assert np.abs(again.U * scale - U)[gone].max() < 0.02 * scale


def test_impute_fills_only_what_is_missing():
    X, data, gone = with_missing_values(noise=2.0)
    model = ROCCO().fit(X)
    filled = model.impute(X)
    np.testing.assert_array_equal(filled[~gone], X[~gone])
    rest = block_means(filled - model.representation_, model.row_labels_, model.column_labels_)
    known = block_means(X - model.representation_, model.row_labels_, model.column_labels_)
    np.testing.assert_allclose(rest, known, atol=1e-9)
    error = np.sqrt(np.mean((filled - data.X)[gone] ** 2))
    assert error < 0.3 * data.X[gone].std()
    assert np.isnan(X).sum() == gone.sum()


def test_impute_keeps_names_and_precision():
    X, _, _ = with_missing_values()
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(30)], columns=list(range(24)))
    model = ROCCO().fit(X)
    filled = model.impute(frame)
    pd.testing.assert_index_equal(filled.index, frame.index)
    np.testing.assert_array_equal(filled.to_numpy(), model.impute(X))
    assert model.impute(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(model.impute(sparse.csr_array(X)), model.impute(X))
    with pytest.raises(ValueError, match=r"matrix that was fitted, of shape \(30, 24\)"):
        model.impute(X[:5])


def test_a_complete_matrix_is_imputed_as_it_is():
    X = with_missing_values(share=0)[0]
    np.testing.assert_array_equal(ROCCO().fit(X).impute(X), X)


def test_sparse_zeros_are_zeros_and_stored_nan_is_missing():
    X, _, _ = with_missing_values(share=0.1)
    X[:, ::2] = 0
    dense, stored = ROCCO().fit(X), ROCCO().fit(sparse.csr_array(X))
    np.testing.assert_array_equal(dense.row_labels_, stored.row_labels_)
    np.testing.assert_array_equal(dense.representation_, stored.representation_)


def test_block_means_are_those_of_observed_cells():
    X, _, _ = with_missing_values()
    model = ROCCO().fit(X)
    block = X[model.row_labels_ == 1][:, model.column_labels_ == 2]
    assert model.block_means_[1, 2] == pytest.approx(np.nanmean(block))


def test_a_block_with_nothing_observed_has_the_mean_of_u():
    X, labels = np.array([[1.0, np.nan], [3.0, np.nan]]), np.array([0, 0])
    U = np.array([[1.0, 5.0], [3.0, 7.0]])
    assert block_means(X, labels, np.array([0, 1]), U).tolist() == [[2.0, 6.0]]
    assert np.isnan(block_means(X, labels, np.array([0, 1]))[0, 1])


def test_an_empty_row_and_column_change_nothing_for_the_others():
    X, _, _ = with_missing_values()
    alone = ROCCO().fit(X)
    larger = np.insert(np.insert(X, 7, np.nan, axis=0), 11, np.nan, axis=1)
    with pytest.warns(UserWarning, match="largest cluster") as warned:
        model = ROCCO().fit(larger)
    assert [str(w.message).split(" is")[0] for w in warned] == [
        "Every value of 1 row", "Every value of 1 column",
    ]  # fmt: skip
    assert "counted from 0: 7" in str(warned[0].message)
    assert model.row_labels_.shape == model.row_membership_.shape == (31,)
    np.testing.assert_array_equal(np.delete(model.row_labels_, 7), alone.row_labels_)
    np.testing.assert_array_equal(np.delete(model.column_labels_, 11), alone.column_labels_)
    np.testing.assert_allclose(model.block_means_, alone.block_means_)
    assert model.row_labels_[7] == 0
    assert model.row_membership_[7] == pytest.approx(np.mean(alone.row_labels_ == 0))
    U = model.representation_
    np.testing.assert_allclose(U[7], np.delete(U, 7, axis=0).mean(axis=0), rtol=1e-6)
    assert np.isfinite(model.impute(larger)).all()
    assert model.row_graph_.n_nodes == 31
    assert model.row_graph_.degrees[7] == 0


def test_outlier_cells_are_found_among_missing_values():
    X, data, gone = with_missing_values(share=0.2, shape=(45, 36))
    rng = np.random.default_rng(1)
    outliers = (rng.random(X.shape) < 0.05) & ~gone
    X[outliers] = rng.choice([-1, 1], outliers.sum()) * rng.uniform(300, 1000, outliers.sum())
    model = ROCCO().fit(X)
    assert adjusted_rand_score(model.row_labels_, data.row_labels) > 0.8
    np.testing.assert_array_equal(np.isnan(model.cell_weights_), gone)
    assert np.all(model.cell_weights_[outliers] < 0.1)
    assert np.median(model.cell_weights_[~outliers & ~gone]) > 0.8
    assert np.abs(model.representation_).max() < 200


def test_missing_values_are_no_evidence():
    """Noise has no groups, also when most of it is missing and filled smoothly."""
    X = np.random.default_rng(0).standard_normal((60, 50))
    X[np.random.default_rng(1).random(X.shape) < 0.5] = np.nan
    model = ROCCO().fit(X)
    assert (model.n_row_clusters_, model.n_column_clusters_) == (1, 1)


def test_rows_that_share_no_cell():
    X = with_missing_values(share=0)[0]
    X[:15, 12:] = X[15:, :12] = np.nan
    model = ROCCO(2).fit(X)
    assert np.isfinite(model.representation_).all()
    assert model.n_row_clusters_ == 2


def test_clear_errors():
    X, _, _ = with_missing_values()
    with pytest.raises(ValueError, match=r"paper does not allow missing values.*impute them"):
        ROCCO(variant="paper").fit(X)
    with pytest.raises(ValueError, match="Every value of X is missing"):
        ROCCO().fit(np.full((5, 4), np.nan))
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        ROCCO().fit(X)


def test_input_and_process_are_left_alone():
    X, _, _ = with_missing_values()
    before = X.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ROCCO().fit(X)
    np.testing.assert_array_equal(X, before)


def test_first_guess_is_additive_and_transposes_with_the_matrix():
    rng = np.random.default_rng(0)
    truth = np.add.outer(rng.normal(size=30), rng.normal(size=20))
    X = np.where(rng.random(truth.shape) < 0.2, np.nan, truth)
    np.testing.assert_allclose(first_guess(X), truth, atol=0.02)
    np.testing.assert_allclose(first_guess(X), first_guess(X.T).T, rtol=1e-12)
