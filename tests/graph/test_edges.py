"""Laplacians, their norms, and the edges of two graphs combined."""

import numpy as np
import pytest
from scipy import sparse

from pyrocco import Graph, mutual_knn_graph
from pyrocco.backends import matrix_norm
from pyrocco.graph import Laplacian, combined_graph, degree_weights
from tests.reference.literal_rocco import laplacian as literal


@pytest.mark.parametrize("n", [2, 20, 60])
def test_equals_sum_over_edges(n):
    graph = mutual_knn_graph(np.random.default_rng(0).normal(size=(n, 3)), 4)
    pairs = list(zip(graph.heads, graph.tails, strict=True))
    L = Laplacian(graph)
    np.testing.assert_allclose(L.to_scipy().toarray(), literal(n, pairs, graph.weights))
    values = np.random.default_rng(1).random(graph.n_edges)
    expected = literal(n, pairs, values)
    np.testing.assert_allclose(L.refresh(values).to_scipy().toarray(), expected, atol=1e-14)
    assert L.spectral_norm() == pytest.approx(np.linalg.norm(expected, 2), rel=1e-5)


def test_no_edges():
    none = np.empty(0, dtype=np.intp)
    assert Laplacian(Graph(3, none, none, np.empty(0))).spectral_norm() == 0


def test_ring_is_not_missed_by_a_symmetric_start():
    """On a ring all degrees are equal, and a constant start would see only the null space."""
    n = 200
    heads, tails = np.r_[np.arange(n - 1), 0], np.r_[np.arange(1, n), n - 1]
    ring = Graph(n, heads, tails, np.ones(n))
    assert Laplacian(ring).spectral_norm() == pytest.approx(4.0, rel=1e-4)


@pytest.mark.parametrize("shape", [(5, 80), (80, 5), (60, 50)])
def test_matrix_norm(shape):
    X = np.random.default_rng(0).normal(size=shape)
    expected = np.linalg.norm(X, 2)
    assert matrix_norm(X) == pytest.approx(expected, rel=1e-5)
    assert matrix_norm(sparse.csr_array(X)) == pytest.approx(expected, rel=1e-5)
    assert matrix_norm(np.zeros(shape)) == 0


def graph(n, *edges):
    heads, tails = np.array(edges).T
    return Graph(n, heads, tails, np.ones(len(edges)))


@pytest.fixture
def both():
    X = np.random.default_rng(0).normal(size=(40, 6))
    return mutual_knn_graph(X, 4), mutual_knn_graph(X[:, :2], 3)


def edges(found):
    return set(zip(found.heads.tolist(), found.tails.tolist(), strict=True))


def test_combined_graph_has_the_edges_of_either(both):
    found = combined_graph(*both)
    assert edges(found) == edges(both[0]) | edges(both[1])
    assert len(found.heads) == len(edges(found))


def test_the_order_of_combined_graphs_does_not_matter(both):
    one, other = combined_graph(*both), combined_graph(*both[::-1])
    np.testing.assert_array_equal(one.heads, other.heads)
    np.testing.assert_array_equal(one.tails, other.tails)
    np.testing.assert_allclose(one.weights, other.weights)


def test_weights_of_a_combined_graph():
    """Degrees 2, 3, 1 with the double edge; their mean is 2."""
    found = combined_graph(graph(3, (0, 1), (1, 2)), graph(3, (0, 1)))
    np.testing.assert_allclose(found.weights, [2 * 2 / np.sqrt(6), 2 / np.sqrt(3)])


def test_a_graph_with_itself_keeps_its_weights(both):
    """All edges count twice and so do all degrees."""
    once = both[0]
    twice = combined_graph(once, once)
    order = np.lexsort((once.tails, once.heads))
    expected = degree_weights(once.n_nodes, once.heads, once.tails)[order]
    np.testing.assert_allclose(twice.weights, 2 * expected)


def test_an_empty_graph_adds_nothing(both):
    empty = Graph(40, np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))
    found = combined_graph(both[0], empty)
    assert edges(found) == edges(both[0])
