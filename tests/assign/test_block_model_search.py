"""The search for blocks: merges against brute force, numbers of clusters from 1 to 30."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from pyrocco.assign.block_model import BlockData, best_block_fit, fitted_labels
from pyrocco.assign.block_model.search import BlockSums, cheapest_merge, merged_labels
from tests.reference.literal_blocks import merge_costs


def random_blocks(seed, shape=(24, 18), k=(5, 4)):
    rng = np.random.default_rng(seed)
    rows, columns = (rng.permutation(np.arange(n) % c) for n, c in zip(shape, k, strict=True))
    means = rng.normal(0, 2, k)
    return means[rows][:, columns] + rng.standard_normal(shape), (rows, columns)


@given(st.integers(0, 10_000))
def test_the_cheapest_merge_is_cheapest(seed):
    X, labels = random_blocks(seed)
    data = BlockData(X)
    costs = merge_costs(X, labels)
    found = cheapest_merge(data, BlockSums.of(data, labels), (1, 1))
    assert found.cost == pytest.approx(min(costs.values()))
    assert costs[found.axis, found.first, found.second] == pytest.approx(found.cost)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_side_with_its_number_of_clusters_is_not_merged(axis):
    X, labels = random_blocks(1)
    data = BlockData(X)
    least = tuple(5 - side if side == axis else 1 for side in (0, 1))
    found = cheapest_merge(data, BlockSums.of(data, labels), least)
    costs = {merge: cost for merge, cost in merge_costs(X, labels).items() if merge[0] != axis}
    assert found[1:] == min(costs, key=costs.get)


def test_no_merge_where_both_sides_have_their_numbers():
    X, labels = random_blocks(2)
    data = BlockData(X)
    assert cheapest_merge(data, BlockSums.of(data, labels), (5, 4)) is None


def test_merged_sums_are_the_sums_of_merged_labels():
    X, labels = random_blocks(3)
    data = BlockData(X)
    blocks = BlockSums.of(data, labels)
    while (merge := cheapest_merge(data, blocks, (1, 1))) is not None:
        labels, blocks = merged_labels(labels, merge), blocks.merged(merge)
        expected = BlockSums.of(data, labels)
        np.testing.assert_allclose(blocks.sums, expected.sums, atol=1e-9)
        for found, counted in zip(blocks.counts, expected.counts, strict=True):
            np.testing.assert_array_equal(found, counted)
    assert blocks.sizes == (1, 1)


@pytest.mark.parametrize("k", [1, 2, 3, 7, 13, 21, 30])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_finds_the_number_of_blocks(k, noise):
    """Also with more clusters than the search evaluates one by one."""
    rng = np.random.default_rng(k)
    truth = np.arange(8 * k) % k, np.arange(7 * k + 20) % k
    X = rng.uniform(-10, 10, (k, k))[truth[0]][:, truth[1]]
    X += noise * rng.standard_normal(X.shape)
    # Every cluster in two or three parts of its own.
    start = tuple(
        np.unique(side + k * rng.integers(0, 2 + (k < 20), len(side)), return_inverse=True)[1]
        for side in truth
    )
    fit = best_block_fit(BlockData(X), start, (None, None))
    for labels, side in zip(fitted_labels(fit), truth, strict=True):
        assert adjusted_rand_score(side, labels) == 1.0


@pytest.mark.parametrize("numbers", [(3, 2), (2, None), (None, 1), (1, 1)])
def test_given_numbers_of_clusters_are_used(numbers):
    X, _ = random_blocks(4, k=(3, 3))
    start = np.arange(24) // 2, np.arange(18) // 2
    fit = best_block_fit(BlockData(X), start, numbers)
    for labels, number in zip(fitted_labels(fit), numbers, strict=True):
        assert number in (None, labels.max() + 1)


def test_numbers_above_the_start_have_no_fit():
    X, labels = random_blocks(4, k=(3, 3))
    assert best_block_fit(BlockData(X), labels, (4, None)) is None
