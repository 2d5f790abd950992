"""How sure labels are: between 0 and 1, sure far from other clusters, unsure between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pyrocco.assign.confidence import distance_confidence, distance_members


@given(
    arrays(np.float64, (12, 3), elements=st.floats(-1e3, 1e3)),
    arrays(np.intp, 12, elements=st.integers(0, 3)),
)
def test_confidence_is_a_probability(features, labels):
    labels = np.unique(labels, return_inverse=True)[1]
    sure = distance_confidence(features, labels)
    assert ((sure >= 0) & (sure <= 1)).all()


def test_one_cluster_is_certain():
    features = np.random.default_rng(0).normal(size=(9, 2))
    assert distance_confidence(features, np.zeros(9, dtype=np.intp)).tolist() == [1.0] * 9


def test_equal_rows_are_certain():
    features = np.repeat(np.eye(2), 4, axis=0)
    assert distance_confidence(features, np.repeat([0, 1], 4)).tolist() == [1.0] * 8


def test_halfway_is_even_odds():
    offsets = np.array([-1.0, -0.5, 0.5, 1.0])
    features = np.r_[offsets, 10 + offsets, 5.0, 5.0][:, None]
    sure = distance_confidence(features, np.r_[[0] * 4, [1] * 4, 0, 1])
    assert sure[-2:] == pytest.approx([0.5, 0.5])
    assert sure[:-2].min() > 0.99


def test_confidence_has_no_unit():
    features = np.random.default_rng(0).normal(size=(30, 4))
    labels = (features[:, 0] > 0).astype(np.intp)
    one, other = (distance_confidence(unit * features, labels) for unit in (1.0, 1e6))
    np.testing.assert_allclose(one, other)


def test_a_row_in_the_wrong_cluster_is_doubted():
    features = np.random.default_rng(0).normal(size=(40, 3)) + 6 * np.arange(40)[:, None] // 20
    labels = np.repeat([0, 1], 20)
    labels[0] = 1
    assert distance_confidence(features, labels)[0] < 0.05


def test_probabilities_of_all_clusters_add_up_to_one():
    features = np.random.default_rng(0).normal(size=(25, 4))
    members = distance_members(features, np.arange(25) % 3)
    np.testing.assert_allclose(members.sum(axis=1), 1)
    own = distance_confidence(features, np.arange(25) % 3)
    np.testing.assert_array_equal(own, members[np.arange(25), np.arange(25) % 3])
