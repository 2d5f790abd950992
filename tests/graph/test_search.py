"""Exact and approximate searches, and the edges that join components."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from pyrocco import mutual_knn_graph
from pyrocco.graph import approximate, build
from pyrocco.graph.approximate import ApproximateSearch
from pyrocco.graph.build import choose_search
from pyrocco.graph.exact import ExactSearch, Neighbors


def rows(n=3000, dtype=np.float32):
    return make_blobs(n, 12, centers=8, cluster_std=3, random_state=0)[0].astype(dtype)


def recall(found, truth):
    shared = [len(set(a) & set(b)) for a, b in zip(found.indices, truth.indices, strict=True)]
    return sum(shared) / truth.indices.size


@pytest.mark.parametrize("search", [ExactSearch(), ApproximateSearch()])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_search_gives_other_rows_nearest_first(search, metric, dtype):
    X = rows(400, dtype)
    found = search.search(X, 7, metric)
    assert isinstance(search.name, str)
    assert found.indices.shape == found.distances.shape == (400, 7)
    assert not np.any(found.indices == np.arange(400)[:, None])
    assert np.all(np.diff(found.distances, axis=1) >= 0)
    assert all(len(set(row)) == 7 for row in found.indices.tolist())


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_approximate_finds_most(metric):
    X = rows()
    truth = ExactSearch().search(X, 10, metric)
    found = ApproximateSearch(n_probes=16).search(X, 10, metric)
    assert recall(found, truth) > 0.97
    assert recall(ApproximateSearch(n_probes=2).search(X, 10, metric), truth) < 1


def test_many_rows_are_searched_in_more_regions(monkeypatch):
    X = rows()
    truth = ExactSearch().search(X, 10, "euclidean")
    monkeypatch.setattr(approximate, "_LEAST_PROBES", 1)
    few = recall(ApproximateSearch().search(X, 10, "euclidean"), truth)
    monkeypatch.setattr(approximate, "_PROBE_SHARE", 1.0)
    assert recall(ApproximateSearch().search(X, 10, "euclidean"), truth) > max(few, 0.97)


def test_approximate_lengths_are_exact():
    X = rows(dtype=np.float64)
    found = ApproximateSearch().search(X, 5, "euclidean")
    expected = np.linalg.norm(X[:, None] - X[found.indices], axis=2)
    np.testing.assert_allclose(found.distances, expected, rtol=1e-12)


def test_all_regions_probed_is_exact():
    X = rows(700)
    truth = ExactSearch().search(X, 10, "euclidean")
    found = ApproximateSearch(n_probes=1000).search(X, 10, "euclidean")
    assert np.array_equal(found.indices, truth.indices)
    assert np.array_equal(found.distances, truth.distances)


def test_approximate_repeats_itself_whatever_the_threads(monkeypatch):
    X = rows()
    monkeypatch.setattr(approximate, "_BATCH_ROWS", 500)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    one, three, again = (ApproximateSearch(8, t).search(X, 10, "euclidean") for t in (1, 3, 3))
    assert np.array_equal(one.indices, three.indices)
    assert np.array_equal(again.indices, three.indices)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_few_rows_in_the_regions_leave_places_empty():
    X = np.repeat(np.array([[0.0], [100.0]]), 2, axis=0)
    found = ApproximateSearch(n_probes=1).search(X, 3, "euclidean")
    assert found.indices.shape == (4, 3)
    assert np.array_equal(found.indices < 0, np.isinf(found.distances))
    assert mutual_knn_graph(X, 3, search=ApproximateSearch(n_probes=1)).n_components == 1


@pytest.mark.parametrize(
    ("X", "metric"), [(sparse.csr_array(np.eye(5)), "cosine"), (np.eye(5), "manhattan")]
)
def test_approximate_says_what_it_cannot_do(X, metric):
    with pytest.raises(ValueError, match="ExactSearch"):
        ApproximateSearch().search(X, 2, metric)


def test_exact_search_is_chosen_for_few_rows_sparse_rows_and_manhattan(monkeypatch):
    X = rows(60)
    assert choose_search(X, "euclidean").name == "exact"
    monkeypatch.setattr(build, "EXACT_ROWS", 50)
    assert choose_search(X, "euclidean").name == "approximate"
    assert choose_search(sparse.csr_array(X), "cosine").name == "exact"
    assert choose_search(X, "manhattan").name == "exact"


def test_graphs_record_their_search(monkeypatch):
    X = rows(300)
    assert mutual_knn_graph(X, 5).search == "exact"
    monkeypatch.setattr(build, "EXACT_ROWS", 50)
    assert mutual_knn_graph(X, 5).search == "approximate"
    assert mutual_knn_graph(X, 5, search=ExactSearch()).search == "exact"


def test_graph_takes_any_search():
    class InARow:
        name = "in a row"

        def search(self, X, n_neighbors, metric):
            nexts = (np.arange(len(X)) + 1) % len(X)
            return Neighbors(nexts[:, None], np.ones((len(X), 1)))

    graph = mutual_knn_graph(rows(6), 1, bridges="forest", search=InARow())
    assert graph.search == "in a row"
    assert graph.n_edges == 5


def test_sampled_bridges_still_connect(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(20 * c, 0.1, size=(30, 2)) for c in range(6)])
    exact = mutual_knn_graph(X, 5)
    monkeypatch.setattr(build, "JOIN_DISTANCES", len(X) * 20)
    sampled = mutual_knn_graph(X, 5)
    assert exact.n_components == sampled.n_components == 1
    assert sampled.n_edges == exact.n_edges


def test_bridges_are_the_minimum_spanning_tree():
    X = np.random.default_rng(3).normal(size=(150, 2))
    parents = np.arange(150)
    keys = build.joining_edges(build.exact_outside(X, "euclidean"), parents)
    heads, tails = np.divmod(keys, 150)
    full = np.linalg.norm(X[:, None] - X[None], axis=2)
    tree = sparse.csgraph.minimum_spanning_tree(full)
    assert np.linalg.norm(X[heads] - X[tails], axis=1).sum() == pytest.approx(tree.sum())
