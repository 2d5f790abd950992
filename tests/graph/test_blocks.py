"""Neighbours in a matrix in blocks of rows are those in the whole matrix."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs

from pyrocco import mutual_knn_graph
from pyrocco.backends import BlockBackend, RowBlocks, ScratchStore
from pyrocco.backends.exchange import exchange
from pyrocco.graph import overlapping
from pyrocco.graph.blocks import BlockSearch
from pyrocco.graph.neighbors import ExactSearch
from pyrocco.graph.overlapping import OverlappingShards

METRICS = ("euclidean", "manhattan", "cosine")
FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "CSR": sparse.csr_array,
    "CSR matrix": sparse.csr_matrix,
}


def scattered(seed=0, shape=(40, 26)):
    """Normal cells, a third of them zero."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * (rng.random(shape) < 0.67)


def repeated():
    """The same rows and columns many times, and some of zeros."""
    X = scattered()
    X[[3, 17, 30]] = X[8]
    X[:, [1, 20]] = X[:, [5]]
    X[[4, 5, 39]] = 0
    X[:, [0, 25]] = 0
    return X


def grid():
    """Whole numbers: many distances are the same."""
    return np.random.default_rng(0).integers(0, 3, size=(40, 26)).astype(float)


DATA = {"scattered": scattered(), "repeated": repeated(), "ties": grid()}


def in_blocks(X, ends):
    backend = BlockBackend(ScratchStore())
    return BlockSearch(backend), RowBlocks.cut(X, ends, backend.store)


def whole(X, side):
    """The rows, or the columns, as rows."""
    M = X if side == "rows" else X.T
    return sparse.csr_array(M) if sparse.issparse(M) else np.ascontiguousarray(M)


def check_same(found, expected):
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("data", DATA)
def test_neighbours_are_those_of_the_whole(data, form, metric, side):
    X = FORMS[form](DATA[data])
    search, blocks = in_blocks(X, [0, 1, 13, 30, 40])
    found = search.search(blocks if side == "rows" else blocks.T, 6, metric)
    rows = whole(X, side)
    expected = ExactSearch().search(rows, 6, metric)
    # Rows of zeros are equally far from all others by cosine: any of these will do.
    alike = np.ones(len(found.indices), dtype=bool)
    if metric == "cosine":
        alike = np.asarray(abs(rows).sum(axis=1)).ravel() > 0
    np.testing.assert_array_equal(found.indices[alike], expected.indices[alike])
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-5, atol=1e-6)
    assert search.name == "exact"


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("form", ["float64", "CSR"])
@pytest.mark.parametrize("data", DATA)
def test_graphs_are_those_of_the_whole(data, form, metric, side):
    X = FORMS[form](DATA[data])
    search, blocks = in_blocks(X, [0, 1, 13, 30, 40])
    for bridges in (True, False, "forest"):
        found = mutual_knn_graph(
            blocks if side == "rows" else blocks.T, 2, metric, bridges, search
        )
        expected = mutual_knn_graph(whole(X, side), 2, metric, bridges, ExactSearch())
        for name in ("heads", "tails", "weights"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert (found.n_nodes, found.search) == (expected.n_nodes, "exact")


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_bridges_join_what_is_far_apart(metric, side):
    """Groups of near rows, no two of them near: only bridges make one piece."""
    points = np.repeat(50 * np.eye(5), 8, axis=0) + 0.1 * scattered(1, (40, 5))
    X = points if side == "rows" else np.ascontiguousarray(points.T)
    search, blocks = in_blocks(X, [0, 2, len(X)])
    found = mutual_knn_graph(blocks if side == "rows" else blocks.T, 3, metric, True, search)
    expected = mutual_knn_graph(points, 3, metric, True, ExactSearch())
    np.testing.assert_array_equal(found.heads, expected.heads)
    np.testing.assert_array_equal(found.tails, expected.tails)
    assert found.n_components == 1
    assert mutual_knn_graph(points, 3, metric, False).n_components >= 5


@given(
    cuts=st.sets(st.integers(1, 39), max_size=8), seed=st.integers(0, 99),
    n_neighbors=st.integers(1, 39), metric=st.sampled_from(METRICS),
)  # fmt: skip
def test_any_cut_gives_the_same_neighbours(cuts, seed, n_neighbors, metric):
    X = np.random.default_rng(seed).integers(-2, 3, size=(40, 4)).astype(float)
    search, blocks = in_blocks(X, [0, *sorted(cuts), 40])
    check_same(
        search.search(blocks, n_neighbors, metric), ExactSearch().search(X, n_neighbors, metric)
    )


def test_arrays_that_are_here_are_searched_here():
    search, _ = in_blocks(np.eye(3), [0, 3])
    check_same(
        search.search(scattered(), 4, "euclidean"),
        ExactSearch().search(scattered(), 4, "euclidean"),
    )
    graph = mutual_knn_graph(repeated(), 1, search=search)
    assert graph.n_components == 1


def test_nobody_asks_for_nothing():
    search, blocks = in_blocks(scattered(), [0, 9, 40])
    none = search.outside(blocks, "euclidean")(np.empty(0, np.intp), np.zeros(40, np.intp), 3)
    assert none.indices.shape == none.distances.shape == (0, 3)


def clustered(n=1200, dtype=np.float64):
    return make_blobs(n, 8, centers=12, cluster_std=1, random_state=0)[0].astype(dtype)


def shards(X, shard_rows, **options):
    store = ScratchStore(**options)
    blocks = RowBlocks.cut(X, [0, 1, len(X) // 3, len(X)], store)
    return OverlappingShards(store, shard_rows), blocks


def recall(found, truth):
    shared = [len(set(a) & set(b)) for a, b in zip(found.indices, truth.indices, strict=True)]
    return sum(shared) / truth.indices.size


def true_distances(X, indices, metric):
    if metric == "euclidean":
        return np.linalg.norm(X[:, None] - X[indices], axis=2)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return 1 - np.einsum("ij,ikj->ik", unit, unit[indices])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_shards_find_most_with_exact_distances(metric, dtype):
    X = clustered(dtype=dtype)
    search, blocks = shards(X, 200)
    found = search.search(blocks, 10, metric)
    assert recall(found, ExactSearch().search(X, 10, metric)) > 0.9
    assert found.indices.shape == found.distances.shape == (len(X), 10)
    assert found.indices.min() >= 0
    expected = true_distances(X.astype(np.float64), found.indices, metric)
    bound = {"rtol": 1e-9, "atol": 1e-12} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-6}
    np.testing.assert_allclose(found.distances, expected, **bound)
    assert np.all(np.diff(found.distances, axis=1) >= 0)
    assert not (found.indices == np.arange(len(X))[:, None]).any()
    assert all(len(set(row)) == 10 for row in found.indices.tolist())


def test_one_shard_is_exact():
    X = clustered(300)
    search, blocks = shards(X, 1000)
    check_same(search.search(blocks, 7, "euclidean"), ExactSearch().search(X, 7, "euclidean"))


def test_little_memory_makes_more_shards():
    """In points without clusters, neighbours across the borders of shards are missed."""
    X = scattered(shape=(600, 8))
    truth = ExactSearch().search(X, 5, "euclidean")
    for rows, least, most in ((600, 1.0, 1.0), (100, 0.5, 0.99)):
        search, blocks = shards(X, 1000, memory=rows * X[0].nbytes * 12)
        assert least <= recall(search.search(blocks, 5, "euclidean"), truth) <= most


@pytest.mark.parametrize("n_rows", [3, 20])
def test_more_shards_than_rows_fit(n_rows):
    """Shards of a row or two leave places empty, and bridges still make one piece."""
    X = clustered(n_rows)
    store = ScratchStore()
    blocks = RowBlocks.cut(X, [0, 1, n_rows], store)
    found = OverlappingShards(store, 1).search(blocks, 2, "euclidean")
    assert found.indices.shape == (n_rows, 2)
    np.testing.assert_array_equal(found.indices < 0, np.isinf(found.distances))
    assert not (found.indices == np.arange(n_rows)[:, None]).any()
    there = found.indices >= 0
    exact = true_distances(X, found.indices, "euclidean")
    np.testing.assert_allclose(found.distances[there], exact[there])


def test_shards_that_gather_in_two_steps_find_the_same(monkeypatch):
    X = clustered()
    search, blocks = shards(X, 100)
    expected = search.search(blocks, 5, "euclidean")
    monkeypatch.setattr(overlapping, "exchange", partial(exchange, few=0))
    found = search.search(blocks, 5, "euclidean")
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


def test_repeated_rows_in_shards():
    """All shards have the same mean; nobody is named twice all the same."""
    X = np.ones((50, 3))
    X[40:] = 2
    search, blocks = shards(X, 10)
    found = search.search(blocks, 4, "euclidean")
    for row, near in enumerate(found.indices.tolist()):
        named = [j for j in near if j >= 0]
        assert len(set(named)) == len(named)
        assert row not in named


@pytest.mark.parametrize(
    ("X", "metric"), [(sparse.csr_array(np.eye(9)), "cosine"), (np.eye(9), "manhattan")]
)
def test_shards_say_what_they_cannot_do(X, metric):
    backend = BlockBackend(ScratchStore())
    blocks = RowBlocks.cut(X, [0, 4, 9], backend.store)
    search = BlockSearch(backend, exact_rows=5)
    with pytest.raises(ValueError, match="choose one of these, or reduce the columns"):
        search.search(blocks, 2, metric)


def test_many_rows_are_searched_in_shards_and_columns_are_not():
    X = clustered(400)
    backend = BlockBackend(ScratchStore())
    blocks = RowBlocks.cut(X, [0, 150, 400], backend.store)
    search = BlockSearch(backend, exact_rows=100)
    graph = mutual_knn_graph(blocks, 5, search=search)
    assert (graph.search, graph.n_components) == ("approximate", 1)
    assert mutual_knn_graph(blocks.T, 3, search=search).search == "exact"
