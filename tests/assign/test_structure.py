"""The structure of a matrix: blocks, one gradient, or rows with similar features."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_checkerboard
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.assign.structure import detect_structure

FACTORS = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.standard_normal(n),
    "linear": lambda rng, n: rng.permutation(np.linspace(0, 1, n)),
    "wave": lambda rng, n: np.sin(np.linspace(0, 6, n)),
}


def numbers(model):
    return model.n_row_clusters_, model.n_column_clusters_


def grid(k, shape, noise, seed=0):
    """`k` x `k` blocks of random means, and their labels."""
    rng = np.random.default_rng(seed)
    rows, columns = (rng.permutation(np.arange(n) % k) for n in shape)
    X = rng.uniform(-10, 10, (k, k))[rows][:, columns]
    return X + noise * rng.standard_normal(shape), rows, columns


@pytest.mark.parametrize("seed", range(10))
def test_noise_is_one_cluster(seed):
    model = ROCCO().fit(np.random.default_rng(seed).standard_normal((200, 100)))
    assert (model.structure_, *numbers(model)) == ("blocks", 1, 1)
    assert model.row_membership_.min() == pytest.approx(1)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("noise", [0.01, 0.3, 1.0])
def test_a_gradient_is_one_cluster(factor, noise):
    rng = np.random.default_rng(0)
    X = np.outer(FACTORS[factor](rng, 90), FACTORS[factor](rng, 70))
    X += noise * X.std() * rng.standard_normal(X.shape)
    # With little noise, the widths of the columns look like different units.
    model = ROCCO(prepare=None).fit(X)
    assert (model.structure_, *numbers(model)) == ("gradient", 1, 1)


def test_the_search_for_blocks_ends_at_outlier_cells_if_it_may():
    X, rows, columns = grid(3, (60, 50), 1.0)
    X[np.random.default_rng(1).random(X.shape) < 0.1] *= 20
    start, free = [(rows, columns)], (None, None)
    assert detect_structure(X, start, free).contaminated
    stopped = detect_structure(X, start, free, stops_at_outliers=True)
    assert (stopped.contaminated, stopped.fit) == (True, None)
    clean = grid(3, (60, 50), 1.0)[0]
    assert detect_structure(clean, start, free, stops_at_outliers=True).fit is not None


LEVELS = {
    "values": lambda rng, levels: levels + rng.standard_normal(levels.shape),
    "positive values": lambda rng, levels: np.exp(levels + rng.standard_normal(levels.shape)),
    "answers": lambda rng, levels: rng.binomial(1, 1 / (1 + np.exp(-levels))).astype(float),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(200, 100), (40, 400), (500, 30)])
@pytest.mark.parametrize("kind", LEVELS)
def test_levels_of_rows_and_columns_are_one_cluster(kind, shape, seed):
    rng = np.random.default_rng(seed)
    rows, columns = (rng.standard_normal(n) for n in shape)
    model = ROCCO().fit(LEVELS[kind](rng, rows[:, None] + columns))
    assert (model.structure_, *numbers(model)) == ("gradient", 1, 1)


def test_blocks_with_levels_of_rows_and_columns_are_clusters():
    X, rows, _ = grid(4, (120, 90), 2.0)
    rng = np.random.default_rng(1)
    X += 3 * rng.standard_normal(120)[:, None] + 3 * rng.standard_normal(90)
    model = ROCCO().fit(X)
    assert model.structure_ == "features"
    assert adjusted_rand_score(rows, model.row_labels_) > 0.9


def test_a_gradient_is_cut_where_a_number_is_given():
    rng = np.random.default_rng(0)
    X = np.outer(rng.random(90), rng.random(70)) + 0.1 * rng.standard_normal((90, 70))
    model = ROCCO(n_clusters=(3, None)).fit(X)
    assert numbers(model) == (3, 1)


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_two_blobs_are_no_gradient(noise):
    """Less their mean they have rank one, but their rows have two modes."""
    X, truth = make_blobs(
        120, 40, centers=2, cluster_std=noise, center_box=(-1, 1), random_state=0
    )
    model = ROCCO().fit(X)
    assert model.structure_ != "gradient"
    assert adjusted_rand_score(truth, model.row_labels_) >= 0.9


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("k", [1, 2, 4, 9, 15, 24, 30])
def test_blocks_are_detected(k, noise):
    X, rows, columns = grid(k, (6 * k + 30, 5 * k + 30), noise)
    model = ROCCO().fit(X)
    assert (model.structure_, *numbers(model)) == ("blocks", k, k)
    assert adjusted_rand_score(rows, model.row_labels_) == 1.0
    assert adjusted_rand_score(columns, model.column_labels_) == 1.0
    assert model.cell_weights_ is None


def test_different_numbers_of_rows_and_columns():
    X, _, _ = make_checkerboard((90, 60), (5, 2), noise=5, random_state=0)
    assert numbers(ROCCO().fit(X)) == (5, 2)


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
def test_exact_blocks_on_the_diagonal(k, to):
    """Mostly zero with three blocks or more, and every row has many copies."""
    X = to(np.kron(np.eye(k), np.ones((20, 15))))
    model = ROCCO().fit(X)
    assert adjusted_rand_score(np.arange(20 * k) // 20, model.row_labels_) == 1.0
    assert adjusted_rand_score(np.arange(15 * k) // 15, model.column_labels_) == 1.0


def test_blobs_with_wide_features_are_clustered_by_features():
    X, truth = make_blobs(150, 30, centers=4, cluster_std=0.5, random_state=1)
    model = ROCCO().fit(X)
    assert model.structure_ == "features"
    assert adjusted_rand_score(truth, model.row_labels_) == 1.0


@pytest.mark.parametrize(
    "n_clusters", [(2, 3), (6, None), (None, 7), (1, None), (1, 1), 8, (40, 30)]
)
@pytest.mark.parametrize("noise", [0.0, 2.0])
def test_given_numbers_of_clusters_are_used(n_clusters, noise):
    X, _, _ = grid(4, (60, 45), noise)
    pair = n_clusters if isinstance(n_clusters, tuple) else (n_clusters, n_clusters)
    # Without noise there are only four different rows and four different columns.
    most = 60 if noise else 4
    for found, number in zip(numbers(ROCCO(n_clusters).fit(X)), pair, strict=True):
        if number is not None:
            assert min(number, most) <= found <= number


def test_true_numbers_given_find_the_truth():
    X, rows, columns = grid(4, (60, 45), 2.0)
    model = ROCCO(n_clusters=4).fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) == 1.0
    assert adjusted_rand_score(columns, model.column_labels_) == 1.0


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (2, 2), (5, 3), (3, 5), (7, 6), (1, 1)])
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array])
def test_tiny_matrices_have_labels(shape, to):
    X = np.random.default_rng(0).random(shape)
    model = ROCCO().fit(to(X))
    assert model.row_labels_.shape == model.row_membership_.shape == shape[:1]
    assert model.column_labels_.shape == model.column_membership_.shape == shape[1:]
    assert set(model.row_labels_) == set(range(model.n_row_clusters_))


@pytest.mark.parametrize("fill", [0.0, 1.0, -1e-30, 1e30])
@pytest.mark.parametrize("shape", [(40, 30), (8, 1), (1, 8)])
def test_constant_matrices_are_one_cluster(fill, shape):
    model = ROCCO().fit(np.full(shape, fill))
    assert numbers(model) == (1, 1)
    assert (model.row_membership_ == 1).all()


def test_zero_rows_and_columns_do_not_change_other_labels():
    X, rows, columns = grid(3, (60, 45), 1.0)
    model = ROCCO().fit(np.pad(X, ((0, 4), (0, 3))))
    assert adjusted_rand_score(rows, model.row_labels_[:60]) == 1.0
    assert adjusted_rand_score(columns, model.column_labels_[:45]) == 1.0


@pytest.mark.parametrize("noise", [1.0, 5.0])
def test_repeated_rows_stay_together(noise):
    """Three copies of every row, which triple the evidence for its noise too."""
    X, _, columns = grid(3, (30, 45), noise)
    model = ROCCO().fit(np.repeat(X, 3, axis=0))
    assert (np.ptp(model.row_labels_.reshape(30, 3), axis=1) == 0).all()
    if noise == 1.0:
        assert adjusted_rand_score(columns, model.column_labels_) == 1.0


def test_a_single_column_of_two_values():
    X = np.repeat([[1.0], [9.0]], 12, axis=0)
    assert adjusted_rand_score(np.repeat([0, 1], 12), ROCCO().fit(X).row_labels_) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_a_few_unusual_answers_make_no_clusters(seed):
    """One cell in a hundred is flipped; the others are explained exactly."""
    rng = np.random.default_rng(seed)
    answers = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 1]])
    rows, columns = np.arange(90) % 3, np.arange(60) % 3
    X = answers[rows][:, columns] ^ (rng.random((90, 60)) < 0.01)
    model = ROCCO().fit(X)
    assert (model.cells_, *numbers(model)) == ("yes/no", 3, 3)
    assert adjusted_rand_score(rows, model.row_labels_) == 1.0
    assert model.cell_weights_ is None
