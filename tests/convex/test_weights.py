import numpy as np
import pytest
from scipy import sparse

from pyrocco.convex import gaussian_knn_graph


def literal_graph(X, k, phi):
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    named = np.zeros(squares.shape, dtype=bool)
    for i, row in enumerate(squares):
        named[i, np.argsort(row, kind="stable")[:k]] = True
    heads, tails = np.nonzero(np.triu(named | named.T, 1))
    weights = np.exp(-phi / X.shape[1] * squares[heads, tails])
    return heads, tails, weights / weights.sum() / np.sqrt(X.shape[1])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("k", "phi"), [(1, 0.5), (4, 2.0), (50, 0.0)])
def test_formula(make, k, phi):
    X = np.random.default_rng(0).normal(size=(20, 6))
    graph = gaussian_knn_graph(make(X), k, phi)
    heads, tails, weights = literal_graph(X, k, phi)
    np.testing.assert_array_equal(graph.heads, heads)
    np.testing.assert_array_equal(graph.tails, tails)
    np.testing.assert_allclose(graph.weights, weights)


def test_far_apart_rows_still_have_weights():
    X = np.array([[0.0], [1e3], [3e3]])
    weights = gaussian_knn_graph(X, 1, phi=1.0).weights
    assert weights.sum() == pytest.approx(1.0)


def test_missing_values_are_left_out():
    X = np.array([[0.0, 5.0], [0.0, np.nan], [9.0, 5.0]])
    graph = gaussian_knn_graph(X, 1)
    assert (0, 1) in zip(graph.heads, graph.tails, strict=True)
    assert np.isfinite(graph.weights).all()


def test_rows_without_a_column_in_common_have_no_edge():
    X = np.array([[1.0, np.nan], [np.nan, 1.0], [1.0, 2.0]])
    graph = gaussian_knn_graph(X, 2)
    assert list(zip(graph.heads, graph.tails, strict=True)) == [(0, 2), (1, 2)]


def test_missing_values_need_the_euclidean_metric():
    with pytest.raises(ValueError, match="euclidean"):
        gaussian_knn_graph(np.array([[1.0, np.nan], [2.0, 3.0]]), metric="cosine")


def test_one_row_has_no_edges():
    assert gaussian_knn_graph(np.ones((1, 4))).n_edges == 0
