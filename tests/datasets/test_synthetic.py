import numpy as np
import pytest
from sklearn.datasets import make_biclusters

from pyrocco.datasets import make_noisy_biclusters


@pytest.mark.parametrize("seed", [0, 29])
def test_is_exactly_the_generator_of_the_paper(seed):
    data = make_noisy_biclusters(noise=50, random_state=seed)
    X, rows, columns = make_biclusters((100, 100), 5, noise=50, random_state=seed)
    np.testing.assert_array_equal(data.X, X)
    for group in range(5):
        np.testing.assert_array_equal(data.row_labels == group, rows[group])
        np.testing.assert_array_equal(data.column_labels == group, columns[group])


def test_names_fit_the_matrix():
    data = make_noisy_biclusters((12, 8), n_clusters=2, noise=1)
    assert data.feature_names.shape == (8,)
    assert data.class_names.shape == (2,)
    assert "noise 1" in data.description


def test_does_not_touch_the_global_random_state():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    make_noisy_biclusters((12, 8), n_clusters=2, noise=1, random_state=3)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
