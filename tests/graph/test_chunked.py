"""Neighbours in a matrix in chunks of rows are those in the whole matrix."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs

from pyrocco import mutual_knn_graph
from pyrocco.backends import ChunkedBackend, ChunkedMatrix, ScratchStore
from pyrocco.backends.chunked.rechunk import exchange
from pyrocco.graph import chunked as chunked_module
from pyrocco.graph import distances
from pyrocco.graph.chunked import ChunkedSearch, OverlappingRegions
from pyrocco.graph.exact import ExactSearch

METRICS = ("euclidean", "manhattan", "cosine")
FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "CSR": sparse.csr_array,
    "CSR matrix": sparse.csr_matrix,
}


@pytest.fixture(autouse=True, scope="module")
def sparse_rows_stay_sparse():
    """However many cells of the small matrices here are filled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "DENSE_SHARE", 1.0)
        yield


def scattered(seed=0, shape=(40, 26)):
    """Normal values, a third of them zero."""
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


def in_chunks(X, ends):
    backend = ChunkedBackend(ScratchStore())
    return ChunkedSearch(backend), ChunkedMatrix.split(X, ends, backend.store)


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
    search, chunked = in_chunks(X, [0, 1, 13, 30, 40])
    found = search.search(chunked if side == "rows" else chunked.T, 6, metric)
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
    search, chunked = in_chunks(X, [0, 1, 13, 30, 40])
    for bridges in (True, False, "forest"):
        found = mutual_knn_graph(
            chunked if side == "rows" else chunked.T, 2, metric, bridges, search
        )
        expected = mutual_knn_graph(whole(X, side), 2, metric, bridges, ExactSearch())
        for name in ("heads", "tails", "weights"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert (found.n_nodes, found.search) == (expected.n_nodes, "exact")


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_bridges_join_what_is_far_apart(metric, side):
    """Clusters of rows far from each other, which only bridges connect."""
    points = np.repeat(50 * np.eye(5), 8, axis=0) + 0.1 * scattered(1, (40, 5))
    X = points if side == "rows" else np.ascontiguousarray(points.T)
    search, chunked = in_chunks(X, [0, 2, len(X)])
    found = mutual_knn_graph(chunked if side == "rows" else chunked.T, 3, metric, True, search)
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
    search, chunked = in_chunks(X, [0, *sorted(cuts), 40])
    found, expected = (
        s.search(M, n_neighbors, metric) for s, M in ((search, chunked), (ExactSearch(), X))
    )
    if metric == "cosine":
        # Many rows may tie for the last places, since products round differently.
        last = expected.distances >= expected.distances[:, -1:] - 1e-9
        found.indices[last] = expected.indices[last]
    check_same(found, expected)


def test_arrays_in_memory_are_searched_in_memory():
    search, _ = in_chunks(np.eye(3), [0, 3])
    check_same(
        search.search(scattered(), 4, "euclidean"),
        ExactSearch().search(scattered(), 4, "euclidean"),
    )
    graph = mutual_knn_graph(repeated(), 1, search=search)
    assert graph.n_components == 1


def test_an_empty_query():
    search, chunked = in_chunks(scattered(), [0, 9, 40])
    none = search.outside(chunked, "euclidean")(np.empty(0, np.intp), np.zeros(40, np.intp), 3)
    assert none.indices.shape == none.distances.shape == (0, 3)


def clustered(n=1200, dtype=np.float64):
    return make_blobs(n, 8, centers=12, cluster_std=1, random_state=0)[0].astype(dtype)


def regions(X, region_rows, **options):
    store = ScratchStore(**options)
    chunked = ChunkedMatrix.split(X, [0, 1, len(X) // 3, len(X)], store)
    return OverlappingRegions(store, region_rows), chunked


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
def test_regions_find_most_with_exact_distances(metric, dtype):
    X = clustered(dtype=dtype)
    search, chunked = regions(X, 200)
    found = search.search(chunked, 10, metric)
    assert recall(found, ExactSearch().search(X, 10, metric)) > 0.9
    assert found.indices.shape == found.distances.shape == (len(X), 10)
    assert found.indices.min() >= 0
    expected = true_distances(X.astype(np.float64), found.indices, metric)
    bound = {"rtol": 1e-9, "atol": 1e-12} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-6}
    np.testing.assert_allclose(found.distances, expected, **bound)
    assert np.all(np.diff(found.distances, axis=1) >= 0)
    assert not (found.indices == np.arange(len(X))[:, None]).any()
    assert all(len(set(row)) == 10 for row in found.indices.tolist())


def test_one_region_is_exact():
    X = clustered(300)
    search, chunked = regions(X, 1000)
    check_same(search.search(chunked, 7, "euclidean"), ExactSearch().search(X, 7, "euclidean"))


def test_little_memory_makes_more_regions():
    """In points without clusters, neighbours across the borders of regions are missed."""
    X = scattered(shape=(600, 8))
    truth = ExactSearch().search(X, 5, "euclidean")
    for rows, least, most in ((600, 1.0, 1.0), (100, 0.5, 0.99)):
        search, chunked = regions(X, 1000, memory=rows * X[0].nbytes * 12)
        assert least <= recall(search.search(chunked, 5, "euclidean"), truth) <= most


@pytest.mark.parametrize("n_rows", [3, 20])
def test_more_regions_than_rows(n_rows):
    """Regions of one or two rows leave places empty."""
    X = clustered(n_rows)
    store = ScratchStore()
    chunked = ChunkedMatrix.split(X, [0, 1, n_rows], store)
    found = OverlappingRegions(store, 1).search(chunked, 2, "euclidean")
    assert found.indices.shape == (n_rows, 2)
    np.testing.assert_array_equal(found.indices < 0, np.isinf(found.distances))
    assert not (found.indices == np.arange(n_rows)[:, None]).any()
    there = found.indices >= 0
    exact = true_distances(X, found.indices, "euclidean")
    np.testing.assert_allclose(found.distances[there], exact[there])


def test_an_exchange_in_two_steps_finds_the_same(monkeypatch):
    X = clustered()
    search, chunked = regions(X, 100)
    expected = search.search(chunked, 5, "euclidean")
    monkeypatch.setattr(chunked_module, "exchange", partial(exchange, direct_pieces=0))
    found = search.search(chunked, 5, "euclidean")
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


def test_repeated_rows_in_regions():
    """All regions have the same mean; still no neighbour is listed twice."""
    X = np.ones((50, 3))
    X[40:] = 2
    search, chunked = regions(X, 10)
    found = search.search(chunked, 4, "euclidean")
    for row, near in enumerate(found.indices.tolist()):
        listed = [j for j in near if j >= 0]
        assert len(set(listed)) == len(listed)
        assert row not in listed


@pytest.mark.parametrize(
    ("X", "metric"), [(sparse.csr_array(np.eye(9)), "cosine"), (np.eye(9), "manhattan")]
)
def test_regions_refuse_sparse_rows_and_manhattan(X, metric):
    backend = ChunkedBackend(ScratchStore())
    chunked = ChunkedMatrix.split(X, [0, 4, 9], backend.store)
    search = ChunkedSearch(backend, exact_rows=5)
    with pytest.raises(ValueError, match="Choose one of these, or first reduce the columns"):
        search.search(chunked, 2, metric)


def test_many_rows_are_searched_in_regions_and_columns_are_not():
    X = clustered(400)
    backend = ChunkedBackend(ScratchStore())
    chunked = ChunkedMatrix.split(X, [0, 150, 400], backend.store)
    search = ChunkedSearch(backend, exact_rows=100)
    graph = mutual_knn_graph(chunked, 5, search=search)
    assert (graph.search, graph.n_components) == ("approximate", 1)
    assert mutual_knn_graph(chunked.T, 3, search=search).search == "exact"
