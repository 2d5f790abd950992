"""Labels of new rows and columns agree with the fit and with planted clusters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import pyrocco
from pyrocco import ROCCO
from pyrocco.assign.profiles import CountProfiles
from pyrocco.backends import TorchBackend
from pyrocco.fitting.repeated_rows import KnownRows
from tests.estimators.test_invariance import any_storage, dtypes


def other_storage(X):
    return X.toarray() if sparse.issparse(X) else sparse.csr_array(X)


@given(
    any_storage,
    dtypes,
    st.sampled_from([None, 3, (2, 4)]),
    st.sampled_from(["refined", "refined", "paper"]),
)
@settings(max_examples=10)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_predict_never_contradicts_fit(X, dtype, n_clusters, variant):
    X = X.astype(dtype)
    model = ROCCO(n_clusters, variant=variant, max_iter=20).fit(X)
    for again in (X, other_storage(X), X.astype(np.float32), X.astype(np.float64)):
        np.testing.assert_array_equal(model.predict(again), model.row_labels_)
        np.testing.assert_array_equal(model.predict_columns(again), model.column_labels_)
    order = np.random.default_rng(0).permutation(X.shape[0])[:10]
    np.testing.assert_array_equal(model.predict(X[order]), model.row_labels_[order])
    np.testing.assert_array_equal(model.place(X)["membership"], model.row_membership_)
    np.testing.assert_array_equal(model.place_columns(X)["membership"], model.column_membership_)
    np.testing.assert_array_equal(model.fit_predict(X), model.labels_)


@given(st.integers(0, 10_000), st.sampled_from([1e-150, 1e-9, 1.0, 1e150]))
def test_rows_of_the_fit_are_found_whatever_their_storage_unit_and_order(seed, unit):
    rng = np.random.default_rng(seed)
    X = unit * rng.integers(-2, 3, (30, 4)).astype(float) * rng.choice([1, np.pi], (30, 1))
    known = KnownRows.of(X)
    np.testing.assert_array_equal(known.find(X), np.arange(30))
    np.testing.assert_array_equal(known.find(sparse.csr_array(X)), np.arange(30))
    order = rng.permutation(30)
    np.testing.assert_array_equal(X[known.find(X[order])], X[order])
    assert len(set(known.find(X[order]))) == 30
    new = np.where(np.arange(4) == 2, X + unit / 2, X)
    assert (known.find(new) == -1).all()


def test_copies_of_a_row_take_the_labels_of_its_copies_in_order():
    X = np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan], [-0.0, 2.0]])
    assert KnownRows.of(X).find(X[[3, 0, 1, 2, 0]]).tolist() == [1, 0, 3, 2, 0]


def blocks(n_rows, n_columns=60, noise=30.0, seed=0):
    """Blocks of the same three clusters on both sides, whatever the number of rows."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % 3, np.arange(n_columns) % 3
    means = np.array([[80.0, 20.0, 10.0], [30.0, 10.0, 90.0], [10.0, 70.0, 30.0]])
    return means[labels[0]][:, labels[1]] + noise * rng.standard_normal((n_rows, n_columns))


def clouds(n_rows):
    return make_blobs(n_rows, 30, centers=3, cluster_std=5, shuffle=False, random_state=4)[0]


def agreement(model, found, n_fit):
    """Share of new rows in the cluster of the rows of the fit of the same planted cluster."""
    cluster = {k: model.row_labels_[k] for k in range(3)}
    return np.mean([cluster[i % 3] == label for i, label in enumerate(found, n_fit)])


@pytest.fixture(scope="module", name="model")
def fit_blocks():
    model = ROCCO().fit(blocks(1200)[:150])
    assert (model.structure_, model.n_row_clusters_) == ("blocks", 3)
    return model


NEW = blocks(1200)[150:]


def test_new_rows_of_blocks_find_their_cluster(model):
    result = model.place(NEW)
    assert agreement(model, result["label"], 150) == 1.0
    assert result["membership"].min() > 0.5
    np.testing.assert_array_equal(result["label"], model.predict(sparse.csr_array(NEW)))
    np.testing.assert_array_equal(result["label"], model.predict(NEW.astype(np.float32)))
    assert list(result.columns) == ["label", "membership", "distance", "far"]


def test_new_columns_of_blocks_find_their_cluster():
    X = blocks(90, 200)
    model = ROCCO().fit(X[:, :60])
    result = model.place_columns(X[:, 60:])
    expected = model.column_labels_[np.arange(60, 200) % 3]
    np.testing.assert_array_equal(result["label"], expected)
    np.testing.assert_array_equal(model.predict_columns(X[:, 60:]), expected)
    assert result["far"].mean() < 0.05
    assert model.place_columns(9 * X[:, 60:])["far"].all()


def counted_blocks(n_rows, n_columns=60):
    """Counts with levels of rows and columns: rows of one cluster differ in their totals."""
    rng = np.random.default_rng(3)
    labels = np.arange(n_rows) % 3, np.arange(n_columns) % 3
    rates = np.array([[4.0, 1.0, 1.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0]])[labels[0]][:, labels[1]]
    levels = np.outer(rng.gamma(4, 0.25, n_rows), rng.gamma(4, 0.25, n_columns))
    return rng.poisson(rates * levels).astype(float)


COUNTS = counted_blocks(900)


@pytest.fixture(scope="module", name="counted_model")
def fit_counts():
    model = ROCCO().fit(COUNTS[:150])
    assert (model.cells_, model.structure_) == ("counts", "blocks")
    assert isinstance(model._answers.row_predictor.profiles, CountProfiles)
    assert isinstance(model._answers.column_predictor.profiles, CountProfiles)
    return model


def test_new_rows_of_counts_find_their_cluster(counted_model, tmp_path):
    new = COUNTS[150:]
    result = counted_model.place(new)
    assert agreement(counted_model, result["label"], 150) > 0.98
    assert result["far"].mean() < 0.05
    np.testing.assert_array_equal(result["label"], counted_model.predict(sparse.csr_array(new)))
    counted_model.save(tmp_path / "model.pyrocco")
    again = pyrocco.load(tmp_path / "model.pyrocco")
    pd.testing.assert_frame_equal(again.place(new), result, check_exact=True)
    missing = np.random.default_rng(0).random(new.shape) < 0.3
    incomplete = counted_model.predict(np.where(missing, np.nan, new))
    assert agreement(counted_model, incomplete, 150) > 0.95
    # Ten times as many counts are the same composition, and more evidence for it.
    deeper = counted_model.place(10 * new)
    assert (deeper["label"] == result["label"]).mean() > 0.98
    assert deeper["membership"].mean() > result["membership"].mean()


def test_new_columns_of_counts_find_their_cluster():
    X = COUNTS[:150].T
    model = ROCCO().fit(X[:, :120])
    found = model.predict_columns(X[:, 120:])
    expected = model.column_labels_[np.arange(120, 150) % 3]
    assert np.mean(found == expected) > 0.95


def test_a_transposed_table_of_counts_has_the_labels_of_the_other_side(counted_model):
    transposed = ROCCO().fit(COUNTS[:150].T)
    np.testing.assert_array_equal(transposed.row_labels_, counted_model.column_labels_)
    np.testing.assert_array_equal(transposed.column_labels_, counted_model.row_labels_)
    new = COUNTS[150:200]
    np.testing.assert_array_equal(transposed.predict_columns(new.T), counted_model.predict(new))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("variant", ["refined", "paper"])
def test_new_rows_by_features_find_their_cluster(variant):
    X = make_blobs(np.full(3, 200), 30, cluster_std=3, shuffle=False, random_state=4)[0]
    X = X.reshape(3, 200, 30).swapaxes(0, 1).reshape(600, 30)
    model = ROCCO((3, 2), variant=variant, max_iter=20).fit(X[:100])
    assert model.structure_ == "features"
    assert agreement(model, model.predict(X[100:]), 100) > 0.99
    if variant == "refined":
        torch = ROCCO((3, 2), device=TorchBackend("cpu")).fit(X[:100])
        np.testing.assert_array_equal(torch.predict(X[100:]), model.predict(X[100:]))


def test_units_do_not_matter(model):
    scaled = ROCCO().fit(1e9 * blocks(1200)[:150])
    expected, found = model.place(NEW), scaled.place(1e9 * NEW)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-6)


def test_about_one_new_row_in_a_hundred_is_called_far(model):
    assert 0.001 < model.place(NEW)["far"].mean() < 0.03
    X = make_blobs(2200, 100, centers=4, cluster_std=6, random_state=1)[0]
    assert 0.001 < ROCCO().fit(X[:200]).place(X[200:])["far"].mean() < 0.03


def test_rows_unlike_those_of_the_fit_are_far(model):
    rng = np.random.default_rng(0)
    unlike = {
        "too large": 3 * NEW,
        "upside down": -NEW,
        "flat": 40 + 30 * rng.standard_normal((300, 60)),
        "wider noise": NEW + 40 * rng.standard_normal(NEW.shape),
        "a cluster of its own": blocks(300)[:, np.arange(60) % 3 * 20 + np.arange(60) // 3],
    }
    for kind, rows in unlike.items():
        assert model.place(rows)["far"].mean() > 0.9, kind


def test_rows_with_missing_values_find_their_cluster(model):
    rng = np.random.default_rng(0)
    incomplete = np.where(rng.random(NEW.shape) < 0.5, np.nan, NEW)
    result = model._answers.predict_rows(incomplete)
    assert agreement(model, result.labels, 150) > 0.99
    assert np.mean(result.distance > 1) < 0.05
    empty = model._answers.predict_rows(np.full((1, 60), np.nan))
    assert empty.distance[0] == np.inf
    by_features = ROCCO((3, 2)).fit(clouds(150))
    assert by_features.structure_ == "features"
    incomplete = np.where(rng.random((150, 30)) < 0.3, np.nan, clouds(150))
    labels = by_features._answers.predict_rows(incomplete).labels
    assert np.mean(labels == by_features.row_labels_) > 0.95


@pytest.mark.filterwarnings("ignore:Every value of")
def test_a_model_of_incomplete_data_takes_incomplete_rows():
    X = blocks(300)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    X[7], X[:, 9] = np.nan, np.nan
    model = ROCCO().fit(X[:100])
    np.testing.assert_array_equal(model.predict(X[:100]), model.row_labels_)
    np.testing.assert_array_equal(model.predict_columns(X[:100]), model.column_labels_)
    result = model.place(X[100:])
    assert agreement(model, result["label"], 100) > 0.99
    assert result["far"].mean() < 0.05
    assert model.place(np.full((1, 60), np.nan))["far"].all()
    assert np.isnan(model.transform(X[7:8])).all()


def test_missing_values_are_refused_where_fit_refuses_them():
    model = ROCCO(3, variant="paper").fit(blocks(30))
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.full((2, 60), np.nan))


def with_outliers(X, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(X.shape) < 0.04, X + 3000 * rng.choice([-1, 1], X.shape), X)


def test_outlier_cells_of_new_rows_count_little():
    model = ROCCO().fit(with_outliers(blocks(1200)[:150], 1))
    assert model.cell_weights_ is not None
    result = model.place(with_outliers(NEW, 2))
    assert agreement(model, result["label"], 150) > 0.97
    assert result["far"].mean() < 0.05
    assert model.place(20 * NEW)["far"].all()


def test_outlier_counts_of_new_documents_count_little():
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.ones((1, 20))) * 0.5 + 0.02
    counts = rng.poisson(np.tile(topics, (60, 1))).astype(float)
    contaminated = np.where((counts > 0) & (rng.random(counts.shape) < 0.03), 900.0, counts)
    model = ROCCO(3, prepare=None).fit(sparse.csr_array(contaminated[:120]))
    assert model.cell_weights_ is not None
    assert agreement(model, model.predict(sparse.csr_array(contaminated[120:])), 120) > 0.9


def test_transform_gives_means_over_column_clusters(model):
    expected = np.column_stack([NEW[:, model.column_labels_ == k].mean(axis=1) for k in range(3)])
    np.testing.assert_allclose(model.transform(NEW), expected)
    np.testing.assert_allclose(model.transform(sparse.csr_array(NEW)), expected)
    single = model.transform(NEW.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-3, atol=1e-2)


def test_transform_as_data_frame_and_in_a_pipeline():
    frame = pd.DataFrame(blocks(60), index=[f"cell{i}" for i in range(60)]).add_prefix("gene")
    model = ROCCO().set_output(transform="pandas").fit(frame)
    means = model.transform(frame)
    assert means.columns.tolist() == [f"column_cluster_{k}" for k in range(3)]
    assert means.index[3] == "cell3"
    assert model.place(frame).index[3] == "cell3"
    assert model.place_columns(frame).index[3] == "gene3"
    labels = make_pipeline(ROCCO(), KMeans(3, random_state=0, n_init=3)).fit_predict(frame)
    assert len(set(labels[::3])) == len(set(labels[1::3])) == 1


def test_a_loaded_model_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "model.pyrocco")
    again = pyrocco.load(tmp_path / "model.pyrocco")
    pd.testing.assert_frame_equal(again.place(NEW), model.place(NEW), check_exact=True)
    np.testing.assert_array_equal(again.transform(NEW), model.transform(NEW))


def test_bad_input_is_explained(model):
    with pytest.raises(ValueError, match="expecting 60 features"):
        model.predict(NEW[:, :50])
    with pytest.raises(ValueError, match=r"need the 150 rows .* got 20"):
        model.predict_columns(NEW[:20])
    for method in ("predict", "predict_columns", "place", "place_columns", "transform"):
        with pytest.raises(NotFittedError):
            getattr(ROCCO(), method)(NEW)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (2, 2), (6, 4)])
@pytest.mark.parametrize("fill", [0.0, 3.0])
def test_degenerate_matrices_have_one_cluster_for_all(shape, fill):
    model = ROCCO().fit(np.full(shape, fill))
    new = np.arange(3.0 * shape[1]).reshape(3, shape[1])
    assert model.place(new)["label"].tolist() == [0, 0, 0]
    assert model.place(np.full(shape, fill))["far"].sum() == 0
