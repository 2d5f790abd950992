import numpy as np
import pytest
from scipy import sparse

from pyrocco import Graph, mutual_knn_graph
from pyrocco.backends.norms import matrix_norm
from pyrocco.graph import Laplacian
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
