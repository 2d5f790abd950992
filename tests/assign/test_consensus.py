"""The consensus of several partitions, and of clusterings by several sets of features."""

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from pyrocco.assign.communities import consensus_labels
from pyrocco.assign.consensus import consensus, mean_agreement

TRUTH = np.repeat([0, 1, 2], 20)


def disturbed(labels, share, seed):
    """Labels of which a share is drawn anew."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(labels)) < share, rng.integers(0, 3, len(labels)), labels)


def test_errors_of_single_partitions_cancel():
    partitions = [disturbed(TRUTH, 0.2, seed) for seed in range(9)]
    assert max(adjusted_rand_score(TRUTH, labels) for labels in partitions) < 0.9
    assert adjusted_rand_score(TRUTH, consensus(partitions)) == 1


def test_equal_partitions_are_their_consensus():
    labels = consensus([TRUTH, (TRUTH + 1) % 3])
    assert adjusted_rand_score(TRUTH, labels) == 1
    assert np.unique(labels).tolist() == [0, 1, 2]


@pytest.mark.parametrize("n", [1, 2, 9])
def test_one_cluster_remains_one(n):
    assert consensus([np.zeros(n, dtype=int)] * 3).tolist() == [0] * n


def test_most_partitions_decide_between_one_cluster_and_several():
    one = np.zeros_like(TRUTH)
    assert consensus([one, one, one, TRUTH]).max() == 0
    assert consensus([one, TRUTH, TRUTH, TRUTH]).max() == 2


def test_a_few_rows_on_which_partitions_differ_are_no_cluster():
    other = TRUTH.copy()
    other[0] = 3
    assert consensus([TRUTH, TRUTH, TRUTH, other]).max() == 2


def test_the_cut_agrees_best_of_all_partitions_of_few_rows():
    partitions = [
        np.array(labels) for labels in ([0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 1, 2, 2])
    ]

    def agreement(labels):
        return np.mean([adjusted_rand_score(labels, other) for other in partitions])

    best = max(agreement(labels) for labels in product([0], *[range(3)] * 4))
    assert agreement(consensus(partitions)) == pytest.approx(best)


def clouds(sizes, seed, d=60, distance=1.2):
    """Scores of round clusters with the singular values in descending order."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    rows = distance * rng.standard_normal((len(sizes), d))[truth]
    rows += rng.standard_normal(rows.shape)
    U, s, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return U * s, truth


@pytest.mark.parametrize("by_length", [True, False])
@pytest.mark.parametrize("sizes", [(50, 50, 50, 50), (150, 40, 20), (30,) * 8])
def test_clouds_are_found_at_every_scale_of_the_data(sizes, by_length):
    scores, truth = clouds(sizes, 0)
    for unit in (1e-6, 1e6):
        found = consensus_labels(unit * scores, by_length)
        assert adjusted_rand_score(truth, found) > 0.98


@pytest.mark.parametrize("by_length", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_one_cloud_is_one_cluster(seed, by_length):
    assert consensus_labels(clouds((200,), seed)[0], by_length).max() == 0


def test_rows_with_fewer_features_than_the_clusterings_use():
    scores, truth = clouds((40, 40, 40), 0, d=4, distance=6)
    assert adjusted_rand_score(truth, consensus_labels(scores, True)) == 1
    assert consensus_labels(np.zeros((12, 3)), True).max() == 0


def test_a_second_preparation_may_find_what_the_first_one_misses():
    scores, truth = clouds((60, 60, 60), 0)
    # The first preparation hardly separates the second cluster from the third.
    blurred = scores.copy()
    blurred[truth > 0] = clouds((120,), 1)[0] + 3 * np.eye(1, 60)[0]
    alone = consensus_labels(blurred, False)
    both = consensus_labels(blurred, False, scores)
    assert adjusted_rand_score(truth, both) > adjusted_rand_score(truth, alone)


def test_a_second_preparation_without_relation_to_the_first_is_not_used():
    scores, truth = clouds((60, 60, 60), 0)
    unrelated = scores[np.random.default_rng(0).permutation(len(scores))]
    found = consensus_labels(scores, False, unrelated)
    assert np.array_equal(found, consensus_labels(scores, False))
    assert adjusted_rand_score(truth, found) > 0.98


def test_mean_agreement_leaves_out_pairs_of_a_partition_with_itself():
    one, other = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert mean_agreement([one], [one, other]) == pytest.approx(adjusted_rand_score(one, other))
    assert mean_agreement([one, other], [one.copy(), other.copy()]) == pytest.approx(
        (2 + 2 * adjusted_rand_score(one, other)) / 4
    )


def test_a_single_row_agrees_with_itself():
    assert mean_agreement([np.zeros(1, dtype=np.intp)], [np.zeros(1, dtype=np.intp)]) == 1.0
