"""The default assignment: both sides together, whole or from samples."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.assign import CoClusterer, ContinuousAssigner, EachSide, SilhouetteKMeans
from pyrocco.backends import NumpyBackend


def planted(shape, k=3, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    rows, columns = (rng.permutation(np.arange(n) % k) for n in shape)
    means = np.linspace(-9, 9, k * k).reshape(k, k)[rng.permutation(k)]
    return means[rows][:, columns] + noise * rng.standard_normal(shape), rows, columns


def test_blocks_of_a_large_matrix_are_found_in_a_sample():
    X, rows, columns = planted((700, 520))
    found = CoClusterer(sample_size=60).assign(X, X, (None, None))
    assert found.structure == "blocks"
    assert adjusted_rand_score(rows, found.row_labels) == 1.0
    assert adjusted_rand_score(columns, found.column_labels) == 1.0


def test_a_sample_of_the_sample_has_few_cells(monkeypatch):
    monkeypatch.setattr("pyrocco.assign.joint._BLOCK_CELLS", 900)
    X, rows, columns = planted((100, 80))
    found = CoClusterer().assign(X, X, (None, None))
    assert found.structure == "blocks"
    assert adjusted_rand_score(rows, found.row_labels) == 1.0
    assert adjusted_rand_score(columns, found.column_labels) == 1.0


@pytest.mark.parametrize("seed", [0, 1])
def test_another_sample_gives_the_same_clear_blocks(seed):
    X, rows, _ = planted((300, 200))
    found = CoClusterer(sample_size=100, random_state=np.random.RandomState(seed)).assign(
        X, X, (None, None)
    )
    assert adjusted_rand_score(rows, found.row_labels) == 1.0


def test_without_blocks_features_decide():
    X, rows, _ = planted((90, 60))
    found = CoClusterer(blocks=False).assign(X, X, (None, None))
    assert (found.structure, found.contaminated) == ("features", False)
    assert adjusted_rand_score(rows, found.row_labels) == 1.0


@pytest.mark.parametrize("numbers", [(2, 5), (None, 2), (7, None), (1, 1), (30, 20)])
@pytest.mark.parametrize("blocks", [True, False])
def test_given_numbers_of_clusters_are_used(numbers, blocks):
    X, _, _ = planted((60, 45))
    found = CoClusterer(blocks=blocks).assign(X, X, numbers)
    for labels, number in zip((found.row_labels, found.column_labels), numbers, strict=True):
        assert number in (None, labels.max() + 1)


def test_clusters_are_numbered_by_size():
    X = np.kron(np.diag([9.0, 6.0, -9.0]), np.ones((1, 10)))
    X = np.repeat(X, [5, 20, 10], axis=0) + np.random.default_rng(0).normal(size=(35, 30))
    found = CoClusterer().assign(X, X, (None, None))
    assert np.bincount(found.row_labels).tolist() == [20, 10, 5]


def test_outlier_cells_are_reported():
    X, _, _ = planted((80, 60))
    assert not CoClusterer().assign(X, X, (None, None)).contaminated
    outliers = np.random.default_rng(1).random(X.shape) < 0.03
    spoilt = np.where(outliers, 15 * np.sign(X), X)
    spoilt += outliers * 20 * np.random.default_rng(2).normal(size=X.shape)
    assert CoClusterer().assign(spoilt, X, (None, None)).contaminated


def test_each_side_by_itself():
    X, rows, columns = planted((40, 30), noise=0.2)
    found = EachSide(SilhouetteKMeans(0), NumpyBackend()).assign(X, X, (None, 3))
    assert adjusted_rand_score(rows, found.row_labels) == 1.0
    assert adjusted_rand_score(columns, found.column_labels) == 1.0
    assert found.rows.membership.mean() > 0.7


def test_the_silhouette_does_not_count_rounding_as_rows():
    U = np.repeat(np.eye(3), 10, axis=0)
    U += 1e-15 * np.random.default_rng(0).normal(size=U.shape)
    found = SilhouetteKMeans(0).assign(U, None)
    assert adjusted_rand_score(np.repeat(np.arange(3), 10), found) == 1.0
    assert SilhouetteKMeans(0).assign(U, 9).max() == 2


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_continuous_clustering_separates_two_distant_clusters(n_clusters):
    rows = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0)
    rows += np.linspace(0, 1, 80).reshape(40, 2)
    assert np.bincount(ContinuousAssigner().assign(rows, n_clusters)).tolist() == [20, 20]


@pytest.mark.parametrize("by_length", [True, False])
def test_rows_outside_the_sample_get_the_label_of_the_nearest_rows(by_length):
    X, rows, _ = planted((900, 60))
    found = CoClusterer(blocks=False, sample_size=120, by_length=by_length).assign(
        X, X, (None, None)
    )
    assert adjusted_rand_score(rows, found.row_labels) > 0.95


@pytest.mark.parametrize("kinds", [4, 1])
def test_counts_that_are_mostly_zero_are_judged_by_more_than_the_searched_part(kinds):
    rng = np.random.default_rng(0)
    truth = rng.integers(kinds, size=300)
    changes = np.exp((rng.random((kinds, 6000)) < 0.05) * rng.normal(0, 1.5, (kinds, 6000)))
    levels = np.outer(rng.lognormal(0, 0.3, 300), rng.lognormal(-4, 2, 6000))
    counts = rng.poisson(levels * changes[truth])
    model = ROCCO().fit(counts)
    assert model.cells_ == "counts"
    assert model.n_row_clusters_ == kinds
    assert adjusted_rand_score(truth, model.row_labels_) > 0.95
    assert model.structure_ == ("features" if kinds > 1 else "blocks")
