"""Cuts of a fitted model: nested, through the fit, and true to the data they no longer have."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_biclusters, make_checkerboard
from sklearn.exceptions import NotFittedError

import pyrocco
from pyrocco import ROCCO
from pyrocco.fitting.result import block_means
from pyrocco.results.statistics import Moments
from tests.assign.test_nested import is_nested


def planted_matrix(seed, make, shape, storage):
    X = make(shape, 3, noise=8, random_state=seed)[0]
    return sparse.csr_array(np.where(np.quantile(X, 0.7) < X, X, 0)) if storage == "csr" else X


matrices = st.builds(
    planted_matrix,
    st.integers(0, 10_000),
    st.sampled_from([make_biclusters, make_checkerboard]),
    st.sampled_from([(40, 30), (24, 48), (12, 9)]),
    st.sampled_from(["dense", "csr"]),
)


@pytest.fixture(scope="module")
def model():
    X = make_biclusters((60, 40), 3, noise=5, random_state=0)[0]
    return ROCCO().fit(X)


@given(matrices, st.sampled_from([np.float32, np.float64]))
@settings(max_examples=6)
def test_cuts_are_nested_and_the_fit_is_one_of_them(X, dtype):
    check_cuts(ROCCO().fit(X.astype(dtype)), tight=1e-9 if dtype == np.float64 else 1e-3)


def test_cuts_of_the_paper_variant(planted):
    check_cuts(ROCCO(variant="paper").fit(planted[0]))


def check_cuts(model, tight=1e-9):
    fit = model.at()
    np.testing.assert_array_equal(fit.row_labels_, model.row_labels_)
    np.testing.assert_array_equal(fit.column_labels_, model.column_labels_)
    np.testing.assert_allclose(fit.block_means_, model.block_means_, rtol=tight, atol=tight)
    rows = [model.at(k).row_labels_ for k in range(1, model.tree_.rows.n_finest + 1)]
    columns = [
        model.at(None, k).column_labels_ for k in range(1, model.tree_.columns.n_finest + 1)
    ]
    for cuts in (rows, columns):
        assert [cut.max() + 1 for cut in cuts] == list(range(1, len(cuts) + 1))
        assert all(is_nested(cuts[k], cuts[k + 1]) for k in range(len(cuts) - 1))


def test_block_means_of_a_cut_are_those_of_the_data(planted):
    X = planted[0]
    cut = ROCCO().fit(X).at(5, 2)
    expected = block_means(X, cut.row_labels_, cut.column_labels_)
    np.testing.assert_allclose(cut.block_means_, expected)
    assert cut.block_means_.shape == (5, 2)


def test_missing_values_do_not_count(planted):
    X = planted[0].copy()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = ROCCO().fit(X)
    np.testing.assert_allclose(model.at().block_means_, model.block_means_)
    cut = model.at(2, 4)
    for i, j in np.ndindex(2, 4):
        cells = X[cut.row_labels_ == i][:, cut.column_labels_ == j]
        assert cut.block_means_[i, j] == pytest.approx(np.nanmean(cells))
    assert model.statistics_.by_row.counts.sum() == np.isfinite(X).sum()


def test_coarser_and_finer_undo_each_other(model):
    coarser = model.coarser()
    assert (coarser.n_row_clusters_, coarser.n_column_clusters_) == (2, 2)
    assert is_nested(coarser.row_labels_, model.row_labels_)
    np.testing.assert_array_equal(coarser.finer().row_labels_, model.row_labels_)
    finer = model.finer()
    assert (finer.n_row_clusters_, finer.n_column_clusters_) == (4, 4)
    assert is_nested(model.column_labels_, finer.column_labels_)
    np.testing.assert_array_equal(finer.coarser().column_labels_, model.column_labels_)


def test_one_side_at_its_end_stays_there(model):
    assert (
        repr(model.at(1, 3).coarser()) == "CoClustering(n_row_clusters_=1, n_column_clusters_=2)"
    )
    finest = model.tree_.rows.n_finest
    assert model.at(finest, 3).finer().n_row_clusters_ == finest
    assert model.at(finest, 3).finer().n_column_clusters_ == 4


def test_what_cannot_be_had_is_said(model):
    finest = model.tree_.rows.n_finest, model.tree_.columns.n_finest
    with pytest.raises(ValueError, match=f"Ask for {finest[0]} or fewer"):
        model.at(n_row_clusters=finest[0] + 1)
    with pytest.raises(ValueError, match=f"ends at {finest[1]} column clusters"):
        model.at(n_column_clusters=1000)
    with pytest.raises(ValueError, match="n_row_clusters must be an integer of at least 1"):
        model.at(0)
    with pytest.raises(ValueError, match="nothing coarser"):
        model.at(1, 1).coarser()
    with pytest.raises(ValueError, match=f"ends at {finest[0]} row clusters and {finest[1]}"):
        model.at(*finest).finer()
    with pytest.raises(NotFittedError):
        ROCCO().at(2)


@pytest.mark.parametrize("way", ["pickle", "file"])
def test_cuts_survive_storage(way, model, tmp_path):
    if way == "file":
        model.save(tmp_path / "model.pyrocco")
        again = pyrocco.load(tmp_path / "model.pyrocco")
    else:
        again = pickle.loads(pickle.dumps(model))
    cut, expected = again.at(2, 5), model.at(2, 5)
    np.testing.assert_array_equal(cut.row_labels_, expected.row_labels_)
    np.testing.assert_array_equal(cut.block_means_, expected.block_means_)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1e6]), st.floats(0, 0.9))
def test_moments_merge_to_those_of_the_cells(seed, offset, missing):
    rng = np.random.default_rng(seed)
    X = offset + rng.standard_normal((30, 5))
    X[rng.random(X.shape) < missing] = np.nan
    leaves, groups = rng.permutation(np.arange(30) % 7), np.array([0, 0, 1, 1, 2, 2, 2])
    merged = Moments.of(X, leaves).merged(groups)
    for group in range(3):
        for column in range(5):
            cells = X[groups[leaves] == group, column]
            cells = cells[~np.isnan(cells)]
            assert merged.counts[group, column] == len(cells)
            if len(cells):
                assert merged.means[group, column] == pytest.approx(cells.mean())
                scatter = len(cells) * cells.var()
                assert merged.scatter[group, column] == pytest.approx(scatter, abs=1e-8)


def test_moments_of_sparse_data_are_those_of_the_same_cells_filled():
    X = sparse.csr_array(sparse.random(40, 20, 0.1, random_state=0))
    groups = np.arange(40) % 3
    stored, filled = Moments.of(X, groups), Moments.of(X.toarray(), groups)
    for name in ("counts", "means", "scatter"):
        np.testing.assert_allclose(getattr(stored, name), getattr(filled, name), atol=1e-12)
