"""Noise that is wider in some rows and columns than in others."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.assign.block_model import noise_evidence, noisy_part
from pyrocco.datasets import make_noisy_biclusters


def grid(seed, shape=(60, 50), k=3):
    rng = np.random.default_rng(seed)
    rows, columns = (rng.integers(k, size=n) for n in shape)
    return rng.normal(scale=2, size=(k, k))[rows][:, columns], (rows, columns), rng


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_even_and_uneven_noise_are_told_apart(seed, absent):
    means, labels, rng = grid(seed)
    X = means + rng.normal(size=means.shape)
    X[rng.random(X.shape) < absent] = np.nan
    found = noise_evidence(X, labels)
    assert found.even > found.uneven
    X = means + (X - means) * rng.lognormal(sigma=0.7, size=(60, 1))
    found = noise_evidence(X, labels)
    assert found.even < found.uneven


def test_the_transpose_has_the_same_evidence():
    means, labels, rng = grid(0)
    X = means + rng.normal(size=means.shape) * rng.lognormal(size=50)
    found = noise_evidence(X, labels)
    T = np.ascontiguousarray(X.T)
    flipped = noise_evidence(T, labels[::-1])
    np.testing.assert_allclose([flipped.even, flipped.uneven], [found.even, found.uneven])


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_rows_and_columns_with_hardly_any_noise_do_not_count(noise):
    means, labels, rng = grid(0)
    X = means + rng.normal(size=means.shape)
    larger = noise * rng.normal(size=(69, 54))
    larger[:60, :50] = X
    sides = (np.r_[side, np.full(n, 3)] for side, n in zip(labels, (9, 4), strict=True))
    part, found = noisy_part(larger, tuple(sides))
    np.testing.assert_array_equal(part, X)
    evidence, expected = noise_evidence(part, found), noise_evidence(X, labels)
    assert evidence.even == pytest.approx(expected.even)
    assert evidence.uneven == pytest.approx(expected.uneven)


@pytest.mark.parametrize("seed", [1003, 1004, 1007])
def test_constant_rows_do_not_hide_blocks(seed):
    data = make_noisy_biclusters((100, 100), 5, noise=50, random_state=seed)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(100)
    X, others = data.X.copy(), np.sort(rows[20:])
    X[rows[:10]], X[rows[10:20]] = rng.uniform(10, 100, (10, 1)), 0
    model = ROCCO().fit(X)  # moves some of their cells, as outliers
    assert model.structure_ == "blocks"
    assert adjusted_rand_score(data.row_labels[others], model.row_labels_[others]) > 0.7


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("side", [(200, 1), (1, 100)])
def test_uneven_noise_is_one_cluster(seed, side):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 100)) * rng.lognormal(sigma=0.6, size=side)
    model = ROCCO().fit(X)
    assert (model.n_row_clusters_, model.n_column_clusters_) == (1, 1)


@pytest.mark.parametrize("seed", range(3))
def test_blocks_of_counts_in_bursts_do_not_become_many(seed):
    rng = np.random.default_rng([seed, 2])
    rows, columns = rng.integers(4, size=400), rng.integers(4, size=300)
    rates = 5 * np.where(rows[:, None] == columns, 3.0, 1.0)
    rates *= np.outer(rng.gamma(2, 0.5, 400), rng.gamma(2, 0.5, 300))
    model = ROCCO().fit(rng.poisson(rates * rng.gamma(2, 0.5, rates.shape)))
    assert adjusted_rand_score(rows, model.row_labels_) > 0.95
    assert adjusted_rand_score(columns, model.column_labels_) > 0.9
