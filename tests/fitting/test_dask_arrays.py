"""Dask arrays without a cluster: blocks in files of this machine."""

import gc
import tempfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_biclusters

from pyrocco import ROCCO
from pyrocco.backends import ChunkedBackend, TorchBackend
from pyrocco.backends.chunked.rechunk import Rechunk
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.fitting import engines, memory_plan

da = pytest.importorskip("dask.array")

X = make_noisy_biclusters((90, 50), 3, noise=10, random_state=0).X


def chunked(data, rows=40, columns=-1):
    return da.from_array(data, chunks=(rows, columns))


def check_same(on_chunks, model):
    np.testing.assert_array_equal(on_chunks.row_labels_, model.row_labels_)
    np.testing.assert_array_equal(on_chunks.column_labels_, model.column_labels_)
    np.testing.assert_allclose(on_chunks.block_means_, model.block_means_, rtol=1e-4)
    np.testing.assert_allclose(on_chunks.row_membership_, model.row_membership_, atol=0.02)
    size = np.abs(model.representation_).max()
    U = on_chunks.representation_.compute()
    np.testing.assert_allclose(U, model.representation_, atol=0.02 * size)


@pytest.fixture(scope="module")
def fitted():
    return ROCCO().fit(X)


@pytest.fixture(scope="module")
def on_chunks():
    return ROCCO().fit(chunked(X))


SHAPES = {
    "tall": X,
    "wide": np.ascontiguousarray(X.T),
    "float32": X.astype(np.float32),
    "wide float32": np.ascontiguousarray(X.T.astype(np.float32)),
    "whole numbers": np.rint(X).astype(np.int32),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("rows", [20, -1])
def test_labels_are_those_of_the_ordinary_fit(name, rows):
    data = SHAPES[name]
    model = ROCCO().fit(data)
    on_chunks = ROCCO().fit(chunked(data, rows))
    check_same(on_chunks, model)
    assert on_chunks.representation_.dtype == (np.float32 if "32" in name else np.float64)
    assert on_chunks.n_features_in_ == data.shape[1]
    numbers = (on_chunks.n_row_clusters_, on_chunks.n_column_clusters_)
    assert numbers == (model.n_row_clusters_, model.n_column_clusters_)
    assert on_chunks.row_graph_.n_nodes == data.shape[0]
    assert on_chunks.column_graph_.n_nodes == len(on_chunks.column_labels_) == data.shape[1]
    np.testing.assert_array_equal(on_chunks.row_graph_.heads, model.row_graph_.heads)


@pytest.mark.parametrize("name", ["tall", "wide"])
def test_lengths_of_edges_that_only_the_history_needs_are_not_computed(name, monkeypatch):
    """Those of rows would take an exchange of all chunks."""
    data, axes, rechunks = SHAPES[name], [], []
    lengths, to_panels = ChunkedBackend.edge_lengths, Rechunk.to_panels

    def measured(self, U, heads, tails, axis):
        axes.append(axis)
        return lengths(self, U, heads, tails, axis)

    def counted(self, U):
        rechunks.append(U.shape)
        return to_panels(self, U)

    monkeypatch.setattr(ChunkedBackend, "edge_lengths", measured)
    monkeypatch.setattr(Rechunk, "to_panels", counted)
    history = ROCCO().fit(chunked(data, 20)).history_
    assert 0 not in axes
    assert len(rechunks) == 1
    expected = ROCCO().fit(data).history_
    assert history[0]["objective"] == pytest.approx(expected[0]["objective"], rel=1e-6)


def test_boolean_data():
    """So many rows and columns are the same that neighbours among them are anybody's guess."""
    data = X.mean() < X
    model, on_chunks = ROCCO().fit(data), ROCCO().fit(chunked(data))
    np.testing.assert_array_equal(on_chunks.row_labels_, model.row_labels_)
    np.testing.assert_array_equal(on_chunks.column_labels_, model.column_labels_)
    assert on_chunks.representation_.dtype == np.float64


@pytest.mark.parametrize("chunks", [(40, 20), (-1, 7), ((1, 39, 50), (49, 1))])
def test_chunks_of_columns_change_nothing(fitted, chunks):
    on_chunks = ROCCO().fit(da.from_array(X, chunks=chunks))
    check_same(on_chunks, fitted)


def test_rows_are_dask_arrays_chunked_like_the_data(on_chunks):
    rows = ((40, 40, 10),)
    for name in ("row_labels_", "labels_", "row_membership_"):
        assert isinstance(getattr(on_chunks, name), da.Array)
        assert getattr(on_chunks, name).chunks == rows
    assert on_chunks.representation_.chunks[0] == rows[0]
    for name in ("column_labels_", "column_membership_", "block_means_", "row_stability_"):
        assert isinstance(getattr(on_chunks, name), np.ndarray)


def test_rows_of_wide_data_are_dask_arrays_too():
    on_chunks = ROCCO().fit(chunked(np.ascontiguousarray(X.T), 20))
    assert on_chunks.row_labels_.chunks == ((20, 20, 10),)
    assert isinstance(on_chunks.representation_, da.Array)
    assert on_chunks.representation_.shape == (50, 90)
    assert isinstance(on_chunks.column_labels_, np.ndarray)


@pytest.mark.parametrize(
    ("n_clusters", "transposed"),
    [(2, False), ((4, None), True), ((None, 2), False), ((2, 4), True)],
)
def test_numbers_of_clusters(n_clusters, transposed):
    data = np.ascontiguousarray(X.T) if transposed else X
    model, on_chunks = ROCCO(n_clusters).fit(data), ROCCO(n_clusters).fit(chunked(data))
    check_same(on_chunks, model)
    pair = n_clusters if isinstance(n_clusters, tuple) else (n_clusters, n_clusters)
    found = on_chunks.n_row_clusters_, on_chunks.n_column_clusters_
    assert all(asked in (None, given) for asked, given in zip(pair, found, strict=True))


@pytest.mark.parametrize("n_clusters", [0, 91, (2, 51)])
def test_impossible_numbers_of_clusters_are_refused(n_clusters):
    with pytest.raises(ValueError, match="n_clusters"):
        ROCCO(n_clusters).fit(chunked(X))


def test_repeated_rows_have_the_labels_of_the_ordinary_fit():
    order = np.random.default_rng(0).permutation(125)
    data = np.vstack([X, X[:20], np.repeat(X[5:8], 5, axis=0)])[order]
    model, on_chunks = ROCCO().fit(data), ROCCO().fit(chunked(data))
    check_same(on_chunks, model)
    for name in ("heads", "tails"):
        ours, theirs = getattr(on_chunks.row_graph_, name), getattr(model.row_graph_, name)
        np.testing.assert_array_equal(ours, theirs)
    labels = on_chunks.row_labels_.compute()[np.argsort(order)]
    np.testing.assert_array_equal(labels[90:110], labels[:20])


def test_data_computed_on_the_way(fitted):
    """What the chunks are made of is computed when it is asked for."""
    on_chunks = ROCCO().fit(chunked(X / 4, 30) * 4)
    check_same(on_chunks, fitted)


REFUSED = {
    "one axis": (da.ones(10), "X must have rows and columns; this Dask array has 1 axes"),
    "three axes": (da.ones((4, 4, 4)), "this Dask array has 3 axes"),
    "text": (da.from_array(np.array([["a", "b"], ["c", "d"]])), "must hold numbers; .* type <U1"),
    "one column": (da.ones((10, 1)), r"at least 2 rows and 2 columns; its shape is \(10, 1\)"),
    "unknown sizes": (chunked(X)[chunked(X)[:, 0] > 0], r"call X.compute_chunk_sizes\(\) first"),
    "complex": (da.ones((5, 5), dtype=complex), "must hold numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_matrix_of_numbers_is_refused(name):
    data, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        ROCCO().fit(data)


@pytest.mark.parametrize(("cell", "kind"), [(np.nan, r"missing values \(NaN\)"),
                                            (np.inf, "infinite values"),
                                            (-np.inf, "infinite values")])  # fmt: skip
@pytest.mark.parametrize("transposed", [False, True])
def test_values_that_are_not_numbers_are_refused(cell, kind, transposed):
    data = X.copy()
    data[80, 3] = cell
    with pytest.raises(ValueError, match=f"X has {kind}, .* impute them first"):
        ROCCO().fit(chunked(data.T if transposed else data))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "paper"}, "use variant='refined' for a matrix in chunks"),
        ({"solver": "bartels-stewart"}, "for a matrix in chunks use 'auto', 'decoupled' or"),
        ({"device": TorchBackend("cpu")}, "device must be 'cpu' for a matrix in chunks"),
        ({"memory_limit": "much"}, "memory_limit must be a text such as '4GB'"),
        ({"metric": "hamming"}, "metric must be one of"),
        ({"n_neighbors": 0}, "n_neighbors"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ROCCO(**options).fit(chunked(X))


@pytest.mark.parametrize(
    "options", [{"metric": "bogus"}, {"n_neighbors": 0}, {"solver": "bogus"}, {"variant": "paper"}]
)
def test_parameters_are_checked_before_any_chunk_is_read(options):
    def read(chunk):
        raise AssertionError("a chunk was read")

    data = chunked(X).map_blocks(read, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=next(iter(options))):
        ROCCO(**options).fit(data)


def test_weights_are_refused():
    with pytest.raises(ValueError, match="sample_weight is not supported"):
        ROCCO().fit(chunked(X), sample_weight=np.ones(90))


ASKED = {
    "predict": lambda model: model.predict(X),
    "predict_columns": lambda model: model.predict_columns(X),
    "place": lambda model: model.place(X),
    "at": lambda model: model.at(2),
    "coarser": lambda model: model.coarser(),
    "explain": lambda model: model.explain(),
    "tree": lambda model: model.tree_,
    "statistics": lambda model: model.statistics_,
}


@pytest.mark.parametrize("what", ASKED)
def test_errors_name_what_the_model_does_not_store(on_chunks, what):
    with pytest.raises(NotImplementedError, match="fit a sample of the rows"):
        ASKED[what](on_chunks)


def test_saving_says_what_to_do(on_chunks, tmp_path):
    with pytest.raises(NotImplementedError, match="fit a sample of the rows"):
        on_chunks.save(tmp_path / "model.pyrocco")
    assert not list(tmp_path.iterdir())


def test_outlier_cells_are_reported():
    data, _, _ = make_biclusters((80, 60), 4, noise=20, random_state=0)
    rng = np.random.default_rng(1)
    data = np.where(rng.random(data.shape) < 0.05, rng.choice([-500.0, 500.0], data.shape), data)
    with pytest.warns(UserWarning, match="much larger than the others.* clip them"):
        ROCCO().fit(chunked(data))


def test_a_few_cells_that_dominate_sparse_data_are_reported():
    rng = np.random.default_rng(0)
    data = np.where(rng.random((90, 50)) < 0.1, rng.random((90, 50)), 0)
    ROCCO().fit(chunked(data))  # no warning
    data[3, 4] = 1e4
    with pytest.warns(UserWarning, match="much larger than the others"):
        ROCCO().fit(chunked(data))


@pytest.mark.parametrize("unit", [1e-180, 1e180])
def test_units_of_any_size(unit):
    model, on_chunks = ROCCO().fit(X), ROCCO().fit(chunked(X * unit))
    np.testing.assert_array_equal(on_chunks.row_labels_, model.row_labels_)
    np.testing.assert_array_equal(on_chunks.column_labels_, model.column_labels_)


def test_a_timeout_of_the_users_own_is_not_taken_for_a_lost_cluster():
    def slow(block):
        raise TimeoutError("the disk did not answer")

    with pytest.raises(TimeoutError, match="the disk did not answer"):
        ROCCO().fit(chunked(X).map_blocks(slow, dtype=float, meta=X[:0]))


def test_a_limit_is_that_of_the_work(fitted, monkeypatch):
    """Chunks that leave no room for the work are cut; what comes back is chunked as before."""
    for name in ("BASE", "LEAST_WORK", "ROW_BYTES", "EDGE_BYTES"):
        monkeypatch.setattr(memory_plan, name, 0)
    on_chunks = ROCCO(memory_limit="120kB", n_jobs=1).fit(chunked(X))
    check_same(on_chunks, fitted)
    assert on_chunks.row_labels_.chunks == ((40, 40, 10),)
    assert on_chunks.representation_.chunks[0] == (40, 40, 10)


def test_too_small_a_limit_is_refused():
    with pytest.raises(
        MemoryError, match=r"needs 364 MB .* memory_limit is 1 MB: raise the limit"
    ):
        ROCCO(memory_limit="1MB").fit(chunked(X))


@pytest.mark.parametrize("transposed", [False, True])
def test_two_long_sides_are_refused(monkeypatch, transposed):
    monkeypatch.setattr(engines, "LONGEST_SHORT_SIDE", 49)
    data = X.T if transposed else X
    shape = f"{len(data)} rows and {len(data[0])} columns"
    with pytest.raises(ValueError, match=f"X has {shape}.* choose the columns that vary most"):
        ROCCO().fit(chunked(data))


def test_clones_have_the_same_memory_limit():
    model = ROCCO(3, memory_limit="4GB")
    assert model.get_params()["memory_limit"] == "4GB"
    assert clone(model).memory_limit == "4GB"
    assert clone(model).set_params(memory_limit=None).memory_limit is None
    assert "memory_limit='4GB'" in repr(model)


@pytest.mark.parametrize("transposed", [False, True])
def test_files_are_removed_with_the_representation(tmp_path, monkeypatch, transposed):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model = ROCCO().fit(chunked(X.T if transposed else X))
    gc.collect()
    assert not list(tmp_path.iterdir())
    assert np.isfinite(model.representation_.compute()).all()


def test_the_data_is_not_changed(fitted):
    data = X.copy()
    model = ROCCO().fit(da.from_array(data, chunks=(40, -1), asarray=False))
    np.testing.assert_array_equal(data, X)
    U = model.representation_
    del model
    size = np.abs(fitted.representation_).max()
    np.testing.assert_allclose(U.compute(), fitted.representation_, atol=0.02 * size)


def test_the_representation_is_learned_when_it_is_read(fitted):
    model = ROCCO().fit(chunked(X))
    assert not model.has_representation_
    assert model.history_[-1]["objective"] > 0
    assert model.has_representation_
    check_same(model, fitted)
    # The array of the fit is no longer needed for anything that the model can answer.
    with pytest.raises(NotImplementedError, match="fit a sample of the rows in memory"):
        model.predict(X)
