"""Kinds of cells: found for data of known kinds, whatever their order, storage and unit."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from pyrocco.backends import ChunkedMatrix, ScratchStore
from pyrocco.cells.kinds import COUNT_STEPS, KINDS, say_steps
from pyrocco.inspection import read_kind
from pyrocco.prepare import log1p, normalize, tfidf, zscore

rng = np.random.default_rng(0)
# Counts as of a sequencer: genes of very different frequency, cells of different depth.
COUNTS = rng.poisson(np.outer(rng.gamma(4, 0.3, 300), rng.lognormal(-2, 1.5, 80))).astype(float)
DENSE_COUNTS = rng.poisson(np.outer(rng.gamma(4, 0.3, 300), rng.lognormal(2, 0.5, 80))) * 1.0
MARKS = rng.integers(1, 6, (300, 80)).astype(float)
RATED = np.where(rng.random(MARKS.shape) < 0.8, np.nan, MARKS)
GENEROUS = np.clip(np.rint(rng.normal(3, 1, (300, 1)) + rng.normal(0, 1, (300, 80))), 1, 5)
# Answers from 1 to 5 or 0 and 1, and an age.
SURVEY = np.column_stack(
    [rng.integers(1, 6, (60, 9)), rng.integers(0, 2, (60, 4)), rng.integers(18, 80, 60)]
).astype(float)
# Percentages of samples: rows have equal totals, but for rounding.
PERCENTAGES = np.stack([rng.dirichlet(np.full(60, 0.3)) * 100 for _ in range(120)]).round(1)
DEGREES = np.rint(rng.normal(300, 4, (300, 80)))
LOG_RATIOS = rng.normal(size=(300, 80)) * 3 - 1

CASES = {
    "sparse counts": (COUNTS, "counts", COUNT_STEPS),
    "dense counts": (DENSE_COUNTS, "counts", COUNT_STEPS),
    "rare yes": ((DENSE_COUNTS > 25).astype(float), "yes/no", COUNT_STEPS),
    "rare no": ((DENSE_COUNTS < 26).astype(float), "yes/no", ("complement", *COUNT_STEPS)),
    "normalised counts": (normalize(COUNTS), "positive values", ("balance",)),
    "logged counts": (log1p(normalize(COUNTS)), "real values", ()),
    "tf-idf": (tfidf(COUNTS), "real values", ()),
    "scaled": (zscore(COUNTS), "real values", ()),
    "yes/no": ((COUNTS > 0).astype(float), "yes/no", ()),
    "marks": (MARKS, "marks", ()),
    "marks that are mostly missing": (RATED, "marks", ("center_rows", "scale_rows")),
    "marks of generous and strict raters": (GENEROUS, "marks", ("center_rows", "scale_rows")),
    "grey levels up to 16": (load_digits().data, "marks", ()),
    "answers and an age": (SURVEY, "different units", ("zscore",)),
    "counts of which one is the largest": (DENSE_COUNTS[:, :4], "counts", COUNT_STEPS),
    "intensities": (rng.lognormal(3, 1.5, (300, 80)), "positive values", ("log",)),
    "different units": (load_breast_cancer().data, "different units", ("zscore",)),
    "centimetres": (load_iris().data, "real values", ()),
    "percentages": (PERCENTAGES, "positive values", ("balance",)),
    "percentages in columns": (PERCENTAGES.T, "positive values", ("balance",)),
    "marks far from zero": (MARKS + 1e6, "marks", ("center",)),
    "marks of raters far from zero": (GENEROUS + 1e6, "marks", ("center_rows", "scale_rows")),
    "whole degrees": (DEGREES, "real values", ()),
    "whole numbers far from zero": (DEGREES + 1e6, "real values", ("center",)),
    "log ratios": (LOG_RATIOS, "real values", ()),
    "an offset": (LOG_RATIOS + 1e6, "real values", ("center",)),
    "sparse values": (COUNTS * rng.lognormal(0, 3, 80), "real values", ()),
    "whole numbers below zero": (np.rint(LOG_RATIOS), "real values", ()),
}
# What the unit decides: numbers that are whole, and equal totals once logarithms are undone.
OF_A_UNIT = ("counts", "yes/no", "marks")
OF_THIS_UNIT = ("answers and an age", "scaled", "logged counts", "tf-idf", "whole degrees")


def decided(cells):
    assert cells.kind in KINDS
    return cells.kind, cells.steps


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kinds(case, form, dtype):
    X, *expected = CASES[case]
    assert decided(read_kind(form(X.astype(dtype)))) == tuple(expected)


@pytest.mark.parametrize("case", CASES)
def test_order_chunks_and_unit_do_not_matter(case):
    X, *expected = CASES[case]
    expected = tuple(expected)
    shuffled = X[rng.permutation(X.shape[0])][:, rng.permutation(X.shape[1])]
    assert decided(read_kind(shuffled)) == expected
    store = ScratchStore(10**8, 1)
    chunks = ChunkedMatrix.split(sparse.csr_array(X), [0, 50, 51, X.shape[0]], store)
    assert decided(read_kind(chunks)) == expected
    wide = ChunkedMatrix.split(np.ascontiguousarray(X.T), [0, 1, X.shape[1]], store)
    assert decided(read_kind(wide, transposed=True)) == expected
    if expected[0] not in OF_A_UNIT and case not in OF_THIS_UNIT:
        for unit in (1e-9, 0.37, 1e12):
            assert decided(read_kind(unit * X)) == expected


def test_zeros_that_are_stored_do_not_matter():
    X = sparse.csr_array(COUNTS)
    stored = sparse.csr_array(COUNTS + 1)
    stored.data -= 1
    assert stored.nnz > X.nnz
    assert read_kind(stored) == read_kind(X)


def test_missing_values_do_not_count():
    X = np.where(rng.random(DENSE_COUNTS.shape) < 0.7, np.nan, DENSE_COUNTS)
    assert decided(read_kind(X)) == ("counts", COUNT_STEPS)
    sparse_counts = COUNTS.copy()
    sparse_counts[0, 0] = np.nan
    assert decided(read_kind(sparse_counts)) == ("counts", COUNT_STEPS)
    assert decided(read_kind(np.array([[np.nan, 1.0], [0.0, 1.0]]))) == ("yes/no", ())


def test_constant_columns_have_no_unit():
    X = LOG_RATIOS.copy()
    X[:, ::7] = 14.8  # the mean of these is rounded
    assert decided(read_kind(X)) == ("real values", ())


def test_a_wild_cell_does_not_hide_shares():
    X = PERCENTAGES.copy()
    X[5, 7] = 1e8
    assert decided(read_kind(X)) == ("positive values", ("balance",))


@pytest.mark.parametrize("scale", [1e-310, 1e200, 1e300])
def test_extreme_values_are_left_alone_unless_they_are_logged(scale):
    assert read_kind(scale * LOG_RATIOS).steps == ()
    assert read_kind(scale * load_breast_cancer().data).steps == ()
    assert read_kind(scale * np.maximum(CASES["intensities"][0], 1)).steps == ("log",)


@pytest.mark.parametrize("X", [np.zeros((3, 4)), np.full((3, 4), 7.5), np.full((1, 1), -1e9)])
def test_constant_values_need_nothing(X):
    assert read_kind(X).steps == ()


def test_what_was_done_is_enough():
    assert read_kind(log1p(normalize(DENSE_COUNTS))).steps == ()
    assert read_kind(zscore(load_breast_cancer().data)).steps == ()


def test_each_side_of_counts_is_prepared_by_itself():
    cells = read_kind(COUNTS)
    assert cells.each_side
    assert "Columns are compared in the same way" in cells.sentence
    assert not cells.forced(COUNT_STEPS, "as asked").each_side
    assert not read_kind(MARKS).each_side
    transposed = read_kind(np.ascontiguousarray(COUNTS.T))
    assert transposed == cells


def test_sentences():
    assert say_steps((), "as asked") == "The fit uses the values as they are, as asked."
    assert say_steps(("normalize", "log1p", "zscore"), "as asked") == (
        "The fit scales rows to the same total, then takes log(1 + x) of every value x and scales "
        "columns to mean 0 and standard deviation 1, as asked."
    )
