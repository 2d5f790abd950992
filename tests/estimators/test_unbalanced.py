"""Clusters of very different sizes, far apart: nothing that labels could get wrong."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO

SIZES = (400, 40, 40, 20)


def _clouds(sizes, seed, d=20):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    centres = rng.normal(0, 1.5, (len(sizes), d))
    return centres[labels] + rng.standard_normal((len(labels), d)), labels


@pytest.mark.parametrize("seed", range(3))
def test_a_cluster_of_most_rows_is_not_cut(seed):
    X, labels = _clouds(SIZES, seed)
    model = ROCCO().fit(X)
    assert model.structure_ == "features"
    assert model.n_row_clusters_ == len(SIZES)
    assert adjusted_rand_score(labels, model.row_labels_) > 0.98


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_rows_near_the_mean_of_all_are_not_mistaken(n_clusters):
    X, labels = _clouds((300, 30), 0, d=30)
    model = ROCCO(n_clusters=n_clusters and (n_clusters, None)).fit(X)
    assert adjusted_rand_score(labels, model.row_labels_) == 1
    assert model.row_membership_.min() > 0.9


def test_new_rows_are_predicted_as_those_of_the_fit():
    X, labels = _clouds(SIZES, 0)
    fitted, new = np.arange(0, 500, 2), np.arange(1, 500, 2)
    model = ROCCO().fit(X[fitted])
    assert adjusted_rand_score(labels[new], model.predict(X[new])) > 0.98


def test_missing_values_do_not_hide_the_clusters():
    X, labels = _clouds(SIZES, 2)
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    assert adjusted_rand_score(labels, ROCCO().fit(X).row_labels_) > 0.95


@pytest.mark.parametrize("seed", range(2))
def test_rows_of_one_kind_that_vary_along_many_directions_are_one_cluster(seed):
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((120, 3)) @ rng.standard_normal((3, 600))
    model = ROCCO().fit(0.15 * factors + rng.standard_normal((120, 600)))
    assert model.structure_ == "features"
    assert model.n_row_clusters_ == 1
