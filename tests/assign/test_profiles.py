"""Profiles of clusters assign new rows, with and without missing values."""

import numpy as np
import pytest

from pyrocco.assign.features import directions, leading_axes, leading_features
from pyrocco.assign.labels import RoundClusters
from pyrocco.assign.profiles import BlockProfiles, FeatureProfiles

X = np.array([[5.0, 6.0, 0.0], [6.0, 5.0, 1.0], [0.0, 1.0, 9.0], [1.0, 0.0, 8.0]])
LABELS = np.array([0, 0, 1, 1])


def test_axes_give_the_leading_features():
    U = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 4.0]])
    means, axes = leading_axes(U)
    assert means.tolist() == [1.0, 1.5]
    np.testing.assert_allclose(directions((U - means) @ axes), leading_features(U))


def test_a_row_between_two_round_clusters_belongs_to_both():
    clusters = RoundClusters.around(np.array([[0.0], [1.0], [4.0], [5.0]]), LABELS)
    found = clusters.memberships(np.array([[2.5], [9.0]]))
    np.testing.assert_allclose(found.round(2), [[0.5, 0.5], [0.0, 1.0]])


@pytest.mark.parametrize("chunks", [[X], [X[:1], X[1:]]], ids=["whole", "chunks"])
def test_block_profiles_assign_rows_with_missing_values(chunks):
    profiles = BlockProfiles.learn(chunks, LABELS, np.array([0, 0, 1]))
    new = np.array([[5.0, np.nan, 2.0], [np.nan, 2.0, np.nan]])
    assert profiles.memberships(new).argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("chunks", [[X], [X[:1], X[1:]]], ids=["whole", "chunks"])
def test_feature_profiles_assign_rows_with_missing_values(chunks):
    profiles = FeatureProfiles.learn(chunks, X, LABELS)
    new = np.array([[50.0, np.nan, 20.0], [0.0, 2.0, 9.0]])
    assert profiles.memberships(new).argmax(axis=1).tolist() == [0, 1]
