"""The penalty, its line process, and the sides that use them."""

import numpy as np
import pytest

from pyrocco.backends import NumpyBackend
from pyrocco.graph import Graph
from pyrocco.model import Side, geman_mcclure, length_scales, line_process

PATH = Graph(3, np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2.0]))
U = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])


@pytest.mark.parametrize("mu", [0.5, 10.0, np.inf])
def test_the_line_process_is_the_derivative_of_the_penalty(mu):
    squared, h = np.array([0.1, 1.0, 30.0]), 1e-6
    slope = (geman_mcclure(squared + h, mu) - geman_mcclure(squared - h, mu)) / (2 * h)
    np.testing.assert_allclose(line_process(squared, mu), slope, rtol=1e-6)


def test_edges_between_equal_rows_keep_weight_one():
    assert line_process(np.array([0.0, 1.0]), 0.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("mu", [8.0, np.inf])
def test_energy_is_the_sum_over_the_edges(mu):
    side = Side(PATH, 0, norm=5.0, mu=mu)
    side.update(U, NumpyBackend())
    expected = geman_mcclure(np.array([25.0]), mu) + 2 * geman_mcclure(np.array([1.0]), mu)
    assert side.energy() == pytest.approx(0.5 * side.strength * expected[0])


def test_strength_gives_the_requested_norm():
    side = Side(PATH, 0, norm=5.0)
    dense = side.strength * side.laplacian.to_scipy().toarray()
    assert np.linalg.norm(dense, 2) == pytest.approx(5.0, rel=1e-4)


def test_mu_is_halved_down_to_half_of_its_threshold():
    side = Side(PATH, 0, norm=5.0, mu=8.0, delta=3.0)
    values = []
    for _ in range(4):
        side.sharpen()
        values.append((side.mu, side.is_sharp))
    assert values == [(4.0, False), (2.0, True), (1.5, True), (1.5, True)]


def test_a_graph_without_edges_has_scales():
    scales = length_scales(np.empty(0), 3)
    assert (scales.mu, scales.delta, scales.epsilon) == (1.0, 1.0, 1.0)
