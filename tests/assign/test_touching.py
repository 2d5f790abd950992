import numpy as np
import pytest

from pyrocco.assign.modularity import NeighborhoodGraph
from pyrocco.assign.touching import unite_touching

HALVES = np.repeat([0, 1], 60)


def _cloud(n=120, d=12, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def _cut(rows):
    """Parts below and above the median of the first coordinate."""
    return (rows[:, 0] > np.median(rows[:, 0])).astype(int)


def test_parts_of_one_cloud_are_united():
    rows = _cloud()
    np.testing.assert_array_equal(unite_touching(rows, _cut(rows), 2, 0.4), [0, 0])


def test_clouds_apart_are_not():
    rows = _cloud()
    rows[60:] += 4
    np.testing.assert_array_equal(unite_touching(rows, HALVES, 2, 0.4), [0, 1])


def test_all_parts_of_a_cloud_become_one_beside_another():
    rows = _cloud(160)
    rows[120:] += 4
    labels = np.append(2 * _cut(rows[:120]) + (rows[:120, 1] > 0), np.full(40, 4))
    np.testing.assert_array_equal(unite_touching(rows, labels, 5, 0.4), [0, 0, 0, 0, 1])


def test_the_order_of_rows_does_not_matter():
    rows = _cloud(160)
    rows[120:] += 4
    labels = np.append(2 * _cut(rows[:120]) + (rows[:120, 1] > 0), np.full(40, 4))
    order = np.random.default_rng(1).permutation(160)
    found = unite_touching(rows[order], labels[order], 5, 0.4)
    np.testing.assert_array_equal(found, unite_touching(rows, labels, 5, 0.4))


@pytest.mark.parametrize("few", [0, 1, 3])
def test_a_cluster_of_few_rows_stays_by_itself(few):
    rows = _cloud(40)
    labels = (np.arange(40) < few).astype(int)
    np.testing.assert_array_equal(unite_touching(rows, labels, 2, 0.4), [0, 1])


def test_contact_is_one_where_parts_are_mixed_and_zero_where_they_are_apart():
    rows, mixed = _cloud(400), np.arange(400) % 2 == 0
    assert NeighborhoodGraph(rows).contact(mixed) == pytest.approx(1, abs=0.05)
    rows[mixed] += 100
    assert NeighborhoodGraph(rows).contact(mixed) == 0
