"""Whatever a user passes: the right result, or a ValueError or TypeError that says what to do."""

import datetime
import os
import re
import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from pyrocco import (
    COBRA,
    RCC,
    ROCCO,
    AutoKMeans,
    AutoSpectralBiclustering,
    AutoSpectralCoclustering,
    COBRAr,
    mutual_knn_graph,
)
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.inspection import estimate_cost, gather_facts
from pyrocco.plots import plot_biclusters
from pyrocco.prepare import learn_preparations, log1p, normalize, prepare_alike, tfidf, zscore

X = make_noisy_biclusters((24, 18), 3, noise=3, random_state=0).X
COUNTS = np.where(X > 20, np.round(X), 0.0)
RNG = np.random.default_rng(0)
HOLES = np.where(RNG.random(X.shape) < 0.05, np.nan, X)
ROW_LABELS = ROCCO().fit(X).row_labels_
MODEL = ROCCO().fit(X)
AUTO = AutoKMeans, AutoSpectralBiclustering, AutoSpectralCoclustering
ALL = ROCCO, RCC, COBRA, COBRAr, *AUTO
HERE = Path(__file__).parent


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Threads that wait for each other take longer than these small fits."""
    with threadpool_limits(1):
        yield


def labels_of(model):
    return getattr(model, "row_labels_", getattr(model, "labels_", None))


def run_python(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MPLBACKEND": "agg"},
        check=False,
    )


# --- sparse matrices ---


def test_damaged_sparse_matrices_are_refused_everywhere():
    """In another process, which a crash would end."""
    done = run_python(HERE / "damaged_matrices.py")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"ended at: {lines[-1:]} {done.stderr[-2000:]}"
    assert len(lines) > 500
    assert [line for line in lines if ": the sparse matrix is damaged: " not in line] == []


def unsorted(csr):
    """Reverse the entries of every row."""
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in pairwise(csr.indptr)])
    return sparse.csr_array((csr.data[order], csr.indices[order], csr.indptr), shape=csr.shape)


def repeated(csr):
    """Store every value as two halves, which are exact."""
    halves = np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr
    return sparse.csr_array(halves, shape=csr.shape)


def spare(csr):
    """Add entries that belong to no row."""
    more = csr.copy()
    more.data, more.indices = np.r_[csr.data, np.nan, 9e99], np.r_[csr.indices, 0, 999]
    return more


def stale(csr):
    """Reverse the entries after SciPy has noted that they are sorted."""
    noted, other = csr.copy(), unsorted(csr)
    assert noted.has_canonical_format
    noted.data[:], noted.indices[:] = other.data, other.indices
    return noted


def zeros(csr):
    """Store all zeros."""
    rows, columns = np.indices(csr.shape)
    cells = csr.toarray().ravel(), (rows.ravel(), columns.ravel())
    return sparse.coo_array(cells, shape=csr.shape)


@pytest.mark.parametrize("make", [unsorted, repeated, spare, stale, zeros])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_legal_sparse_matrices_give_the_result_of_the_canonical_one(make, form):
    canonical = sparse.csr_array(COUNTS)
    matrix = make(canonical)
    if form != "csr":
        if make in (spare, stale):
            pytest.skip("these are flaws of CSR")
        matrix = matrix.asformat(form)
    before = {
        name: getattr(matrix, name).copy()
        for name in ("data", "indices", "indptr", "row", "col")
        if hasattr(matrix, name)
    }
    for estimator in (ROCCO(), RCC(), AutoKMeans(max_clusters=2)):
        expected = labels_of(estimator.fit(canonical)).copy()
        np.testing.assert_array_equal(labels_of(estimator.fit(matrix)), expected)
    model = ROCCO().fit(canonical)
    for method in ("predict", "predict_columns", "place", "transform", "impute"):
        answers = getattr(model, method)(canonical), getattr(model, method)(matrix)
        np.testing.assert_array_equal(*map(np.asarray, answers))
    for function in (normalize, log1p, tfidf, zscore):
        results = (sparse.csr_array(function(part)).toarray() for part in (canonical, matrix))
        np.testing.assert_allclose(*results, rtol=1e-12)
    assert gather_facts(matrix).mean == gather_facts(canonical).mean
    assert mutual_knn_graph(matrix).n_edges == mutual_knn_graph(canonical).n_edges
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(matrix, name), value)


# --- scales and types of numbers ---

SCALES = [1e-322, 1e-308, 1e-200, 1e200, 1e306]
SLOW = "COBRAr", "k-means", "biclustering", "co-clustering"
FREE = {
    "ROCCO": ROCCO(),
    "RCC": RCC(),
    "ROCCO spectral": ROCCO(solver="spectral"),
    "ROCCO manhattan": ROCCO(metric="manhattan"),
    "ROCCO cosine": ROCCO(metric="cosine"),
    "COBRA": COBRA(gamma=10.0),
    "COBRAr": COBRAr(gamma=10.0),
    "k-means": AutoKMeans(max_clusters=3),
    "biclustering": AutoSpectralBiclustering(max_clusters=3),
    "co-clustering": AutoSpectralCoclustering(max_clusters=3),
}
FIXED = {
    "ROCCO": ROCCO(variant="paper"),
    "RCC": RCC(variant="paper"),
    "COBRA": COBRA(gamma=1.0, standardize=False),
}


@pytest.mark.parametrize("name", FREE)
def test_units_at_the_ends_of_the_range_do_not_change_the_labels(name):
    model = FREE[name]
    for data in (X, sparse.csr_array(COUNTS)):
        expected = labels_of(model.fit(data)).copy()
        for scale in SCALES[::4] if name in SLOW else SCALES:
            np.testing.assert_array_equal(labels_of(model.fit(data * scale)), expected)
        for scale in () if name in SLOW else (1e-42, 1e36):
            single = (data * scale).astype(np.float32)
            np.testing.assert_array_equal(labels_of(model.fit(single)), expected)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e306])
def test_other_results_scale_too(scale):
    model = ROCCO().fit(HOLES * scale)
    reference = ROCCO().fit(HOLES)
    # Subnormal numbers have few digits.
    near = {"rtol": 0.02 if scale < 1e-300 else 1e-9, "atol": 0}
    np.testing.assert_allclose(model.block_means_ / scale, reference.block_means_, **near)
    np.testing.assert_array_equal(model.predict(HOLES * scale), reference.row_labels_)
    assert model.at(2, 2).block_means_.shape == (2, 2)
    imputed = model.impute(HOLES * scale)
    assert np.isfinite(imputed).all()
    assert np.isfinite(model.transform(X * scale)).all()
    assert np.isfinite(model.explain(top=2)["effect"]).all()


def test_a_row_far_beyond_the_scale_of_the_fit_is_far():
    model = ROCCO().fit(X * 1e-300)
    assert model.place(X[:2] * 1e200)["far"].tolist() == [True, True]


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e306])
def test_methods_with_units_say_what_to_do(name, scale):
    with pytest.raises(ValueError, match=r"^The largest absolute value of X is .* divide X by"):
        FIXED[name].fit(X * scale)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, np.int8, np.uint64, bool, ">f8"])
def test_other_types_of_numbers_are_converted(dtype):
    data = (X > 20).astype(dtype)
    for model in (ROCCO(), RCC(), AutoKMeans(max_clusters=4)):
        expected = labels_of(model.fit(data.astype(float))).copy()
        np.testing.assert_array_equal(labels_of(model.fit(data)), expected)


@pytest.mark.parametrize(
    "values",
    [
        np.array([[-(2**63), 2**63 - 1], [0, 1], [5, -7]]),
        np.array([[2**64 - 1, 0], [3, 2**63], [1, 1]], dtype=np.uint64),
        np.where(RNG.random((9, 7)) < 0.5, 1e300, 1e-300),
        np.where(RNG.random((9, 7)) < 0.5, 1.7e308, -1.7e308),
        np.where(RNG.random((9, 7)) < 0.1, 1e308, 5e-324),
        np.where(RNG.random((9, 7)) < 0.5, 3e38, 1e-45).astype(np.float32),
    ],
)
def test_mixed_extremes_are_fitted(values):
    for model in (ROCCO(), RCC(), COBRA(gamma=1.0), AutoKMeans(max_clusters=3)):
        assert len(labels_of(model.fit(values))) == len(values)
    assert np.isfinite(ROCCO().fit(values).representation_).all()


def test_values_beyond_float64_and_infinite_ones_are_refused():
    for data in (X.astype(np.longdouble) * np.longdouble("1e400"), np.where(X > 20, np.inf, X)):
        with pytest.raises(ValueError, match="infinity or a value too large"):
            ROCCO().fit(data)


def test_single_precision_is_not_used_where_it_is_out_of_range():
    data = np.zeros((3000, 2000))
    data[:, 0] = 1e300
    with pytest.raises(ValueError, match="out of the range of the single precision"):
        ROCCO(memory_limit="700MB").fit(data)


def test_preparations_refuse_numbers_whose_totals_are_out_of_range():
    for function in (normalize, tfidf, zscore):
        with pytest.raises(ValueError, match=f"which {function.__name__} cannot use"):
            function(COUNTS * 1e300)
    assert np.isfinite(log1p(COUNTS * 1e300)).all()
    facts = gather_facts(COUNTS * 1e300)
    assert facts.spread == pytest.approx(gather_facts(COUNTS).spread)
    assert facts.mean == pytest.approx(1e300 * gather_facts(COUNTS).mean)


@pytest.mark.parametrize("scale", [1e-320, 1e200, 1e306])
def test_chunks_at_the_ends_of_the_range_give_the_same_labels(scale):
    expected = ROCCO().fit(da.from_array(X, chunks=(8, 18))).row_labels_
    found = ROCCO().fit(da.from_array(X * scale, chunks=(8, 18))).row_labels_
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


def test_chunks_of_other_shapes_and_types_than_stated_are_refused():
    array = da.from_array(X, chunks=(8, 18))
    for change, message in (
        (lambda chunk: chunk[:3], "has the shape (3, 18) instead of (8, 18)"),
        (lambda chunk: chunk.astype(object), "has the type object, not numbers"),
    ):
        wrong = array.map_blocks(change, dtype=float, meta=np.empty((0, 0)))
        with pytest.raises(ValueError, match=re.escape(message)):
            ROCCO().fit(wrong)


# --- parameters ---


class Untouchable:
    """Fails when its values are read."""

    def __array__(self, *arguments, **options):
        raise AssertionError("X was read before the parameters were checked")


COUNT = [0, -1, 1.5, "3", None, True, float("nan"), [3], np.eye(2)]
WRONG = {
    "n_clusters": [0, -2, 2.5, "3", True, (2, 3, 4), (2,), (2, 0), ("a", None), np.array([2, 3])],
    "prepare": ["sqrt", 3, True, ["log1p", "sqrt"], [3], np.eye(2)],
    "n_neighbors": COUNT,
    "max_iter": COUNT,
    "max_clusters": [1, *COUNT],
    "sample_size": [2, *COUNT],
    "metric": [None, "hamming", 3, ("auto",), np.array(["auto", "cosine"])],
    "variant": [None, "fast", 1, ["paper"]],
    "solver": [None, 7, "bogus", object, np.eye(2)],
    "device": [None, 3, "gpu", np.eye(2)],
    "random_state": ["a", -1, 2**32, 1.5, np.random.default_rng(0), [1]],
    "n_jobs": [0, "2", 1.5, True, 10**30, [1]],
    "memory_limit": [-1, 0, "much", 1.5, "0GB", "9" * 400, True, [1]],
    "verbose": ["x", -1, 1.5, None, [1]],
    "gamma": [10**400, 0, -1.0, "1", float("nan"), float("inf"), True, 1e300, [1.0], 1j],
    "gammas": ["1", [1.0, -1.0], [None], ["a"], object(), True],
    "phi": [-1.0, "1", None, float("inf"), True],
    "tol": [0, -1.0, "1", None, True],
    "held_out": [0, 1, 1.5, "x", None, True],
    "standardize": [None, "no", 1, 0.0],
}


@pytest.mark.parametrize("kind", ALL)
def test_wrong_parameters_are_refused_before_the_data_are_read(kind):
    for name in kind().get_params():
        for value in WRONG[name]:
            with pytest.raises((ValueError, TypeError)) as raised:
                kind(**{name: value}).fit(Untouchable())
            message = str(raised.value)
            assert message.startswith(f"{name} must "), message
            assert "got " in message
            assert "\n" not in message
            assert len(message) < 250


def test_empty_gammas_are_refused():
    with pytest.raises(ValueError, match="gammas is empty"):
        COBRA(gammas=[]).fit(X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ROCCO().fit(X, observer="x"), "observer must be None or have the methods begin"),
        (lambda: ROCCO().fit(X, checkpoint="x"), "checkpoint must be None or the object of"),
        (lambda: mutual_knn_graph(X, 0), "n_neighbors must be an integer of at least 1; got 0"),
        (lambda: mutual_knn_graph(X, 3, "x"), "metric must be one of 'euclidean'"),
        (lambda: mutual_knn_graph(X, 3, bridges="x"), "bridges must be True, False or 'forest'"),
        (lambda: mutual_knn_graph(HOLES), "X contains NaN"),
        (lambda: MODEL.at("x"), "n_row_clusters must be an integer of at least 1; got 'x'"),
        (lambda: MODEL.at(1, 2.5), "n_column_clusters must be an integer of at least 1; got 2.5"),
        (lambda: MODEL.explain(top="x"), "top must be an integer of at least 0; got 'x'"),
        (lambda: estimate_cost(-3, "x"), "n_rows must be an integer of at least 1; got -3"),
        (lambda: learn_preparations(X, "log1p"), "names must be a list of preparations"),
        (lambda: learn_preparations(X, [["x"]]), "preparations are complement, normalize"),
        (lambda: prepare_alike(X, "log1p"), "learned must be what learn_preparations returned"),
        (lambda: normalize(COUNTS, "x"), "total must be a finite number above 0; got"),
        (lambda: tfidf(COUNTS, "x"), "idf must have one number for each of the 18 columns"),
        (lambda: zscore(X, "x"), "moments must be a pair of arrays with one number for each"),
        (lambda: plot_biclusters(X, [0], [1], None), "row_labels must have one integer of at"),
        (lambda: make_noisy_biclusters("x"), "shape must be a pair of integers of at least 1"),
        (lambda: make_noisy_biclusters((3, 4, 5)), "shape must be a pair of integers"),
        (lambda: make_noisy_biclusters((9, 9), 2.5), "n_clusters must be an integer of at least"),
        (lambda: make_noisy_biclusters(noise="x"), "noise must be a finite number of at least 0"),
        (lambda: make_noisy_biclusters(random_state="x"), "random_state must be None"),
    ],
)
def test_other_wrong_arguments_are_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        call()


# --- containers ---

FRAME = pd.DataFrame(X, columns=[f"c{j}" for j in range(18)])
MASK = RNG.random(X.shape) < 0.05


def with_column(values):
    return FRAME.assign(c2=values)


def with_cell(value):
    data = X.astype(object)
    data[3, 2] = value
    return data


def structured():
    return np.zeros(5, dtype=[("a", float), ("b", float)])


DATES = "holds dates or times"
REFUSED = {
    "dates": (X.astype("datetime64[s]"), f"X {DATES} (datetime64[s])"),
    "spans": (X.astype("timedelta64[s]"), f"X {DATES} (timedelta64[s])"),
    "list of dates": ([[np.datetime64("2020"), np.datetime64("2021")]] * 3, DATES),
    "dates as objects": (with_cell(np.datetime64("2020")), DATES),
    "column of dates": (with_column(pd.Timestamp("2020")), f"column 'c2' of X {DATES}"),
    "dates with zone": (with_column(pd.Timestamp("2020", tz="UTC")), f"column 'c2' of X {DATES}"),
    "column of spans": (with_column(pd.Timedelta(3, "s")), f"column 'c2' of X {DATES}"),
    "column of periods": (with_column(pd.Period("2020")), f"column 'c2' of X {DATES}"),
    "date objects": (with_column(datetime.date(2020, 1, 1)), "row 0 of column 'c2' of X holds"),
    "texts in a column": (with_column("red"), "row 0 of column 'c2' of X holds 'red', not a"),
    "categories": (with_column(pd.Categorical(["u", "v"] * 12)), "column 'c2' of X holds 'u'"),
    "intervals": (with_column(pd.Interval(0, 1)), "column 'c2' of X holds Interval("),
    "complex column": (with_column(1j), "column 'c2' of X holds complex numbers"),
    "repeated names": (FRAME.set_axis(["a"] * 18, axis=1), "several columns named 'a'"),
    "no columns": (pd.DataFrame(index=range(4)), "0 feature(s)"),
    "structured": (structured(), "X has the type [('a', '<f8'), ('b', '<f8')], not numbers"),
    "complex": (X + 1j, "Complex data not supported: X holds complex numbers"),
    "sparse complex": (sparse.csr_array(X + 1j), "Complex data not supported: X holds"),
    "a text": (with_cell("a"), "X[3, 2] holds 'a', not a number"),
    "a list in a cell": (with_cell([1]), "X[3, 2] holds [1], not a number"),
    "a huge integer": (with_cell(10**400), "X[3, 2] holds 1000"),
    "texts": (np.array([["a", "b"]] * 3), "X[0, 0] holds 'a', not a number"),
    "all masked": (np.ma.masked_all((5, 4)), "Every value of X is missing"),
    "one axis": (X[0], "Expected 2D array, got 1D array"),
    "three axes": (X[None], "dim 3"),
    "no axis": (np.array(3.0), "Expected 2D array, got scalar array"),
    "no rows": (np.empty((0, 5)), "0 sample(s)"),
    "empty list": ([], "Expected 2D array, got 1D array"),
    "ragged": ([[1, 2], [3]], "rows have different lengths"),
    "generator": ((row for row in X), "X must be an array, a DataFrame or a sparse matrix"),
    "set": ({1, 2}, "X must be an array, a DataFrame or a sparse matrix"),
    "dict": ({"a": [1, 2]}, "got dict"),
    "None": (None, "got NoneType"),
    "path": ("data.csv", "got str. To read a file, use pyrocco.io.read_matrix"),
    "sparse vector": (sparse.coo_array(X[0]), "has rows and columns; this has 1 axis"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_matrix_of_numbers_is_refused(name):
    data, message = REFUSED[name]
    for kind in (ROCCO, RCC, COBRA, AutoKMeans) if name != "generator" else (ROCCO,):
        if name == "all masked" and kind is not ROCCO:
            continue
        with pytest.raises((ValueError, TypeError), match=re.escape(message)):
            kind().fit(data)


ACCEPTED = {
    "list": (X.tolist(), X),
    "None for missing": (with_cell(None), "cell"),
    "NA for missing": (with_cell(pd.NA), "cell"),
    "texts of numbers": (X.astype(str), X),
    "masked": (np.ma.array(X, mask=MASK), "mask"),
    "masked integers": (np.ma.array(COUNTS.astype(int), mask=MASK), "mask of counts"),
    "masked without mask": (np.ma.array(X), X),
    "frame": (FRAME, X),
    "numbered columns": (pd.DataFrame(X), X),
    "nullable": (FRAME.round().astype("Int64"), X.round()),
    "nullable with NA": (FRAME.mask(MASK).round().astype("Int64"), "mask of round"),
    "categories of numbers": (with_column(pd.Categorical([1, 2] * 12)), "column"),
    "texts of numbers in a column": (with_column(["1", "2"] * 12), "column"),
    "sparse frame": (FRAME.round().astype(pd.SparseDtype(float, 0.0)), X.round()),
    "sparse frame of NaN": (FRAME.astype(pd.SparseDtype(float, np.nan)), X),
    "partly sparse": (with_column(pd.arrays.SparseArray([1.0, 2.0] * 12)), "column"),
    "arrow": (FRAME.astype("float64[pyarrow]"), X),
    "read-only": (np.frombuffer(X.tobytes()).reshape(X.shape), X),
    "strided": (np.repeat(X, 2, axis=1)[:, ::2], X),
    "Fortran": (np.asfortranarray(X), X),
}


def expected_matrix(name):
    if not isinstance(name, str):
        return name
    cell, column = X.copy(), X.copy()
    cell[3, 2], column[:, 2] = np.nan, [1.0, 2.0] * 12
    masked = {"mask": X, "mask of counts": COUNTS, "mask of round": X.round()}
    masks = {key: np.where(MASK, np.nan, data) for key, data in masked.items()}
    return {"cell": cell, "column": column, **masks}[name]


@pytest.mark.parametrize("name", ACCEPTED)
def test_other_containers_give_the_result_of_the_array(name):
    data, expected = ACCEPTED[name]
    reference = ROCCO().fit(expected_matrix(expected))
    model = ROCCO().fit(data)
    np.testing.assert_array_equal(model.row_labels_, reference.row_labels_)
    np.testing.assert_array_equal(model.representation_, reference.representation_)


# --- weights of rows ---


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(24), "sample_weight must be integers of at least 0"),
        (np.full(24, 0.5), "sample_weight must be integers of at least 0"),
        (np.full(24, np.nan), "Input sample_weight contains NaN"),
        (np.full(24, np.inf), "Input sample_weight contains infinity"),
        (np.zeros(24), "All sample weights are zero"),
        (np.ones(23), "one number for each of the 24 rows of X; got the type float64 and the"),
        (np.ones((24, 1)), "one number for each of the 24 rows"),
        (1, "one number for each of the 24 rows"),
        (["a"] * 24, "one number for each of the 24 rows of X; got the type <U1"),
        (np.ones(24).astype("datetime64[s]"), "got the type datetime64[s]"),
        ([None] * 24, "got the type object"),
        ([[1], [1, 2]], "sample_weight must have one number for each of the 24 rows"),
        (np.full(24, 10**9), "sample_weight repeats the rows to 2.4e+10 rows in all"),
        (np.full(24, 1e300), "sample_weight repeats the rows to 2.4e+301 rows in all"),
    ],
)
def test_wrong_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ROCCO().fit(X, sample_weight=weights)


# --- shapes ---

ONE_VALUE = np.full((4, 3), np.nan)
ONE_VALUE[1, 1] = 5.0
SHAPES = {
    "1 x 1": np.ones((1, 1)),
    "1 x n": X[:1],
    "n x 1": X[:, :1],
    "2 x 2": np.eye(2),
    "equal": np.full((6, 5), 3.0),
    "zeros": np.zeros((6, 5)),
    "one value": ONE_VALUE,
    "no common column": np.where(np.eye(3) > 0, 2.0, np.nan),
    "empty row": np.where(np.arange(24)[:, None] == 3, np.nan, X),
    "empty column": np.where(np.arange(18) == 3, np.nan, X),
    "two rows": np.repeat(X[:2], [5, 7], axis=0),
}

MISSING = "one value", "no common column", "empty row", "empty column"
QUICK = (
    COBRA(gamma=1.0, max_iter=10),
    COBRAr(gamma=1.0, max_iter=10),
    *(kind(max_clusters=3) for kind in AUTO),
)
REFUSAL = "a minimum of [23] is required|No number of clusters gave labels|contains NaN|all zero"


@pytest.mark.parametrize("name", SHAPES)
def test_small_and_constant_matrices_are_fitted_or_refused(name):
    data = SHAPES[name]
    for model in (ROCCO(), RCC(), *QUICK):
        refusal = None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Every value of", UserWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                assert len(labels_of(model.fit(data))) == len(data)
            except ValueError as error:
                refusal = str(error)
        if isinstance(model, (ROCCO, COBRA)) or (isinstance(model, RCC) and name not in MISSING):
            assert refusal is None
        else:
            assert refusal is None or re.search(REFUSAL, refusal), refusal


@pytest.mark.parametrize("kind", [ROCCO, COBRA])
def test_nothing_but_missing_values_is_refused(kind):
    with pytest.raises(ValueError, match=r"(Every value|All values) of X (is|are) missing"):
        kind().fit(np.full((4, 3), np.nan))


# --- new rows and columns ---


@pytest.mark.parametrize("method", ["predict", "place", "transform"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[:, :5], "X has 5 features, but ROCCO is expecting 18 features"),
        (X[:0], "0 sample(s)"),
        (X[0], "Reshape your data"),
        (np.where(X > 20, np.inf, X), "infinity"),
        (X.astype("datetime64[s]"), "holds dates or times"),
        (X.astype(complex), "Complex data not supported"),
        (None, "got NoneType"),
    ],
)
def test_wrong_new_rows_are_refused(method, data, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        getattr(MODEL, method)(data)


@pytest.mark.parametrize("method", ["predict_columns", "place_columns", "impute"])
@pytest.mark.parametrize("data", [X[:5], X[:0], X[0], "x", None, np.where(X > 20, np.inf, X)])
def test_wrong_new_columns_are_refused(method, data):
    with pytest.raises((ValueError, TypeError)):
        getattr(MODEL, method)(data)


def test_rows_without_values_and_other_types_are_predicted():
    empty = np.full((2, 18), np.nan)
    assert MODEL.place(empty)["far"].tolist() == [True, True]
    assert np.isnan(MODEL.transform(empty)).all()
    for data in (X.astype(np.float32), X.astype(object), np.ma.array(X), X.tolist()):
        np.testing.assert_array_equal(MODEL.predict(data), ROW_LABELS)


# --- the interpreter ---


def test_fits_without_asserts_and_docstrings():
    code = (
        "import numpy as np, pyrocco\n"
        "X = np.kron(np.eye(2), np.full((8, 8), 6.0))\n"
        "X += np.random.default_rng(0).random(X.shape)\n"
        "model = pyrocco.ROCCO().fit(X)\n"
        "import pyrocco.plots, pyrocco.report, pyrocco.tl, pyrocco.cli\n"
        "print(model.n_row_clusters_, len(model.explain()) > 0)\n"
    )
    done = run_python("-OO", "-c", code)
    assert done.stdout.split() == ["2", "True"], done.stderr


def test_no_check_is_an_assert():
    sources = (HERE.parents[1] / "src" / "pyrocco").rglob("*.py")
    found = [path for path in sources if re.search(r"^ +assert ", path.read_text(), re.M)]
    assert found == []


# --- anything ---


@st.composite
def matrices(draw):
    """Draw a matrix of any type, scale, shape and pattern of missing values."""
    shape = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from(["f8", "f4", "f2", "i8", "u1", "?", "g"]))
    low = draw(st.sampled_from([-320, -300, -160, -44, 0, 38, 160, 300, 307]))
    high = draw(st.sampled_from([0, 5, 600]))
    with np.errstate(all="ignore"):
        powers = np.minimum(low + random.uniform(0, high, shape), 307.9)
        data = random.normal(size=shape) * 10.0**powers
        data = np.where(random.random(shape) < draw(st.sampled_from([0, 0.7])), 0, data)
        if draw(st.booleans()):
            data = np.clip(data, 0, 1)
        data = np.nan_to_num(data).astype(dtype)
    if draw(st.booleans()) and data.dtype.kind == "f":
        data[random.random(shape) < draw(st.sampled_from([0.1, 0.8]))] = np.nan
    if draw(st.booleans()) and data.dtype != np.float16:
        return sparse.csr_array(data)
    return data


@given(
    data=matrices(),
    model=st.sampled_from(
        [
            ROCCO(),
            ROCCO(variant="paper"),
            ROCCO(metric="manhattan", solver="conjugate-gradient"),
            ROCCO(metric="cosine", solver="multigrid"),
            ROCCO(solver="bartels-stewart", n_neighbors=2),
            ROCCO(solver="decoupled", n_clusters=2),
            RCC(),
            RCC(variant="paper"),
            COBRA(gamma=1.0),
            COBRA(gamma=1.0, standardize=False, max_iter=50),
            AutoKMeans(max_clusters=3),
            AutoSpectralBiclustering(max_clusters=3),
            AutoSpectralCoclustering(max_clusters=3),
        ]
    ),
)
@settings(max_examples=150, deadline=None)
def test_any_matrix_gives_labels_or_a_message(data, model):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Every value of", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(data)
        except ValueError as error:
            assert str(error)  # noqa: PT017
            return
    assert labels_of(model).shape == (data.shape[0],)
    assert labels_of(model).min() >= -1
    if isinstance(model, ROCCO):
        assert (model.predict(data) == model.row_labels_).all()
        assert len(model.place_columns(data)) == data.shape[1]
