"""Fits of a block model: sweeps, memberships, extension of a sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from pyrocco.assign.block_model import BlockData, extend_fit, sweep, variational_fit
from pyrocco.assign.labels import hard_memberships


def blocks(seed, shape=(40, 30), k=(3, 2), contrast=3.0):
    """Blocks of random means under unit noise, with their labels."""
    rng = np.random.default_rng(seed)
    labels = tuple(rng.permutation(np.arange(n) % c) for n, c in zip(shape, k, strict=True))
    means = contrast * rng.permutation(np.arange(k[0] * k[1])).reshape(k)
    return means[labels[0]][:, labels[1]] + rng.standard_normal(shape), labels


def disturbed(labels, rng, share=0.2):
    """Labels of which a share was drawn at random."""
    k = labels.max() + 1
    drawn = np.where(rng.random(len(labels)) < share, rng.integers(0, k, len(labels)), labels)
    return np.unique(np.r_[drawn, np.arange(k)], return_inverse=True)[1][: len(labels)]


def scatter(X, labels):
    fitted = np.zeros_like(X)
    for i in range(labels[0].max() + 1):
        for j in range(labels[1].max() + 1):
            block = np.ix_(labels[0] == i, labels[1] == j)
            fitted[block] = X[block].mean() if X[block].size else 0
    return np.sum((X - fitted) ** 2)


@pytest.mark.parametrize("axis", [0, 1])
def test_products_equal_numpy(axis):
    rng = np.random.default_rng(0)
    X, members = rng.normal(size=(7, 5)), rng.random(((5, 7)[1 - axis], 3))
    expected = X @ members if axis == 1 else X.T @ members
    np.testing.assert_allclose(BlockData(X).product(axis, members), expected)


def test_sums_of_data():
    X = np.random.default_rng(1).normal(size=(6, 4))
    data = BlockData(X)
    assert (data.total, data.squares) == pytest.approx((X.sum(), (X**2).sum()))
    rows, columns = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 1, 1, 1])
    sums = data.sums((hard_memberships(rows), hard_memberships(columns)))
    assert sums[1, 0] == pytest.approx(X[2:, 0].sum())


def test_the_transpose_moves_the_same_side_first():
    X = blocks(0)[0]
    assert BlockData(X).order == BlockData(np.ascontiguousarray(X.T)).order[::-1]


@pytest.mark.parametrize("seed", range(3))
def test_sweeps_repair_disturbed_labels(seed):
    X, labels = blocks(seed)
    rng = np.random.default_rng(seed)
    start = tuple(disturbed(side, rng) for side in labels)
    found = sweep(BlockData(X), start)
    for side, truth in zip(found, labels, strict=True):
        assert adjusted_rand_score(truth, side) == 1.0


@given(st.integers(0, 10_000))
def test_sweeps_never_add_scatter(seed):
    X, labels = blocks(seed, contrast=1.0)
    rng = np.random.default_rng(seed)
    start = tuple(disturbed(side, rng, 0.5) for side in labels)
    found = sweep(BlockData(X), start)
    if all(f.max() == s.max() for f, s in zip(found, start, strict=True)):
        assert scatter(X, found) <= scatter(X, start) * (1 + 1e-9)


def test_a_second_sweep_changes_nothing():
    X, labels = blocks(4)
    once = sweep(BlockData(X), labels)
    for again, side in zip(sweep(BlockData(X), once), once, strict=True):
        np.testing.assert_array_equal(again, side)


@given(st.integers(0, 10_000), st.sampled_from([0.5, 1.0, 3.0]))
@settings(max_examples=15)
def test_the_variational_fit_gains_evidence_in_every_round(seed, contrast):
    X, labels = blocks(seed, contrast=contrast)
    rng = np.random.default_rng(seed)
    members = tuple(hard_memberships(disturbed(side, rng)) for side in labels)
    bounds = [variational_fit(BlockData(X), members, rounds).evidence for rounds in range(1, 9)]
    assert np.diff(bounds).min() >= -0.05


def test_the_variational_fit_gives_probabilities_and_moments():
    X, labels = blocks(5, contrast=6.0)
    fit = variational_fit(BlockData(X), (hard_memberships(labels[0]), hard_memberships(labels[1])))
    for side, truth in zip(fit.memberships, labels, strict=True):
        np.testing.assert_allclose(side.sum(axis=1), 1)
        np.testing.assert_array_equal(side.argmax(axis=1), truth)
    assert fit.variance == pytest.approx(1, abs=0.15)
    fitted = fit.background + fit.means[labels[0]][:, labels[1]]
    for i, j in np.ndindex(3, 2):
        block = np.ix_(labels[0] == i, labels[1] == j)
        assert fitted[block].mean() == pytest.approx(X[block].mean(), abs=0.1)


def test_a_row_between_two_clusters_is_uncertain():
    X = np.kron([[0.0, 2.0], [2.0, 0.0]], np.ones((10, 10)))
    X += np.random.default_rng(0).standard_normal(X.shape)
    X[0] = 1.0
    half = np.repeat([0, 1], 10)
    start = hard_memberships(half)
    members = variational_fit(BlockData(X), (start, start)).memberships[0]
    assert members[0].max() < 0.95
    assert members[1:].max(axis=1).min() > 0.999


@pytest.mark.parametrize("factor", [1e-8, 1e8])
def test_evidence_of_memberships_does_not_depend_on_units(factor):
    X, labels = blocks(6)
    start = hard_memberships(labels[0]), hard_memberships(labels[1])
    one, other = (variational_fit(BlockData(unit * X), start) for unit in (1.0, factor))
    np.testing.assert_allclose(one.memberships[0], other.memberships[0], atol=1e-6)
    assert other.evidence == pytest.approx(one.evidence - X.size * np.log(factor))


def test_the_sample_labels_the_whole():
    X, labels = blocks(7, shape=(60, 50))
    index = np.arange(0, 60, 3), np.arange(0, 50, 2)
    start = tuple(hard_memberships(side[kept]) for side, kept in zip(labels, index, strict=True))
    fit = variational_fit(BlockData(X[np.ix_(*index)]), start)
    for members, truth in zip(extend_fit(BlockData(X), fit, index), labels, strict=True):
        np.testing.assert_array_equal(members.argmax(axis=1), truth)


def test_the_whole_is_its_own_sample():
    X, labels = blocks(8)
    fit = variational_fit(BlockData(X), (hard_memberships(labels[0]), hard_memberships(labels[1])))
    whole = extend_fit(BlockData(X), fit, (np.arange(40), np.arange(30)))
    np.testing.assert_array_equal(whole[0], fit.memberships[0])
    np.testing.assert_array_equal(whole[1], fit.memberships[1])
