"""Outlier cells get low weights, and the labels are right in spite of them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_biclusters
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.fitting.outliers import is_dominated, weigh_cells, weigh_nonzero_cells


def planted(seed, noise, shape=(100, 100), k=5):
    X, rows, columns = make_biclusters(shape, k, noise=noise, random_state=seed)
    return X, rows.argmax(axis=0), columns.argmax(axis=0)


def with_outliers(X, seed):
    """One cell in ten replaced by +-U(100, 200); which ones, too."""
    rng = np.random.default_rng(seed)
    outliers = rng.random(X.shape) < 0.1
    values = rng.uniform(100, 200, X.shape) * rng.choice([-1, 1], X.shape)
    return np.where(outliers, values, X), outliers


def mean_score(model, rows, columns):
    return 0.5 * (
        adjusted_rand_score(rows, model.row_labels_)
        + adjusted_rand_score(columns, model.column_labels_)
    )


def test_gross_outliers_leave_most_labels_right():
    scores = []
    for seed in range(6):
        X, rows, columns = planted(seed, 50)
        spoilt, outliers = with_outliers(X, seed)
        model = ROCCO(n_clusters=5).fit(spoilt)
        scores.append(mean_score(model, rows, columns))
        assert np.mean(model.cell_weights_[outliers] < 0.5) > 0.5
        assert np.mean(model.cell_weights_[~outliers] > 0.5) > 0.98
    assert np.mean(scores) >= 0.75


def test_heavy_tails_leave_most_labels_right():
    scores = []
    for seed in range(5):
        X, rows, columns = planted(seed, 0)
        X = X + 40 * np.random.default_rng(seed).standard_t(2, X.shape)
        model = ROCCO(n_clusters=5).fit(X)
        scores.append(mean_score(model, rows, columns))
        assert model.cell_weights_ is not None
    assert np.mean(scores) >= 0.80


@pytest.mark.parametrize("noise", [0, 5, 30])
@pytest.mark.parametrize("seed", [0, 1])
def test_clean_blocks_have_no_outlier_cells(noise, seed):
    assert ROCCO().fit(planted(seed, noise, (60, 50), 3)[0]).cell_weights_ is None


def test_weights_do_not_depend_on_units():
    X, _ = with_outliers(planted(0, 20, (60, 50), 3)[0], 0)
    one, other = (ROCCO().fit(unit * X) for unit in (1.0, 1e5))
    np.testing.assert_allclose(one.cell_weights_, other.cell_weights_, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_have_the_shape_and_type_of_dense_data(dtype):
    X = with_outliers(planted(0, 20, (50, 40), 3)[0], 0)[0].astype(dtype)
    weights = ROCCO().fit(X).cell_weights_
    assert (weights.shape, weights.dtype) == (X.shape, dtype)
    assert 0 <= weights.min() < 0.1
    assert 0.9 < weights.max() <= 1


@pytest.mark.parametrize("noise", [5, 20])
def test_strong_blocks_are_not_taken_for_outlier_cells(noise):
    """A third of all cells stands out, in blocks; one in thirty is wrong."""
    X, rows, columns = planted(0, noise, (60, 50), 3)
    outliers = np.random.default_rng(0).random(X.shape) < 0.03
    model = ROCCO(n_clusters=3).fit(np.where(outliers, 1e3, X))
    inside = (rows[:, None] == columns) & ~outliers
    assert mean_score(model, rows, columns) == 1.0
    assert np.mean(model.cell_weights_[inside] > 0.5) > 0.9
    assert model.cell_weights_[outliers].max() < 0.1
    means = model.block_means_[model.row_labels_][:, model.column_labels_]
    assert means[inside].mean() == pytest.approx(X[inside].mean(), rel=0.05)


def text_like(seed):
    """Mostly empty blocks, as CSR, with the labels of their rows."""
    rng = np.random.default_rng(seed)
    rows, columns = np.arange(90) % 3, np.arange(120) % 3
    filled = rng.random((90, 120)) < np.where(rows[:, None] == columns, 0.4, 0.02)
    return sparse.csr_array(filled * rng.uniform(0.5, 1.5, filled.shape)), rows


@pytest.mark.parametrize("value", [1e3, 1e6, -1e6])
def test_one_gigantic_stored_cell_changes_no_other_label(value):
    X, _ = text_like(0)
    expected = ROCCO().fit(X)
    outliers = X.copy()
    outliers.data[7] = value
    model = ROCCO().fit(outliers)
    row, column = (X.tocoo().row[7], X.tocoo().col[7])
    others = np.delete(np.arange(90), row)
    assert adjusted_rand_score(expected.row_labels_[others], model.row_labels_[others]) == 1.0
    others = np.delete(np.arange(120), column)
    assert (
        adjusted_rand_score(expected.column_labels_[others], model.column_labels_[others]) == 1.0
    )
    assert model.cell_weights_[row, column] < 1e-3


def test_weights_of_sparse_data_are_stored_where_cells_are():
    X, rows = text_like(1)
    assert ROCCO().fit(X).cell_weights_ is None
    outliers = X.copy()
    outliers.data[7] = 1e5
    model = ROCCO().fit(outliers)
    weights = model.cell_weights_
    assert sparse.issparse(weights)
    assert weights.format == "csr"
    np.testing.assert_array_equal(weights.indptr, outliers.indptr)
    np.testing.assert_array_equal(weights.indices, outliers.indices)
    assert ((weights.data >= 0) & (weights.data <= 1)).all()
    assert np.median(weights.data) > 0.9
    assert adjusted_rand_score(rows, model.row_labels_) == 1.0


def test_dense_and_sparse_storage_give_the_same_weights():
    X, _ = text_like(2)
    X.data[3] = 1e4
    stored, dense = weigh_nonzero_cells(X), weigh_nonzero_cells(X.toarray())
    np.testing.assert_allclose(stored.X.toarray(), dense.X)
    filled = X.toarray() != 0
    np.testing.assert_allclose(stored.weights.toarray()[filled], dense.weights[filled])
    assert (dense.weights[~filled] == 1).all()
    assert is_dominated(X)
    assert is_dominated(X.toarray())


def test_stored_zeros_are_empty():
    X = sparse.csr_array(np.eye(4))
    X.data[0] = 0.0
    assert weigh_nonzero_cells(X).weights.nnz == 3


def test_nothing_is_dominated_in_an_empty_matrix():
    assert not is_dominated(sparse.csr_array((3, 4)))
    assert not is_dominated(np.zeros((3, 4)))


def test_weights_are_a_fixed_point_of_geman_and_mcclure():
    """Weights are (w / (w + r^2))^2 of the residuals from the last representation."""
    X = np.random.default_rng(0).standard_normal((40, 30))
    X[2, 3] = 60.0
    fits = []

    def smooth(Z):
        fits.append(np.full_like(Z, Z.mean()))
        return fits[-1]

    cells = weigh_cells(X, smooth)
    residual = X - fits[-1]
    width = (4 * 1.4826 * np.median(np.abs(residual))) ** 2
    np.testing.assert_allclose(cells.weights, (width / (width + residual**2)) ** 2)
    np.testing.assert_allclose(cells.X, fits[-1] + cells.weights * residual)


def test_weights_of_the_transpose_are_the_transpose():
    X = np.random.default_rng(1).standard_t(2, (30, 20))
    one = weigh_cells(X, lambda Z: 0.5 * Z)
    other = weigh_cells(np.ascontiguousarray(X.T), lambda Z: 0.5 * Z)
    np.testing.assert_allclose(one.weights, other.weights.T)


def test_exact_data_with_one_wrong_cell():
    """Without any noise, only the wrong cell has weight zero."""
    X = np.kron([[1.0, 4.0], [6.0, 2.0]], np.ones((8, 8)))
    X[0, 0] = 50.0
    cells = weigh_cells(X, lambda Z: np.kron([[1.0, 4.0], [6.0, 2.0]], np.ones((8, 8))))
    assert cells.weights[0, 0] == 0
    assert cells.weights.sum() == X.size - 1
