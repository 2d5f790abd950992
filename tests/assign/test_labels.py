"""Membership probabilities of labels, and the stability of clusters."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_biclusters

from pyrocco import ROCCO
from pyrocco.assign import SideLabels
from pyrocco.assign.labels import distance_memberships


def membership(features, labels):
    return distance_memberships(features, labels)[np.arange(len(labels)), labels]


@given(
    arrays(np.float64, (12, 3), elements=st.floats(-1e3, 1e3)),
    arrays(np.intp, 12, elements=st.integers(0, 3)),
)
def test_membership_is_a_probability(features, labels):
    labels = np.unique(labels, return_inverse=True)[1]
    sure = membership(features, labels)
    assert ((sure >= 0) & (sure <= 1)).all()


def test_one_cluster_is_certain():
    features = np.random.default_rng(0).normal(size=(9, 2))
    assert membership(features, np.zeros(9, dtype=np.intp)).tolist() == [1.0] * 9


def test_equal_rows_are_certain():
    features = np.repeat(np.eye(2), 4, axis=0)
    assert membership(features, np.repeat([0, 1], 4)).tolist() == [1.0] * 8


def test_rows_halfway_have_even_odds():
    offsets = np.array([-1.0, -0.5, 0.5, 1.0])
    features = np.r_[offsets, 10 + offsets, 5.0, 5.0][:, None]
    sure = membership(features, np.r_[[0] * 4, [1] * 4, 0, 1])
    assert sure[-2:] == pytest.approx([0.5, 0.5])
    assert sure[:-2].min() > 0.99


def test_membership_does_not_depend_on_the_unit():
    features = np.random.default_rng(0).normal(size=(30, 4))
    labels = (features[:, 0] > 0).astype(np.intp)
    one, other = (membership(unit * features, labels) for unit in (1.0, 1e6))
    np.testing.assert_allclose(one, other)


def test_a_row_in_the_wrong_cluster_has_low_membership():
    features = np.random.default_rng(0).normal(size=(40, 3)) + 6 * np.arange(40)[:, None] // 20
    labels = np.repeat([0, 1], 20)
    labels[0] = 1
    assert membership(features, labels)[0] < 0.05


def test_probabilities_of_all_clusters_add_up_to_one():
    features = np.random.default_rng(0).normal(size=(25, 4))
    members = distance_memberships(features, np.arange(25) % 3)
    np.testing.assert_allclose(members.sum(axis=1), 1)


def is_right(truth, labels):
    """Whether labels are right once clusters are matched with the truth, one to one."""
    counts = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(counts, (labels, truth), 1)
    found, true = linear_sum_assignment(-counts)
    matched = np.full(labels.max() + 1, -1)
    matched[found] = true
    return matched[labels] == truth


def test_of_rows_at_nine_tenths_nine_in_ten_are_right():
    right = []
    for noise, seed in product((50, 70), range(5)):
        X, rows, columns = make_biclusters((100, 100), 5, noise=noise, random_state=2000 + seed)
        model = ROCCO(n_clusters=5).fit(X)
        for truth, labels, sure in (
            (rows, model.row_labels_, model.row_membership_),
            (columns, model.column_labels_, model.column_membership_),
        ):
            chosen = (sure > 0.85) & (sure < 0.95)
            right.append(is_right(truth.argmax(axis=0), labels)[chosen])
    assert 0.75 <= np.concatenate(right).mean() <= 0.99


def test_stability_is_the_expected_overlap_of_a_redrawn_cluster():
    """Compared with the expectations, cluster by cluster."""
    members = np.random.default_rng(0).dirichlet([0.3, 0.3, 0.3], 30)
    side = SideLabels.from_memberships(members.argmax(axis=1), members)
    members = np.cbrt(members)  # log odds divided by three
    members /= members.sum(axis=1, keepdims=True)
    for cluster in range(3):
        inside = side.labels == cluster
        own = members.argmax(axis=1)[inside][0]
        both = members[inside, own].sum()
        union = inside.sum() + members[:, own].sum() - both
        assert side.stability[cluster] == pytest.approx(both / union)
        np.testing.assert_allclose(side.membership[inside], members[inside].max(axis=1))


def test_certain_clusters_are_stable():
    side = SideLabels.from_memberships(np.array([0, 1, 1]), np.eye(2)[[0, 1, 1]])
    assert side.stability.tolist() == [1.0, 1.0]
