"""A few outlier cells do not change the clusters, and usual data have none."""

import os

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.datasets import load, make_noisy_biclusters
from pyrocco.fitting import isolated_cells
from pyrocco.fitting.isolated_cells import find_isolated_cells
from pyrocco.prepare import tfidf


def planted(seed=0, shape=(60, 40), n_clusters=3):
    return make_noisy_biclusters(shape, n_clusters, noise=10, random_state=seed).X


def spoilt(X, count, value, seed=0):
    """Return a copy with `count` cells of this value, and where they are."""
    cells = np.random.default_rng(seed).choice(X.size, count, replace=False)
    where = np.unravel_index(cells, X.shape)
    X = X.copy()
    X[where] = value
    return X, where


def assert_same_clusters(model, expected):
    assert adjusted_rand_score(model.row_labels_, expected.row_labels_) == 1.0
    assert adjusted_rand_score(model.column_labels_, expected.column_labels_) == 1.0


def assert_only(weights, where):
    """Only these cells have weight zero."""
    expected = np.ones(weights.shape)
    expected[where] = 0
    np.testing.assert_array_equal(weights, expected)


@pytest.fixture(scope="module")
def clean():
    return ROCCO().fit(planted())


@pytest.mark.parametrize("value", [300.0, 1e8, -1e150])
@pytest.mark.parametrize("count", [1, 50])
def test_a_few_cells_change_no_label(clean, count, value):
    X, where = spoilt(planted(), count, value)
    model = ROCCO().fit(X)
    assert_same_clusters(model, clean)
    assert_only(model.cell_weights_, where)


def test_cells_of_a_larger_matrix_change_no_label():
    X = planted(0, (200, 100), 4)
    model = ROCCO().fit(spoilt(X, 3, 1e3)[0])
    assert_same_clusters(model, ROCCO().fit(X))


def topics(seed=0):
    """Counts of words in texts of very different lengths, mostly zero."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.3, 1, (3, 4))[rng.integers(3, size=150)][:, rng.integers(4, size=120)]
    effects = np.outer(rng.lognormal(0, 0.8, 150), rng.lognormal(0, 0.5, 120))
    return rng.poisson(rates * effects).astype(float)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [1e3, 1e8])
@pytest.mark.parametrize("count", [1, 3])
def test_a_few_cells_of_mostly_zero_counts_change_no_label(form, value, count):
    X = topics()
    assert np.mean(X == 0) > 0.5
    spoiled, where = spoilt(X, count, value)
    model = ROCCO().fit(form(spoiled))
    assert_same_clusters(model, ROCCO().fit(X))
    weights = model.cell_weights_
    if sparse.issparse(weights):
        assert weights.nnz == np.count_nonzero(spoiled)
        assert np.count_nonzero(weights.data == 0) == count
        weights = np.where(spoiled != 0, weights.toarray(), 1.0)
    assert_only(weights, where)
    assert np.all(model.block_means_ < X.max())


def test_counts_are_compared_with_the_totals_of_their_row_and_column():
    X = np.random.default_rng(0).poisson(np.outer(np.logspace(0, 3, 60), np.ones(40)))
    X = X.astype(float)
    assert find_isolated_cells(X) is None
    X[3, 4] = 500  # usual in the last rows
    cells = find_isolated_cells(X)
    assert_only(cells.weights, (3, 4))
    assert cells.X[3, 4] < 10
    assert np.array_equal(cells.X, np.rint(cells.X))


def test_the_only_value_of_a_row_or_column_is_not_isolated():
    X = topics()
    X[3], X[:, 5] = 0, 0
    X[3, 4], X[7, 5] = 1e8, 1e8
    assert find_isolated_cells(X) is None


def test_tf_idf_has_no_isolated_cells():
    assert find_isolated_cells(sparse.csr_array(tfidf(topics()))) is None


def test_moved_cells_are_in_the_unit_of_their_column():
    units = np.logspace(-4, 5, 40)
    X = planted() * units + units**2
    spoiled, where = spoilt(X, 3, 1e14)
    cells = find_isolated_cells(spoiled)
    assert_only(cells.weights, where)
    off = np.abs(cells.X - X)[where] / X.std(axis=0)[where[1]]
    assert off.max() < 3


def test_several_cells_of_one_row(clean):
    X = planted()
    X[7, 3:11] = 1e5
    model = ROCCO().fit(X)
    assert_same_clusters(model, clean)
    assert_only(model.cell_weights_, (7, slice(3, 11)))


def test_cells_that_are_unusual_in_their_block_only():
    """Values that are usual elsewhere in the same row and in the same column."""
    X = np.kron([[0.0, 50.0], [50.0, 0.0]], np.ones((30, 20)))
    X += np.random.default_rng(0).standard_normal(X.shape)
    X[3, 5], X[40, 2] = 50.0, 0.0
    assert_only(find_isolated_cells(X).weights, ([3, 40], [5, 2]))


def test_the_scale_ignores_isolated_cells(clean):
    model = ROCCO().fit(spoilt(planted(), 1, 1e150)[0])
    np.testing.assert_allclose(model.block_means_, clean.block_means_, rtol=0.05, atol=1)


def test_isolated_cells_beside_many_outlier_cells():
    """Many outlier cells are found by the fit; one that is much larger does not hide them."""
    X = planted(0, (100, 80), 3)
    many, where = spoilt(X, 800, 400.0)
    many[0, 0] = 1e9
    model = ROCCO(n_clusters=3).fit(many)
    assert_same_clusters(model, ROCCO(n_clusters=3).fit(X))
    assert model.cell_weights_[0, 0] == 0
    assert np.mean(model.cell_weights_[where] < 0.5) > 0.9


def test_missing_values_stay_missing():
    X, where = spoilt(planted(), 3, 1e6)
    missing = np.random.default_rng(1).random(X.shape) < 0.1
    missing[where] = False
    weights = ROCCO().fit(np.where(missing, np.nan, X)).cell_weights_
    assert np.isnan(weights[missing]).all()
    assert_only(np.where(missing, 1, weights), where)


def test_known_and_new_rows_are_placed_right(clean):
    X, _ = spoilt(planted(), 2, 1e150)
    model = ROCCO().fit(X)
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)
    np.testing.assert_array_equal(model.predict(X[::-1]), model.row_labels_[::-1])
    new = planted()[:20] + np.random.default_rng(0).normal(0, 3, (20, 40))
    np.testing.assert_array_equal(model.predict(new), model.row_labels_[:20])
    for value in (1e3, -1e150):
        new[np.arange(20), np.arange(20)] = value
        np.testing.assert_array_equal(model.predict(new), model.row_labels_[:20])


@pytest.mark.parametrize(
    "change",
    [
        lambda X: 2.0**900 * X,
        lambda X: 2.0**-900 * X,
        lambda X: X + 1e6,
        lambda X: -X,
        lambda X: X.astype(np.float32),
    ],
    ids=["large", "small", "shifted", "negative", "single"],
)
def test_units_do_not_matter(change):
    X, where = spoilt(planted(), 5, 1e3)
    assert_only(find_isolated_cells(change(X)).weights, where)


def test_order_and_transposition_do_not_matter():
    X, _ = spoilt(planted(), 5, 1e3)
    rng = np.random.default_rng(0)
    rows, columns = (rng.permutation(size) for size in X.shape)
    expected = find_isolated_cells(X)
    mixed = find_isolated_cells(X[rows][:, columns])
    np.testing.assert_allclose(mixed.X, expected.X[rows][:, columns])
    np.testing.assert_allclose(find_isolated_cells(X.T).X, expected.X.T)


def unsuspicious(rng, shape):
    """Matrices of many kinds, none of which has outlier cells."""
    Z = rng.standard_normal(shape)
    rows, columns = rng.integers(0, 4, shape[0]), rng.integers(0, 4, shape[1])
    units = np.exp(1.5 * rng.standard_normal(shape[1]))
    small = Z.copy()
    small[:3, :3] += 100
    return {
        "normal": Z,
        "blocks": Z + rng.normal(0, 3, (4, 4))[rows][:, columns],
        "t": rng.standard_t(3, shape),
        "log-normal": np.exp(1.5 * Z),
        "units": Z * units,
        "counts": rng.poisson(rng.gamma(2, 3, shape)).astype(float),
        "yes/no": (rng.random(shape) < 0.99).astype(float),
        "ratings": rng.integers(1, 6, shape).astype(float),
        "a small block": small,
        "a whole row": np.r_[Z[1:], Z[:1] + 1e3],
        "half a column": Z + 1e3 * np.outer(np.arange(shape[0]) % 2, np.arange(shape[1]) == 2),
        "one-hot": np.c_[Z, np.eye(4)[rows]],
        "a diagonal": Z[: shape[1]] + 50 * np.eye(shape[1]),
        "missing": np.where(rng.random(shape) < 0.4, np.nan, Z),
        "equal": np.ones(shape),
        "low": Z[:9],
    }


@pytest.mark.parametrize("shape", [(60, 40), (200, 100)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_usual_data_have_no_isolated_cells(seed, shape):
    matrices = unsuspicious(np.random.default_rng(seed), shape)
    found = [name for name, X in matrices.items() if find_isolated_cells(X) is not None]
    assert found == []


@pytest.mark.skipif("PYROCCO_DATA" not in os.environ, reason="PYROCCO_DATA is not set")
@pytest.mark.parametrize("name", ["allaml", "carcinom", "glioma", "lung"])
def test_gene_expression_has_no_isolated_cells(name):
    assert find_isolated_cells(load(name, scaling="raw").X) is None


def test_a_mask_marks_missing_values():
    """Masked values are not used, whatever they are, by fit and predict."""
    X = planted()
    mask = np.random.default_rng(0).random(X.shape) < 0.05
    expected = ROCCO().fit(np.where(mask, np.nan, X))
    masked = np.ma.array(np.where(mask, 1e9, X), mask=mask)
    model = ROCCO().fit(masked)
    np.testing.assert_array_equal(model.row_labels_, expected.row_labels_)
    np.testing.assert_array_equal(model.column_labels_, expected.column_labels_)
    np.testing.assert_array_equal(model.predict(masked), model.row_labels_)
    new = X[:10] + 1.0
    hidden = np.ma.array(np.where(mask[:10], -1e9, new), mask=mask[:10])
    np.testing.assert_array_equal(
        model.predict(hidden), model.predict(np.where(mask[:10], np.nan, new))
    )


def test_a_mask_of_integers_marks_missing_values():
    X = np.round(planted()).astype(np.int64)
    mask = np.random.default_rng(0).random(X.shape) < 0.05
    expected = ROCCO().fit(np.where(mask, np.nan, X))
    masked = np.ma.array(np.where(mask, 10**9, X), mask=mask)
    model = ROCCO().fit(masked)
    np.testing.assert_array_equal(model.row_labels_, expected.row_labels_)
    np.testing.assert_array_equal(model.predict(masked), model.row_labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [1e3, -4e4])
def test_an_offset_changes_no_label(clean, offset, dtype):
    """Offsets of up to a thousand standard deviations."""
    assert_same_clusters(ROCCO().fit((planted() + offset).astype(dtype)), clean)


def test_the_median_of_seven_neighbors():
    values = np.random.default_rng(0).integers(5, size=(7, 40, 6)).astype(float)
    found = isolated_cells._median_of_seven(list(values.copy()))
    assert np.array_equal(found, np.median(values, axis=0))


def test_stored_zeros_of_a_sparse_matrix_are_no_outliers():
    X = sparse.csr_array(sparse.random(60, 50, 0.2, random_state=0))
    X.data[0], X.data[1] = 1e8, 0
    cells = find_isolated_cells(X)
    assert np.flatnonzero(cells.weights.data == 0).tolist() == [0]
    assert cells.X.data[1] == 0
    np.testing.assert_array_equal(find_isolated_cells(X.toarray()).X, cells.X.toarray())
