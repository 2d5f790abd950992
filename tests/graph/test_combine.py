"""Two graphs as one: edges of either, weights by degrees."""

import numpy as np
import pytest

from pyrocco import mutual_knn_graph
from pyrocco.graph import Graph, combined_graph
from pyrocco.graph.edges import degree_weights


def graph(n, *edges):
    heads, tails = np.array(edges).T
    return Graph(n, heads, tails, np.ones(len(edges)))


@pytest.fixture
def both():
    X = np.random.default_rng(0).normal(size=(40, 6))
    return mutual_knn_graph(X, 4), mutual_knn_graph(X[:, :2], 3)


def edges(found):
    return set(zip(found.heads.tolist(), found.tails.tolist(), strict=True))


def test_edges_of_either(both):
    found = combined_graph(*both)
    assert edges(found) == edges(both[0]) | edges(both[1])
    assert len(found.heads) == len(edges(found))


def test_order_does_not_matter(both):
    one, other = combined_graph(*both), combined_graph(*both[::-1])
    np.testing.assert_array_equal(one.heads, other.heads)
    np.testing.assert_array_equal(one.tails, other.tails)
    np.testing.assert_allclose(one.weights, other.weights)


def test_weights_by_hand():
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
