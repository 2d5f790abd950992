import numpy as np
import pytest

import pyrocco.assign.kmeans as module
from pyrocco.assign import SilhouetteKMeans


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(np.repeat([0.0, 4.0, 9.0], 20)[:, None], 1.0, (60, 8))


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_a_wide_matrix_is_labelled_as_the_narrow_one_it_is_a_rotation_of(rows, n_clusters):
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((500, 8)))[0].T
    narrow = SilhouetteKMeans(0).assign(rows, n_clusters)
    wide = SilhouetteKMeans(0).assign(rows @ turn, n_clusters)
    np.testing.assert_array_equal(wide, narrow)


def test_kmeans_sees_no_more_columns_than_there_are_rows(rows, monkeypatch):
    seen = []

    class Spy(module.KMeans):
        def fit_predict(self, X, *rest):
            seen.append(X.shape)
            return super().fit_predict(X, *rest)

    monkeypatch.setattr(module, "KMeans", Spy)
    SilhouetteKMeans(0).assign(np.tile(rows, 50), 3)
    assert seen == [(60, 60)]


def test_equal_rows_of_a_wide_matrix_make_no_clusters_of_their_own():
    two = np.random.default_rng(2).standard_normal((2, 400))
    assert SilhouetteKMeans(0).assign(np.repeat(two, 10, axis=0), 9).max() == 1
