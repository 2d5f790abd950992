"""Distances between rows with missing values against their definition, one pair at a time."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import nan_euclidean_distances

from pyrocco import mutual_knn_graph
from pyrocco.graph.exact import ExactSearch
from pyrocco.graph.masked import MaskedSearch, masked_distances


def with_missing(n=50, p=24, share=0.4, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, (n, p))
    X[rng.random(X.shape) < share] = np.nan
    return X.astype(dtype)


def literal(x, y, metric):
    both = ~np.isnan(x) & ~np.isnan(y)
    if not both.any():
        return np.inf
    length = pairwise_distances(x[None, both], y[None, both], metric=metric)[0, 0]
    factor = {"euclidean": np.sqrt(len(x) / both.sum()), "manhattan": len(x) / both.sum()}
    return length * factor.get(metric, 1.0)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_search_finds_the_nearest_by_the_literal_distance(metric, dtype):
    X = with_missing(dtype=dtype)
    wanted = X.astype(np.float64)
    truth = np.array([[literal(x, y, metric) for y in wanted] for x in wanted])
    np.fill_diagonal(truth, np.inf)
    found = MaskedSearch().search(X, 6, metric)
    tight = 1e-12 if dtype == np.float64 else 1e-4
    near = {"rtol": tight, "atol": 1e-7}
    np.testing.assert_allclose(found.distances, np.sort(truth, axis=1)[:, :6], **near)
    np.testing.assert_allclose(
        np.take_along_axis(truth, found.indices, axis=1), found.distances, **near
    )


def test_euclidean_is_scikit_learns():
    X = with_missing()
    everyone = np.arange(len(X))
    ours = masked_distances(X, "euclidean").exact(everyone, np.tile(everyone, (len(X), 1)))
    np.testing.assert_allclose(ours, nan_euclidean_distances(X), atol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_without_missing_values_it_is_the_ordinary_search(metric):
    X = with_missing(share=0)
    ours, plain = (s.search(X, 5, metric) for s in (MaskedSearch(), ExactSearch()))
    np.testing.assert_array_equal(ours.indices, plain.indices)
    np.testing.assert_allclose(ours.distances, plain.distances, rtol=1e-10)


def test_equal_rows_tie_by_index():
    X = np.tile(with_missing(1), (40, 1))
    found = MaskedSearch().search(X, 3, "euclidean")
    assert found.indices[0].tolist() == [1, 2, 3]
    assert found.indices[20].tolist() == [0, 1, 2]
    assert found.distances.max() == 0


def test_rows_that_share_nothing_stay_apart():
    X = np.full((12, 8), np.nan)
    X[:6, :4], X[6:, 4:] = np.random.default_rng(0).normal(size=(2, 6, 4))
    found = MaskedSearch().search(X, 8, "euclidean")
    assert np.all((found.indices[:, 5:] == -1) & np.isinf(found.distances[:, 5:]))
    graph = mutual_knn_graph(X, 8, search=MaskedSearch())
    assert graph.n_components == 2
    assert np.all((graph.heads < 6) == (graph.tails < 6))


def test_bridges_join_rows_that_share_values():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0], [50.0], [90.0]], 12, axis=0) + rng.normal(size=(36, 9))
    X[rng.random(X.shape) < 0.3] = np.nan
    graph = mutual_knn_graph(X, 4, search=MaskedSearch())
    assert graph.n_components == 1
    between = np.abs(graph.heads // 12 - graph.tails // 12)
    assert sorted(between[between > 0].tolist()) == [1, 1]
