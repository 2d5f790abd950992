"""k-means with K by the silhouette, and silhouettes compared with scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from pyrocco.assign import SilhouetteKMeans
from pyrocco.assign.gram_kmeans import GramKMeans
from pyrocco.assign.kmeans import MergeTree, SampledRows, lloyd, silhouettes
from pyrocco.assign.labels import relabel


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(np.repeat([0.0, 4.0, 9.0], 20)[:, None], 1.0, (60, 8))


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_a_wide_matrix_is_labelled_as_the_narrow_one_it_is_a_rotation_of(rows, n_clusters):
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((500, 8)))[0].T
    narrow = SilhouetteKMeans(0).assign(rows, n_clusters)
    wide = SilhouetteKMeans(0).assign(rows @ rotation, n_clusters)
    np.testing.assert_array_equal(wide, narrow)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.sampled_from([np.float64, np.float32]))
def test_kmeans_on_inner_products_has_the_labels_of_scikit_learn(seed, k, dtype):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(60, 200)) + 3 * random.normal(size=(5, 200))[np.arange(60) % 5]
    rows = (rows + 10).astype(dtype)
    expected = KMeans(k, n_init=3, random_state=seed).fit(rows)
    found = GramKMeans.of(rows).labels(k, 3, seed)
    np.testing.assert_array_equal(relabel(found), relabel(expected.labels_))


def test_the_generator_of_kmeans_is_left_where_scikit_learn_leaves_it(rows):
    ours, theirs = np.random.RandomState(3), np.random.RandomState(3)
    GramKMeans.of(rows).labels(4, 2, ours)
    KMeans(4, n_init=2, random_state=theirs).fit(rows)
    assert ours.randint(10**9) == theirs.randint(10**9)


def test_an_empty_cluster_of_inner_products_takes_the_farthest_row():
    """Both starts are equal, so that the second cluster has no rows at first."""
    rows = np.array([[0.0], [0.0], [1.0], [9.0]]) @ np.ones((1, 30))
    labels, inertia = GramKMeans.of(rows)._run(np.array([0, 1]))
    assert labels.tolist() == [0, 0, 0, 1]
    assert inertia == pytest.approx(30 * 2 / 3)


@pytest.mark.parametrize("shape", [(60, 8), (60, 400)])
def test_wide_and_narrow_rows_have_the_labels_of_scikit_learn(shape):
    rows = np.random.default_rng(4).normal(size=shape)
    expected = KMeans(7, n_init=10, random_state=0).fit_predict(rows)
    np.testing.assert_array_equal(SilhouetteKMeans(0).assign(rows, 7), relabel(expected))


def test_equal_rows_of_a_wide_matrix_make_no_clusters_of_their_own():
    two = np.random.default_rng(2).standard_normal((2, 400))
    assert SilhouetteKMeans(0).assign(np.repeat(two, 10, axis=0), 9).max() == 1


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 60), st.booleans())
def test_each_silhouette_is_that_of_scikit_learn(seed, n, is_sparse):
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


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_silhouettes_of_other_metrics_are_those_of_scikit_learn(metric, form):
    random = np.random.RandomState(0)
    X = random.poisson(1.0, (50, 6)) + 0.5 * np.eye(50, 6)
    labellings = [random.randint(k, size=50) for k in (2, 3, 5)]
    expected = [silhouette_score(X, each, metric=metric) for each in labellings]
    np.testing.assert_allclose(silhouettes(form(X), labellings, metric=metric), expected)


def test_rows_of_zeros_are_at_cosine_distance_zero_from_each_other():
    X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert silhouettes(X, [[0, 0, 1, 1]], metric="cosine")[0] == pytest.approx(1.0)


def test_the_metric_of_the_silhouette_chooses_the_number_of_clusters():
    """Four lengths of two directions."""
    random, lengths = np.random.default_rng(0), np.repeat([1.0, 100.0], 20)
    directions = np.repeat(np.eye(2), 40, axis=0)
    rows = np.tile(lengths, 2)[:, None] * directions + random.normal(0, 0.05, (80, 2))
    numbers = [SilhouetteKMeans(0, metric=metric).assign(rows, None).max() + 1
               for metric in ("euclidean", "cosine")]  # fmt: skip
    assert numbers == [3, 2]


def test_a_sample_is_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(300, 4))
    labels = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
    expected = silhouette_score(X, labels, sample_size=50, random_state=0)
    assert silhouettes(X, [labels], 50)[0] == pytest.approx(expected)


@pytest.mark.parametrize("labels", [np.zeros(6, int), np.arange(6)])
def test_one_cluster_and_clusters_of_one_have_none(labels):
    assert np.isnan(silhouettes(np.eye(6), [labels, np.arange(6) % 2])).tolist() == [True, False]


def test_chunks_of_distances_do_not_change_it():
    X, labels = np.random.default_rng(1).normal(size=(400, 3)), np.arange(400) % 3
    with config_context(working_memory=0.05):
        in_chunks = silhouettes(X, [labels])
    np.testing.assert_allclose(in_chunks, silhouettes(X, [labels]))


def test_a_sample_of_one_cluster_still_gives_labels():
    """Two rows far away, neither of them in the sample of three."""
    sample = np.random.RandomState(0).permutation(30)[:3]
    away = [row for row in range(30) if row not in sample][:2]
    U = np.zeros((30, 2))
    U[away] = 9.0
    labels = SilhouetteKMeans(sample_size=3).assign(U, None)
    assert sorted(np.bincount(labels).tolist()) == [2, 28]


def test_lloyd_moves_centres_to_the_means_of_their_rows():
    rows = np.array([[0.0], [1.0], [9.0]])
    assert lloyd(rows, np.array([[0.0], [2.0]])).tolist() == [0, 0, 1]


def test_an_empty_cluster_restarts_at_the_farthest_row():
    rows = np.array([[0.0], [1.0], [9.0]])
    assert sorted(np.bincount(lloyd(rows, np.array([[0.0], [50.0]])))) == [1, 2]


def test_cuts_of_ward_s_tree_are_nested():
    tree = MergeTree(pdist(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])), "ward")
    sizes = [sorted(np.bincount(tree.cut(k)).tolist()) for k in (1, 2, 3)]
    assert sizes == [[6], [3, 3], [1, 2, 3]]


@pytest.mark.parametrize("method", ["ward", "average", "single"])
def test_cuts_are_those_of_scipy(method):
    distances = pdist(np.random.default_rng(0).normal(size=(40, 3)))
    merges = linkage(distances, method)
    tree = MergeTree(distances, method)
    for k in (1, 2, 5, 17, 40):
        expected = fcluster(merges, k, "maxclust")
        assert adjusted_rand_score(tree.cut(k), expected) == 1.0


def test_a_sample_is_in_the_order_of_the_first_feature():
    features = np.array([[0.0], [5.0], [0.1], [5.1]])
    sample = SampledRows.draw(features, 4, np.random.RandomState(0))
    assert sample.index.tolist() == [0, 2, 1, 3]
    assert sample.partition(2).tolist() == [1, 1, 0, 0]
