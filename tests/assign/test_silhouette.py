"""The silhouette of many labellings, beside scikit-learn's of one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.metrics import silhouette_score

from pyrocco.assign import SilhouetteKMeans
from pyrocco.assign.silhouette import silhouettes


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 60), st.booleans())
def test_each_is_that_of_scikit_learn(seed, n, is_sparse):
    random = np.random.RandomState(seed)
    X = random.poisson(1.0, (n, 5)).astype(float)
    labellings = [
        np.unique(random.randint(k, size=n), return_inverse=True)[1] for k in (2, 3, n - 1)
    ]
    expected = [
        silhouette_score(X, each) if 1 < each.max() + 1 < n else np.nan for each in labellings
    ]
    given = sparse.csr_matrix(X) if is_sparse else X
    np.testing.assert_allclose(silhouettes(given, labellings), expected, atol=1e-6)


def test_a_sample_is_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(300, 4))
    labels = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
    expected = silhouette_score(X, labels, sample_size=50, random_state=0)
    assert silhouettes(X, [labels], 50)[0] == pytest.approx(expected)


@pytest.mark.parametrize("labels", [np.zeros(6, int), np.arange(6)])
def test_one_cluster_and_clusters_of_one_have_none(labels):
    assert np.isnan(silhouettes(np.eye(6), [labels, np.arange(6) % 2])).tolist() == [True, False]


def test_blocks_of_distances_do_not_change_it():
    X, labels = np.random.default_rng(1).normal(size=(400, 3)), np.arange(400) % 3
    with config_context(working_memory=0.05):
        by_parts = silhouettes(X, [labels])
    np.testing.assert_allclose(by_parts, silhouettes(X, [labels]))


def test_a_sample_of_one_cluster_still_gives_labels():
    """Two rows far away, neither of them in the sample of three."""
    seen = np.random.RandomState(0).permutation(30)[:3]
    away = [row for row in range(30) if row not in seen][:2]
    U = np.zeros((30, 2))
    U[away] = 9.0
    labels = SilhouetteKMeans(sample_size=3).assign(U, None)
    assert sorted(np.bincount(labels).tolist()) == [2, 28]
