"""Preparations: the numbers of other programs, dense, sparse and in chunks, and undone again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from pyrocco.backends import ChunkedMatrix, ScratchStore
from pyrocco.cells.methods import METHODS
from pyrocco.cells.preparation import learn_steps
from pyrocco.prepare import (
    PREPARATIONS,
    balance,
    center,
    center_rows,
    complement,
    learn_preparations,
    log,
    log1p,
    normalize,
    prepare,
    prepare_alike,
    scale_rows,
    tfidf,
    zscore,
)

COUNTS = np.random.default_rng(0).poisson(1.0, (30, 12)).astype(float)
COUNTS[4] = 0
ANSWERS = np.minimum(COUNTS, 1)
POSITIVE = np.random.default_rng(1).lognormal(size=(30, 12))
SHIFTED = ("complement", "log", "center_rows", "zscore", "center")
# Preparations that are applied one after the other.
SEQUENCES = [
    *([name] for name in METHODS),
    ["complement", "normalize", "log1p", "balance"],
    ["normalize", "log1p", "zscore"],
    ["log", "center_rows"],
    ["center_rows", "scale_rows"],
    ["log1p", "balance", "center"],
]
FORMS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def suited(names):
    """A matrix whose values suit all of the preparations."""
    if "complement" in names:
        return ANSWERS
    return POSITIVE if "log" in names else COUNTS


def in_chunks(X):
    return ChunkedMatrix.split(X, [0, 7, 8, X.shape[0]], ScratchStore(10**8, 1))


@pytest.mark.parametrize("name", PREPARATIONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_and_dtype_are_preserved_and_the_input_is_not_changed(name, form, dtype):
    values = suited([name])
    X = form(values.astype(dtype))
    prepared = PREPARATIONS[name](X)
    np.testing.assert_array_equal(dense(X), values.astype(dtype))
    assert prepared.dtype == dtype
    assert sparse.issparse(prepared) == (sparse.issparse(X) and name not in SHIFTED)
    expected = PREPARATIONS[name](values)
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
    np.testing.assert_allclose(tfidf(COUNTS), expected, rtol=1e-13)
    scaled = StandardScaler().fit_transform(COUNTS)
    np.testing.assert_allclose(zscore(COUNTS), scaled, rtol=1e-12, atol=1e-14)
    constant = zscore(np.full((7, 1), 0.1))
    np.testing.assert_allclose(constant, 0, atol=1e-15)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "tfidf"])
@pytest.mark.parametrize("form", FORMS)
def test_missing_values_stay_missing_and_are_not_counted(name, form):
    X = suited([name]).copy()
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
    with pytest.raises(ValueError, match="'sqrt'"):
        prepare(COUNTS, ["sqrt"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", [["normalize", "log1p", "zscore"], ["tfidf"], ["log1p"], []])
def test_other_rows_are_prepared_alike(names, form):
    X = form(COUNTS)
    prepared, learned = learn_preparations(X, names)
    np.testing.assert_array_equal(dense(prepared), dense(prepare(X, names)))
    assert list(learned.names) == names
    np.testing.assert_array_equal(dense(prepare_alike(X[5:9], learned)), dense(prepared)[5:9])
    twice = prepare_alike(form(2 * COUNTS[5:9]), learned)
    if names[:1] in (["normalize"], ["tfidf"]):
        np.testing.assert_allclose(dense(twice), dense(prepared)[5:9], atol=1e-12)


def test_balance_takes_both_totals_out_of_counts():
    X = np.outer([1.0, 10.0, 4.0], [2.0, 5.0, 3.0])
    balanced = balance(X)
    np.testing.assert_allclose(np.square(balanced).mean(), 1)
    roots = np.sqrt(np.outer(X.sum(axis=1), X.sum(axis=0)))
    np.testing.assert_allclose(balanced / balanced[0, 0], (X / roots) / (X / roots)[0, 0])
    np.testing.assert_allclose(balance(1000 * X), balanced)
    np.testing.assert_allclose(balance(COUNTS.T), balance(COUNTS).T, rtol=1e-12)
    assert (balance(COUNTS)[4] == 0).all()


def test_logarithms_do_not_depend_on_the_unit():
    np.testing.assert_allclose(log(1e-9 * POSITIVE), log(POSITIVE), atol=1e-12)
    np.testing.assert_allclose(log(POSITIVE), np.log(POSITIVE) - np.log(POSITIVE).mean())
    for form in FORMS:
        with pytest.raises(ValueError, match="log needs values above 0, but the smallest is 0"):
            log(form(COUNTS))


def test_only_answers_have_a_complement():
    np.testing.assert_array_equal(complement(ANSWERS), 1 - ANSWERS)
    for form in FORMS:
        with pytest.raises(ValueError, match="complement needs values from 0 to 1"):
            complement(form(COUNTS))


def test_means_of_short_rows_are_shrunken_more():
    X = np.array([[5.0, 5.0, 5.0, 5.0], [5.0, np.nan, np.nan, np.nan], [1.0] * 4])
    overall = np.nanmean(X)
    subtracted = (X - center_rows(X))[:, 0]
    np.testing.assert_allclose(subtracted[0], (20 + overall) / 5)
    np.testing.assert_allclose(subtracted[1], (5 + overall) / 2)
    np.testing.assert_allclose(np.nanmean(center(X)), 0, atol=1e-15)


def test_spreads_of_short_rows_are_shrunken_more():
    X = np.array([[3.0, -3.0, 3.0, -3.0], [3.0, np.nan, np.nan, np.nan], [1.0, -1.0, 1.0, -1.0]])
    overall = np.nanmean(np.square(X))
    factors = (scale_rows(X) / X)[:, 0]
    np.testing.assert_allclose(factors[0], np.sqrt(overall / ((36 + 10 * overall) / 14)))
    np.testing.assert_allclose(factors[1], np.sqrt(overall / ((9 + 10 * overall) / 11)))
    assert factors[0] < factors[1] < 1 < factors[2]
    assert not scale_rows(np.zeros((3, 2))).any()


@pytest.mark.parametrize("names", SEQUENCES, ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("transposed", [False, True])
def test_chunks_and_transposes_are_prepared_alike(names, form, transposed):
    X = suited(names)
    prepared, learned = learn_steps(X, names, transposed)
    chunks, of_chunks = learn_steps(in_chunks(form(X)), names, transposed)
    near = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(chunks[:], prepared, **near)
    np.testing.assert_allclose(of_chunks.undo(chunks)[:], X, **near)
    flipped, of_flipped = learn_steps(form(np.ascontiguousarray(X.T)), names, not transposed)
    np.testing.assert_allclose(dense(flipped).T, prepared, **near)
    np.testing.assert_allclose(dense(of_flipped.transposed().apply(X)), prepared, **near)
    np.testing.assert_allclose(learned.rows(slice(5, 9)).apply(X[5:9]), prepared[5:9], **near)


@pytest.mark.parametrize("names", SEQUENCES, ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("transposed", [False, True])
def test_rows_and_columns_of_the_fit_are_prepared_as_in_the_fit(names, form, transposed):
    X = form(suited(names))
    prepared, learned = learn_steps(X, names, transposed)
    near = {"rtol": 1e-12, "atol": 1e-12}
    rows, columns = X[5:9], X[:, 2:5]
    again = learned.for_new_rows(rows).apply(rows)
    np.testing.assert_allclose(dense(again), dense(prepared)[5:9], **near)
    again = learned.transposed().for_new_rows(columns.T).apply(columns.T)
    np.testing.assert_allclose(dense(again).T, dense(prepared)[:, 2:5], **near)


def test_new_rows_get_the_targets_of_the_fit():
    new = 3 * COUNTS[5:6] + 1
    learned = learn_preparations(COUNTS, ["normalize"])[1]
    total = np.median(COUNTS.sum(axis=1)[COUNTS.sum(axis=1) > 0])
    assert prepare_alike(new, learned).sum() == pytest.approx(total)
    learned = learn_preparations(COUNTS, ["zscore"])[1]
    expected = (new - COUNTS.mean(axis=0)) / COUNTS.std(axis=0)
    np.testing.assert_allclose(prepare_alike(new, learned), expected)
    learned = learn_preparations(COUNTS, ["center_rows"])[1]
    shift = (new.sum() + COUNTS.mean()) / (new.size + 1)
    np.testing.assert_allclose(prepare_alike(new, learned), new - shift)


VALUES = st.floats(0, 1e6).map(lambda value: float(np.float32(value)))


@pytest.mark.parametrize("names", SEQUENCES, ids=str)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_preparations_can_be_undone(names, data):
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    X = data.draw(arrays(float, shape, elements=VALUES))
    X = X + 0.5 if "log" in names else X
    X = np.minimum(X, 1) if "complement" in names else X
    prepared, learned = learn_steps(X, names)
    assert np.isfinite(prepared).all()
    near = {"rtol": 1e-6, "atol": 1e-6 * max(X.max(), 1)}
    np.testing.assert_allclose(learned.undo(prepared), X, **near)
    if not set(names) & set(SHIFTED):
        sparse_one, learned = learn_steps(sparse.csr_array(X), names)
        np.testing.assert_allclose(learned.undo(sparse_one).toarray(), X, **near)


def test_values_out_of_range_are_refused():
    for name in ("normalize", "tfidf", "balance", "center_rows", "scale_rows", "zscore", "center"):
        with pytest.raises(ValueError, match=f"which {name} cannot use"):
            prepare(1e200 * POSITIVE, [name])
    np.testing.assert_allclose(log(1e200 * POSITIVE), log(POSITIVE), atol=1e-10)
