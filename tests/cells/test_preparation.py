"""Preparations: the numbers of other programs, dense and sparse alike, and input left alone."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from pyrocco.prepare import (
    PREPARATIONS,
    learn_preparations,
    log1p,
    normalize,
    prepare,
    prepare_alike,
    tfidf,
    zscore,
)

COUNTS = np.random.default_rng(0).poisson(1.0, (30, 12)).astype(float)
COUNTS[4] = 0
FORMS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("name", PREPARATIONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_and_dtype_are_preserved_and_the_input_is_not_changed(name, form, dtype):
    X = form(COUNTS.astype(dtype))
    prepared = PREPARATIONS[name](X)
    np.testing.assert_array_equal(dense(X), COUNTS)
    assert prepared.dtype == dtype
    assert sparse.issparse(prepared) == (sparse.issparse(X) and name != "zscore")
    expected = PREPARATIONS[name](COUNTS)
    np.testing.assert_allclose(dense(prepared), expected, rtol=1e-4, atol=1e-5)


def test_normalize_gives_every_row_the_median_total():
    totals = normalize(COUNTS).sum(axis=1)
    filled = COUNTS.sum(axis=1) > 0
    np.testing.assert_allclose(totals[filled], np.median(COUNTS.sum(axis=1)[filled]))
    assert totals[4] == 0
    assert (normalize(np.zeros((2, 2))) == 0).all()


def test_the_others_are_those_of_numpy_and_scikit_learn():
    np.testing.assert_array_equal(log1p(COUNTS), np.log1p(COUNTS))
    expected = TfidfTransformer().fit_transform(sparse.csr_matrix(COUNTS)).toarray()
    np.testing.assert_array_equal(tfidf(COUNTS), expected)
    np.testing.assert_array_equal(zscore(COUNTS), StandardScaler().fit_transform(COUNTS))


@pytest.mark.parametrize("name", ["normalize", "log1p", "zscore"])
@pytest.mark.parametrize("form", FORMS)
def test_missing_values_stay_missing_and_are_not_counted(name, form):
    X = COUNTS.copy()
    X[1, 2] = X[7, 0] = np.nan
    prepared = dense(PREPARATIONS[name](form(X)))
    np.testing.assert_array_equal(np.isnan(prepared), np.isnan(X))
    if name == "zscore":
        np.testing.assert_allclose(np.nanmean(prepared, axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(np.nanstd(prepared, axis=0), 1)


@pytest.mark.parametrize("function", [log1p, normalize, tfidf])
@pytest.mark.parametrize("form", FORMS)
def test_negative_values_are_refused(function, form):
    with pytest.raises(ValueError, match="at least 0, but the smallest is -2"):
        function(form(np.array([[1.0, -2.0], [0.0, -1.0]])))


def test_tfidf_refuses_missing_values():
    with pytest.raises(ValueError, match="without missing values"):
        tfidf(np.array([[np.nan, 1.0]]))


def test_preparations_are_applied_in_a_fixed_order():
    expected = zscore(log1p(normalize(COUNTS)))
    np.testing.assert_array_equal(prepare(COUNTS, ["zscore", "log1p", "normalize"]), expected)
    np.testing.assert_array_equal(prepare(COUNTS, []), COUNTS)
    with pytest.raises(ValueError, match="leave out normalize"):
        prepare(COUNTS, ["tfidf", "normalize"])
    with pytest.raises(ValueError, match="'log'"):
        prepare(COUNTS, ["log"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", [["normalize", "log1p", "zscore"], ["tfidf"], ["log1p"], []])
def test_other_rows_are_prepared_alike(names, form):
    X = form(COUNTS)
    prepared, learned = learn_preparations(X, names)
    np.testing.assert_array_equal(dense(prepared), dense(prepare(X, names)))
    assert list(learned) == names
    np.testing.assert_array_equal(dense(prepare_alike(X[5:9], learned)), dense(prepared)[5:9])
    twice = prepare_alike(form(2 * COUNTS[5:9]), learned)
    if names[:1] in (["normalize"], ["tfidf"]):
        np.testing.assert_allclose(dense(twice), dense(prepared)[5:9], atol=1e-12)
