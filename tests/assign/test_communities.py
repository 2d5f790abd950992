"""Clusters by features: K by modularity, or given."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from pyrocco.assign.communities import community_labels
from pyrocco.assign.modularity import NeighborhoodGraph
from pyrocco.assign.sampled import SampledRows
from pyrocco.backends import NumpyBackend


def sampled(features, size=1000):
    return SampledRows.draw(features, size, np.random.RandomState(0))


def labels_of(features, k=None, size=1000):
    return community_labels(sampled(features, size), k, NumpyBackend())


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


def test_the_sample_labels_all_rows():
    features, truth = directions(4, 3000, 0.1)
    assert adjusted_rand_score(truth, labels_of(features, size=200)) == 1.0


def test_unbalanced_clusters_are_kept():
    features, truth = directions(3, 300, 0.1)
    kept = np.concatenate([np.flatnonzero(truth == k)[:n] for k, n in enumerate((100, 40, 25))])
    found = labels_of(features[kept])
    assert adjusted_rand_score(truth[kept], found) == 1.0


@pytest.mark.parametrize("k", [1, 2, 5, 12, 40])
def test_given_numbers_are_kept(k):
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


def test_modularity_is_newmans():
    """Against its definition, edge by edge."""
    features, truth = directions(3, 24, 0.4)
    graph = NeighborhoodGraph(features)
    n = len(features)
    distances = np.square(features[:, None] - features).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    named = np.zeros((n, n))
    for i in range(n):
        named[i, distances[i].argsort()[:5]] = 1
    either = np.maximum(named, named.T)
    degrees, total = either.sum(axis=1), either.sum()
    same = np.equal.outer(truth, truth)
    expected = np.sum((either - np.outer(degrees, degrees) / total) * same) / total
    assert graph.modularity(graph.links(truth)) == pytest.approx(expected)


def test_the_best_merge_leaves_the_most_modularity():
    features, truth = directions(6, 60, 0.5)
    graph = NeighborhoodGraph(features, 0.8)
    links = graph.links(truth)

    def after(pair):
        merged = np.where(truth == pair[1], pair[0], truth)
        return graph.modularity(graph.links(np.unique(merged, return_inverse=True)[1]))

    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    assert after(graph.best_merge(links)) == pytest.approx(max(map(after, pairs)))


def test_a_sample_is_in_the_order_of_the_first_feature():
    features = np.random.default_rng(0).normal(size=(50, 3))
    rows = sampled(features, 20)
    assert len(np.unique(rows.index)) == 20
    assert (np.diff(rows.sample[:, 0]) >= 0).all()
