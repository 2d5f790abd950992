"""Clusters by features: K by modularity, or given."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from pyrocco.assign.communities import (
    NeighborhoodGraph,
    community_labels,
    merge_adjacent_clusters,
)
from pyrocco.assign.kmeans import SampledRows
from pyrocco.backends.kernels.clusters import links_out, symmetric_links


def sampled(features, size=1000):
    return SampledRows.draw(features, size, np.random.RandomState(0))


def labels_of(features, k=None):
    """Labels of the rows, in the order of their first feature as in a fit."""
    order = sampled(features).index
    labels = np.empty(len(order), dtype=int)
    labels[order] = community_labels(features[order], k)
    return labels


def directions(k, n, width, seed=0):
    """Rows around `k` orthogonal directions, as wide in every direction of the space."""
    truth = np.arange(n) % k
    rng = np.random.default_rng(seed)
    rows = np.eye(k, 20)[truth] + width * rng.standard_normal((n, 20))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), truth


@pytest.mark.parametrize("k", [2, 3, 6, 10])
@pytest.mark.parametrize("width", [0.0, 0.001, 0.1])
def test_finds_the_number_of_directions(k, width):
    features, truth = directions(k, 30 * k, width)
    assert adjusted_rand_score(truth, labels_of(features)) == 1.0


def test_unbalanced_clusters_are_found():
    features, truth = directions(3, 300, 0.1)
    chosen = np.concatenate([np.flatnonzero(truth == k)[:n] for k, n in enumerate((100, 40, 25))])
    found = labels_of(features[chosen])
    assert adjusted_rand_score(truth[chosen], found) == 1.0


@pytest.mark.parametrize("k", [1, 2, 5, 12, 40])
def test_given_numbers_of_clusters_are_used(k):
    features = make_blobs(120, 4, centers=3, random_state=0)[0]
    found = labels_of(features, k)
    assert len(np.unique(found)) == k


def test_more_clusters_than_different_rows_cannot_be():
    features = np.repeat(np.eye(3), 5, axis=0)
    assert adjusted_rand_score(np.repeat(np.arange(3), 5), labels_of(features, 6)) == 1.0


def test_given_the_true_number_scatter_is_least():
    features, truth = make_blobs(200, 3, centers=6, cluster_std=0.6, random_state=3)
    assert adjusted_rand_score(truth, labels_of(features, 6)) >= 0.95


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_rows_are_one_cluster(n):
    assert labels_of(np.eye(2)[:n]).tolist() == [0] * n


def test_order_does_not_matter():
    features, _ = directions(5, 150, 0.3)
    order = np.random.default_rng(1).permutation(150)
    assert adjusted_rand_score(labels_of(features)[order], labels_of(features[order])) == 1.0


def wide_neighborhoods(features):
    """Links of a NeighborhoodGraph, pair by pair."""
    n = len(features)
    distances = np.square(features[:, None] - features).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    named = np.zeros((n, n))
    for i in range(n):
        named[i, distances[i].argsort()[: max(5, n // 10)]] = 1
    return np.maximum(named, named.T)


def modularity(links, labels, resolution):
    """Its definition, edge by edge."""
    degrees, total = links.sum(axis=1), links.sum()
    same = np.equal.outer(labels, labels)
    return np.sum((links - resolution * np.outer(degrees, degrees) / total) * same) / total


def literal_path(features, labels, resolution, rounds):
    """Try all merges, then run k-means, until one cluster is left."""
    links = wide_neighborhoods(features)
    while True:
        yield labels, modularity(links, labels, resolution)
        present = np.unique(labels)
        if len(present) == 1:
            return
        pairs = [(a, b) for a in present for b in present if a < b]
        merged = [np.where(labels == b, a, labels) for a, b in pairs]
        labels = max(merged, key=lambda trial: modularity(links, trial, resolution))
        for _ in range(rounds):
            kinds = np.unique(labels)
            centres = np.array([features[labels == kind].mean(axis=0) for kind in kinds])
            nearest = np.square(features[:, None] - centres).sum(axis=2).argmin(axis=1)
            labels = kinds[nearest]


@pytest.mark.parametrize("width", [0.2, 0.5])
def test_the_path_of_merges_is_the_literal_one(width):
    features, truth = directions(6, 60, width)
    start = 2 * truth + np.arange(60) // 6 % 2
    path = NeighborhoodGraph(features, 0.8).merge_path(start, 4)
    literal = list(literal_path(features, start, 0.8, 4))
    assert len(path) == len(literal)
    for step, (labels, expected) in zip(path, literal, strict=True):
        assert adjusted_rand_score(step.labels, labels) == 1.0
        assert step.modularity == pytest.approx(expected)


def test_links_are_those_of_the_sparse_sum():
    rng = np.random.default_rng(0)
    near = np.array([rng.choice(30, 4, replace=False) for _ in range(30)])
    directed = sparse.csr_array((np.ones(120), near.ravel(), np.arange(31) * 4), shape=(30, 30))
    expected = (directed + directed.T).tocsr()
    expected.sort_indices()
    indptr, indices = symmetric_links(near)
    assert np.array_equal(indptr, expected.indptr)
    assert np.array_equal(indices, expected.indices)
    part = np.arange(30) < 12
    leaving = expected.astype(bool)[:12][:, 12:].sum()
    assert links_out(indptr, indices, part) == (leaving, indptr[12])


def test_a_sample_is_in_the_order_of_the_first_feature():
    features = np.random.default_rng(0).normal(size=(50, 3))
    rows = sampled(features, 20)
    assert len(np.unique(rows.index)) == 20
    assert (np.diff(rows.sample[:, 0]) >= 0).all()


def test_a_sample_by_keys_does_not_see_rounding():
    rng = np.random.default_rng(0)
    features, keys = rng.normal(size=(500, 3)), rng.integers(0, 2**63, 500, dtype=np.uint64)

    def drawn(features, keys, seed=0):
        rows = SampledRows.draw(features, 50, np.random.RandomState(seed), keys)
        return set(rows.index.tolist())

    first = drawn(features, keys)
    assert len(first) == 50
    assert drawn(features + 1e-3 * rng.normal(size=(500, 3)), keys) == first
    order = rng.permutation(500)
    assert {int(order[i]) for i in drawn(features[order], keys[order])} == first
    assert drawn(features, keys, seed=1) != first


HALVES = np.repeat([0, 1], 60)


def _normal(n=120, d=12, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def _halves(rows):
    """Parts below and above the median of the first coordinate."""
    return (rows[:, 0] > np.median(rows[:, 0])).astype(int)


def test_parts_of_one_cluster_are_merged():
    rows = _normal()
    np.testing.assert_array_equal(merge_adjacent_clusters(rows, _halves(rows), 2, 0.4), [0, 0])


def test_separate_clusters_are_not_merged():
    rows = _normal()
    rows[60:] += 4
    np.testing.assert_array_equal(merge_adjacent_clusters(rows, HALVES, 2, 0.4), [0, 1])


def test_all_parts_of_a_cluster_are_merged_beside_another_one():
    rows = _normal(160)
    rows[120:] += 4
    labels = np.append(2 * _halves(rows[:120]) + (rows[:120, 1] > 0), np.full(40, 4))
    np.testing.assert_array_equal(merge_adjacent_clusters(rows, labels, 5, 0.4), [0, 0, 0, 0, 1])


def test_merges_do_not_depend_on_the_order_of_rows():
    rows = _normal(160)
    rows[120:] += 4
    labels = np.append(2 * _halves(rows[:120]) + (rows[:120, 1] > 0), np.full(40, 4))
    order = np.random.default_rng(1).permutation(160)
    found = merge_adjacent_clusters(rows[order], labels[order], 5, 0.4)
    np.testing.assert_array_equal(found, merge_adjacent_clusters(rows, labels, 5, 0.4))


@pytest.mark.parametrize("few", [0, 1, 3])
def test_a_cluster_of_few_rows_is_not_merged(few):
    rows = _normal(40)
    labels = (np.arange(40) < few).astype(int)
    np.testing.assert_array_equal(merge_adjacent_clusters(rows, labels, 2, 0.4), [0, 1])


def test_contact_is_one_for_mixed_parts_and_zero_for_separate_ones():
    rows, mixed = _normal(400), np.arange(400) % 2 == 0
    assert NeighborhoodGraph(rows).contact(mixed) == pytest.approx(1, abs=0.05)
    rows[mixed] += 100
    assert NeighborhoodGraph(rows).contact(mixed) == 0
