"""Fits within a memory limit: how they are planned, and that they find the same."""

import copy
import gc
import pickle
import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from pyrocco import ROCCO, load
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.fitting import memory_plan
from pyrocco.fitting.engines import Given, MemoryEngine, engine_for
from pyrocco.fitting.memory_plan import parse_bytes, plan_fit
from pyrocco.fitting.settings import Settings

X = make_noisy_biclusters((90, 50), 3, noise=10, random_state=0).X
# What is left for work where all else needs nothing: some blocks, some panels.
WORK = 600_000


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("4GB", 4 * 10**9), ("4 gb", 4 * 10**9), (" 1.5G ", 1_500_000_000), ("512MiB", 2**29),
        ("2TiB", 2**41), ("10kb", 10_000), ("1 KiB", 1024), ("123", 123), ("7B", 7),
        (10**6, 10**6), (np.int64(5), 5),
    ],
)  # fmt: skip
def test_sizes_are_understood(limit, expected):
    found = parse_bytes(limit)
    assert found == expected
    assert isinstance(found, int)


@pytest.mark.parametrize(
    "limit", ["", "GB", "4XB", "-4GB", "4 GB 2", "1e9", "four", "4,5GB", 0, -1, 1.5e9, True, None,
              ["4GB"], float("nan")],
)  # fmt: skip
def test_other_limits_are_refused(limit):
    with pytest.raises(
        ValueError, match=r"text such as '4GB' or '500MB', or a number of bytes; got"
    ):
        parse_bytes(limit)


@pytest.mark.parametrize("limit", ["lots", -1, 0.5])
def test_a_fit_refuses_other_limits(limit):
    with pytest.raises(ValueError, match="memory_limit must be a text such as '4GB'"):
        ROCCO(memory_limit=limit).fit(X)


DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


def test_less_memory_means_single_precision_then_files():
    shape = (200_000, 500)  # 0.8 GB
    ways = [plan_fit(shape, DOUBLE, 10, limit).way for limit in (10**10, 6 * 10**9, 2 * 10**9)]
    assert ways == ["memory", "single", "files"]
    # What is in single precision already has one step less.
    assert plan_fit(shape, SINGLE, 10, 5 * 10**9).way == "memory"
    assert plan_fit(shape, SINGLE, 10, 2 * 10**9).way == "files"
    assert plan_fit(shape, DOUBLE, 10, 2 * 10**9).work > memory_plan.LEAST_WORK
    # A matrix in a file takes no memory of its own.
    with pytest.raises(MemoryError):
        plan_fit(shape, DOUBLE, 10, 10**9)
    assert plan_fit(shape, DOUBLE, 10, 10**9, mapped=True).way == "files"


def test_errors_say_how_much_memory_is_needed():
    with pytest.raises(MemoryError) as caught:
        plan_fit((1_000_000, 500), DOUBLE, 10, 10**9)
    message = str(caught.value)
    for part in ("1,000,000 x 500", "needs 6.", "if X is memory-mapped", "memory_limit is 1.0 GB",
                 "fit about", "a Dask array"):  # fmt: skip
        assert part in message
    assert "\n" not in message
    assert message.count(". ") == 0  # one sentence
    with pytest.raises(MemoryError) as caught:
        plan_fit((1_000_000, 500), DOUBLE, 10, 10**9, mapped=True)
    assert "memory-mapped" not in str(caught.value)


def test_a_fit_that_does_not_fit_does_not_start():
    model = ROCCO(memory_limit="1MB")
    with pytest.raises(MemoryError, match=r"90 x 50 needs \d+ MB .* memory_limit is 1 MB"):
        model.fit(X)
    assert not hasattr(model, "row_labels_")


@given(
    shape=st.tuples(st.integers(2, 10**7), st.integers(2, 10**4)),
    dtype=st.sampled_from([SINGLE, DOUBLE]),
    limits=st.tuples(*[st.integers(1, 10**13)] * 2),
    mapped=st.booleans(),
)
def test_more_memory_never_makes_it_worse(shape, dtype, limits, mapped):
    order = ["nothing", "files", "single", "memory"]

    def rank(limit):
        try:
            return order.index(plan_fit(shape, dtype, 10, limit, mapped).way)
        except MemoryError:
            return 0

    less, more = sorted(limits)
    assert rank(less) <= rank(more)


@given(
    shape=st.tuples(st.integers(2, 10**7), st.integers(2, 10**4)),
    limit=st.integers(1, 10**12),
)
def test_the_memory_that_an_error_names_is_enough(shape, limit):
    """Allowed as much as the message says, to its digits, the fit is planned."""
    try:
        plan_fit(shape, DOUBLE, 10, limit)
    except MemoryError as error:
        needed, unit = str(error).split(" needs ")[1].split()[:2]
        digit = 0.1 if unit == "GB" else 1
        enough = int((float(needed) + digit) * {"GB": 10**9, "MB": 10**6}[unit])
        assert enough > limit
        assert plan_fit(shape, DOUBLE, 10, enough).way in ("files", "single", "memory")


@pytest.mark.parametrize("form", ["sparse", "mapped", "part of a mapped one"])
def test_matrices_that_take_no_memory_of_their_own(form, tmp_path, monkeypatch):
    monkeypatch.setattr(memory_plan, "BASE", 0)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    here = {"sparse": sparse.csr_array(X), "mapped": mapped, "part of a mapped one": mapped[:]}
    limit = int(sum(X.shape) * 10 * memory_plan.EDGE_BYTES + memory_plan.COPIES * X.nbytes) + 1
    settings = Settings.of(ROCCO(memory_limit=limit).get_params())
    assert engine_for(Given(here[form]), settings) == MemoryEngine(settings.backend)
    assert engine_for(Given(X), settings) != MemoryEngine(settings.backend)


@pytest.fixture
def tight(monkeypatch):
    """Nothing but the work and the matrix needs memory: `WORK` and a bit is a limit for files."""
    monkeypatch.setattr(memory_plan, "BASE", 0)
    monkeypatch.setattr(memory_plan, "EDGE_BYTES", 0)
    monkeypatch.setattr(memory_plan, "ROW_BYTES", 0)
    monkeypatch.setattr(memory_plan, "LEAST_WORK", 0)
    monkeypatch.setattr(memory_plan, "COPIES", 1e9)
    return WORK


@pytest.fixture(scope="module")
def whole():
    return ROCCO().fit(X)


def check_same(model, whole, atol=0.02):
    np.testing.assert_array_equal(model.row_labels_, whole.row_labels_)
    np.testing.assert_array_equal(model.column_labels_, whole.column_labels_)
    size = np.abs(whole.representation_).max()
    np.testing.assert_allclose(model.representation_, whole.representation_, atol=atol * size)
    np.testing.assert_allclose(model.block_means_, whole.block_means_, rtol=1e-4)
    np.testing.assert_allclose(model.row_membership_, whole.row_membership_, atol=0.02)


def is_mapped(array):
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fits_in_files_find_the_same(tight, transposed, dtype):
    data = np.ascontiguousarray((X.T if transposed else X).astype(dtype))
    model = ROCCO(memory_limit=tight).fit(data)
    assert is_mapped(model.representation_)
    assert model.representation_.shape == data.shape
    assert model.representation_.dtype == dtype
    check_same(model, ROCCO().fit(data))
    assert model.n_features_in_ == data.shape[1]
    assert len(model.row_membership_) == model.row_graph_.n_nodes == data.shape[0]
    assert len(model.column_membership_) == model.column_graph_.n_nodes == data.shape[1]


def test_little_memory_cuts_finely(tight, whole):
    """A panel has a few columns, a block a few rows."""
    least = X.nbytes + 3 * 8 * 50**2 + 8 * 90 * 8
    with pytest.raises(MemoryError):
        ROCCO(memory_limit=least - 1).fit(X)
    model = ROCCO(memory_limit=least + 30_000, n_jobs=1).fit(X)
    check_same(model, whole)


def test_what_follows_a_fit_in_files(tight, whole, tmp_path):
    model = ROCCO(memory_limit=tight).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)
    new = make_noisy_biclusters((120, 50), 3, noise=10, random_state=0).X[90:]
    np.testing.assert_array_equal(model.predict(new), whole.predict(new))
    np.testing.assert_array_equal(model.predict_columns(X), model.column_labels_)
    np.testing.assert_array_equal(model.at(2).row_labels_, whole.at(2).row_labels_)
    np.testing.assert_allclose(model.at(2, 2).block_means_, whole.at(2, 2).block_means_)
    assert model.explain(top=2)["kind"].tolist() == whole.explain(top=2)["kind"].tolist()
    check_same(model, whole)
    model.save(tmp_path / "model.pyrocco")
    again = load(tmp_path / "model.pyrocco")
    check_same(again, model)
    assert again.memory_limit == tight
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.at(2).row_labels_, model.at(2).row_labels_)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_models_of_fits_in_files_can_be_copied(tight, copied):
    model = ROCCO(memory_limit=tight).fit(X)
    assert not model.has_representation_
    check_same(model, ROCCO().fit(X))  # learns the representation
    again = copied(model)
    check_same(again, model)
    np.testing.assert_array_equal(again.predict(X[:9]), model.row_labels_[:9])


def test_no_files_are_left(tight, tmp_path, monkeypatch):
    """The representation is mapped, but its file has no name any more."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model = ROCCO(memory_limit=tight).fit(X)
    gc.collect()
    assert not list(tmp_path.iterdir())
    assert np.isfinite(model.representation_).all()


@pytest.mark.parametrize("wide", [False, True])
def test_the_matrix_may_be_changed_after_a_fit_in_files(tight, wide):
    """The copy that the model owns is in a file too."""
    data = np.array(X.T if wide else X, order="C")
    same, model = data.copy(), ROCCO(memory_limit=tight).fit(data)
    expected = ROCCO(memory_limit=tight).fit(same).at(2, 2).block_means_
    assert is_mapped(model._answers._source.result.data)
    data[:] = 0
    np.testing.assert_array_equal(model.at(2, 2).block_means_, expected)
    np.testing.assert_array_equal(model.predict(same), model.row_labels_)
    np.testing.assert_array_equal(model.predict_columns(same), model.column_labels_)


def test_fits_in_single_precision_find_the_same(monkeypatch, whole):
    monkeypatch.setattr(memory_plan, "BASE", 0)
    monkeypatch.setattr(memory_plan, "EDGE_BYTES", 0)
    model = ROCCO(memory_limit=int(X.nbytes * (1 + memory_plan.COPIES)) - 1).fit(X)
    assert model.representation_.dtype == np.float32
    check_same(model, whole)
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("transposed", [False, True])
def test_sparse_in_files(tight, kind, transposed):
    data = kind(X * (np.random.default_rng(0).random(X.shape) < 0.35))
    data = data.T.tocsr() if transposed else data
    model, here = ROCCO(memory_limit=tight).fit(data), ROCCO().fit(data)
    check_same(model, here)
    assert is_mapped(model.representation_)
    np.testing.assert_array_equal(model.predict(data), model.row_labels_)


def test_a_matrix_in_a_file(tight, whole, tmp_path):
    np.save(tmp_path / "X.npy", X)
    model = ROCCO(memory_limit=tight).fit(np.load(tmp_path / "X.npy", mmap_mode="r"))
    check_same(model, whole)
    np.testing.assert_array_equal(model.predict(X[:5]), model.row_labels_[:5])


def test_repeated_rows_and_columns_in_files(tight):
    data = np.vstack([X, X[:7], np.zeros((2, 50)), X[:3]])
    data[:, 7] = data[:, 30]
    model = ROCCO(memory_limit=tight, solver="decoupled").fit(data)
    check_same(model, ROCCO(solver="decoupled").fit(data))
    np.testing.assert_array_equal(model.row_labels_[90:97], model.row_labels_[:7])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"device": "cuda"},
            "memory_limit applies to main memory, not to a GPU: use it with device='cpu'",
        ),
        ({"variant": "paper"}, r"variant='paper' needs .*: use variant='refined' .* raise mem"),
        (
            {"solver": "spectral"},
            "solver='spectral' needs the whole .* use 'auto', 'decoupled' or",
        ),
    ],
)
def test_what_cannot_be_done_in_files_is_refused(tight, options, message):
    with pytest.raises(ValueError, match=message):
        ROCCO(memory_limit=tight, **options).fit(X)


def test_weights_are_refused_in_files(tight):
    with pytest.raises(ValueError, match="sample_weight is not supported"):
        ROCCO(memory_limit=tight).fit(X, sample_weight=np.ones(90))


@pytest.mark.parametrize("transposed", [False, True])
def test_missing_values_are_refused_in_files(tight, transposed):
    data = X.copy()
    data[4, 5] = np.nan
    with pytest.raises(ValueError, match=r"missing values \(NaN\).* impute them first"):
        ROCCO(memory_limit=tight).fit(data.T if transposed else data)


def test_infinite_cells_are_refused_in_files(tight):
    data = X.copy()
    data[4, 5] = np.inf
    with pytest.raises(ValueError, match=r"[Ii]nfini"):
        ROCCO(memory_limit=tight).fit(data)


def test_the_caller_keeps_data_and_parameters(tight):
    data = X.copy()
    model = clone(ROCCO(memory_limit=str(tight), n_jobs=1))
    assert model.get_params()["memory_limit"] == str(tight)
    model.fit(data)
    np.testing.assert_array_equal(data, X)
    assert model.memory_limit == str(tight)
