"""Number of clusters by silhouette: what is chosen, what is put aside, what is skipped."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.datasets import make_blobs, make_checkerboard
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from pyrocco.datasets import make_noisy_biclusters
from pyrocco.estimators.auto import (
    AutoKMeans,
    AutoSpectralBiclustering,
    AutoSpectralCoclustering,
)

SPECTRAL = [AutoSpectralCoclustering, AutoSpectralBiclustering]
EVERY = [AutoKMeans, *SPECTRAL]


@pytest.fixture(autouse=True)
def _one_thread():
    # Matrices this small are slower on many threads, far slower on a busy machine.
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def blocks():
    data = make_noisy_biclusters((60, 50), 3, noise=2, random_state=0)
    return np.abs(data.X), data


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([estimator(max_clusters=3) for estimator in EVERY])
def test_keeps_scikit_learns_rules(estimator, check):
    check(estimator)


def test_kmeans_is_the_best_of_scikit_learns():
    X, y = make_blobs(90, 4, centers=4, random_state=1)
    model = AutoKMeans(8).fit(X)
    by_hand = {
        k: silhouette_score(X, KMeans(k, n_init=10, random_state=0).fit_predict(X))
        for k in range(2, 9)
    }
    assert model.n_clusters_ == max(by_hand, key=by_hand.get) == 4
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.silhouettes_.keys() == by_hand.keys()
    assert model.silhouettes_[4] == pytest.approx(by_hand[4])


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_coclustering_finds_planted_blocks(blocks, convert):
    X, data = blocks
    model = AutoSpectralCoclustering(6).fit(convert(X))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(data.row_labels, model.row_labels_) == 1
    assert adjusted_rand_score(data.column_labels, model.column_labels_) == 1


def test_biclustering_finds_a_checkerboard():
    X, rows, _ = make_checkerboard((60, 50), (3, 3), noise=1, random_state=0)
    model = AutoSpectralBiclustering(6).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(rows[::3].argmax(axis=0), model.row_labels_) == 1
    assert model.rows_.shape == (9, 60)
    assert model.columns_.shape == (9, 50)
    assert (model.rows_.sum(axis=0) == 3).all()


@pytest.mark.parametrize("estimator", SPECTRAL)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_empty_rows_and_columns_are_put_aside(blocks, estimator, convert):
    X = blocks[0].copy()
    X[[3, 40]] = 0
    X[:, 7] = 0
    model = estimator(5).fit(convert(X))
    assert np.flatnonzero(model.row_labels_ == -1).tolist() == [3, 40]
    assert np.flatnonzero(model.column_labels_ == -1).tolist() == [7]
    kept = np.delete(np.delete(X, [3, 40], axis=0), 7, axis=1)
    assert np.delete(model.row_labels_, [3, 40]).tolist() == (
        estimator(5).fit(convert(kept)).row_labels_.tolist()
    )


def test_members_of_coclusters(blocks):
    model = AutoSpectralCoclustering(5).fit(blocks[0])
    assert model.rows_.shape == (model.n_clusters_, 60)
    assert model.get_shape(0) == (model.rows_[0].sum(), model.columns_[0].sum())


def test_a_number_that_fails_is_skipped_and_reported(blocks, monkeypatch):
    fit = SpectralCoclustering.fit

    def fit_unless_two(self, X):
        if self.n_clusters == 2:
            raise ValueError("not two")
        return fit(self, X)

    monkeypatch.setattr(SpectralCoclustering, "fit", fit_unless_two)
    model = AutoSpectralCoclustering(4).fit(blocks[0])
    assert model.failures_ == {2: "not two"}
    assert model.silhouettes_.keys() == {3, 4}


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (AutoKMeans, KMeans),
        (AutoSpectralCoclustering, SpectralCoclustering),
        (AutoSpectralBiclustering, SpectralBiclustering),
    ],
)
def test_raises_when_every_number_fails(estimator, method, monkeypatch):
    def fail(*_):
        raise ValueError("no")

    monkeypatch.setattr(method, "fit_predict" if method is KMeans else "fit", fail)
    with pytest.raises(ValueError, match="No number of clusters gave labels; with 2 clusters"):
        estimator(4).fit(np.ones((10, 4)))


def test_raises_when_all_rows_are_the_same():
    with pytest.raises(ValueError, match="No number of clusters gave labels"):
        AutoKMeans(4).fit(np.ones((10, 4)))


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_raises_when_nearly_all_is_empty(estimator):
    X = np.zeros((10, 4))
    X[:2] = 1
    with pytest.raises(ValueError, match="must not be all zero"):
        estimator().fit(X)


@pytest.mark.parametrize("estimator", EVERY)
def test_seeded_cloned_and_off_the_global_generator(blocks, estimator):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first = estimator(4, random_state=3)
    second = clone(first)
    name = "labels_" if estimator is AutoKMeans else "row_labels_"
    assert second.get_params() == {"max_clusters": 4, "sample_size": 10_000, "random_state": 3}
    assert np.array_equal(
        getattr(first.fit(blocks[0]), name), getattr(second.fit(blocks[0]), name)
    )
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


def test_silhouette_on_a_sample_chooses_alike():
    X, _ = make_blobs(300, 4, centers=3, random_state=0)
    assert AutoKMeans(6, sample_size=60).fit(X).n_clusters_ == 3


@pytest.mark.parametrize(("name", "value"), [("max_clusters", 1), ("sample_size", 2)])
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        AutoKMeans(**{name: value}).fit(np.eye(5))
