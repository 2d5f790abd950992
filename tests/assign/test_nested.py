"""Nested clusters: every coarser cut is made of whole clusters of every finer one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score

from pyrocco.assign import relabel
from pyrocco.assign.features import leading_features, sketched_features
from pyrocco.assign.nested import (
    FINEST,
    LEAST_ROWS,
    NestedClusters,
    NestedSide,
    split_clusters,
)


def is_nested(coarse, fine):
    """Whether rows together in `fine` are together in `coarse`."""
    pairs = np.unique(np.stack([fine, coarse]), axis=1)
    return len(pairs.T) == fine.max() + 1


@st.composite
def fitted_sides(draw):
    """Random features, some of them repeated, and any labels."""
    n = draw(st.integers(2, 120))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    features = rng.standard_normal((draw(st.integers(1, n)), draw(st.integers(1, 5))))
    features = features[rng.integers(0, len(features), n)]
    features = features.astype(draw(st.sampled_from([np.float32, np.float64])))
    return features, relabel(rng.integers(0, draw(st.integers(1, 12)), n))


@given(fitted_sides())
@settings(max_examples=60)
def test_cuts_are_nested_and_pass_through_the_fit(side):
    features, labels = side
    tree = NestedSide.build(features, labels)
    cuts = [tree.cut(k) for k in range(1, tree.n_finest + 1)]
    for k, cut in enumerate(cuts, 1):
        sizes = np.bincount(cut)
        assert len(sizes) == k
        assert (np.diff(sizes) <= 0).all()
    assert all(is_nested(cuts[k], cuts[k + 1]) for k in range(len(cuts) - 1))
    np.testing.assert_array_equal(tree.cut(tree.n_fitted), labels)


@given(fitted_sides(), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_the_cut_of_the_fit_keeps_its_numbers(side, random):
    """Clusters of equal size, or of rows with weights, are not numbered by size alone."""
    features, labels = side
    numbers = list(range(labels.max() + 1))
    random.shuffle(numbers)
    labels = np.array(numbers)[labels]
    tree = NestedSide.build(features, labels)
    np.testing.assert_array_equal(tree.cut(tree.n_fitted), labels)


@given(fitted_sides())
def test_heights_never_decrease_towards_the_root(side):
    tree = NestedSide.build(*side)
    tops = dict.fromkeys(range(tree.n_finest), 0.0)
    for height, (kept, gone) in zip(tree.heights, tree.merges.tolist(), strict=True):
        assert height >= max(tops[kept], tops.pop(gone))
        tops[kept] = height
    assert len(tops) == 1


@given(st.integers(2, 40), st.integers(0, 10_000))
@settings(max_examples=10)
def test_merges_are_those_of_ward(n, seed):
    features = np.random.default_rng(seed).standard_normal((n, 3))
    tree = NestedSide.build(features, np.arange(n))
    expected = linkage(features, "ward")
    np.testing.assert_allclose(tree.heights, expected[:, 2])
    for k in range(1, n):
        assert adjusted_rand_score(tree.cut(k), fcluster(expected, k, "maxclust")) == 1.0


@given(fitted_sides())
def test_parts_lie_in_one_cluster_and_are_large_enough(side):
    features, labels = side
    parts = split_clusters(features, labels)
    assert is_nested(labels, parts)
    owners = labels[np.unique(parts, return_index=True)[1]]
    least = np.minimum(LEAST_ROWS, np.bincount(labels)[owners])
    assert (np.bincount(parts) >= least).all()


def test_parts_are_many_for_many_rows_and_none_for_one_row_repeated():
    rng = np.random.default_rng(0)
    parts = split_clusters(rng.standard_normal((3000, 4)), np.zeros(3000, dtype=int))
    assert FINEST / 2 < parts.max() + 1 <= FINEST
    assert split_clusters(np.ones((50, 4)), np.zeros(50, dtype=int)).max() == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sketched_features_are_the_leading_ones_for_few_rows(dtype):
    U = np.random.default_rng(0).standard_normal((40, 60)).astype(dtype)
    exact, sketched = leading_features(U, 5), sketched_features(U, 5)
    assert sketched.dtype == dtype
    np.testing.assert_allclose(sketched @ sketched.T, exact @ exact.T, atol=1e-3)


def test_sketched_features_tell_many_rows_apart():
    rng = np.random.default_rng(0)
    centres, labels = rng.standard_normal((8, 50)), rng.integers(0, 8, 3000)
    U = centres[labels] + 0.5 * rng.standard_normal((3000, 50))
    features = sketched_features(U, 8)
    means = np.stack([features[labels == k].mean(axis=0) for k in range(8)])
    nearest = (features @ means.T).argmax(axis=1)
    assert (nearest == labels).mean() > 0.98


def test_families_of_clusters_are_merged_first_and_hidden_clusters_split_first():
    """Two families of three clusters each: found from six clusters, and six found from two."""
    rng = np.random.default_rng(0)
    family, member = np.repeat([0, 1], 60), np.repeat(np.arange(6), 20)
    centres = 3 * rng.standard_normal((2, 90))[[0, 0, 0, 1, 1, 1]] + rng.standard_normal((6, 90))
    U = centres[member] + 0.2 * rng.standard_normal((120, 90))
    columns = np.zeros(90, dtype=int)
    from_six = NestedClusters.build(U, member, columns).rows
    assert adjusted_rand_score(from_six.cut(2), family) == 1.0
    from_two = NestedClusters.build(U, family, columns).rows
    assert adjusted_rand_score(from_two.cut(6), member) == 1.0


@given(st.integers(0, 10_000), st.integers(20, 60), st.integers(1, 5))
@settings(max_examples=12)
def test_neither_order_nor_orientation_nor_unit_matters(seed, n, k):
    rng = np.random.default_rng(seed)
    U, labels = rng.standard_normal((n, 30)), (np.arange(n) % k, np.arange(30) % 2)
    rows, columns = rng.permutation(n), rng.permutation(30)
    transposed = (-1e-9 * U[rows][:, columns]).T
    tree = NestedClusters.build(U, *labels)
    other = NestedClusters.build(transposed, labels[1][columns], labels[0][rows])
    for number in range(1, tree.rows.n_finest + 1):
        expected = tree.rows.cut(number)[rows]
        assert adjusted_rand_score(expected, other.columns.cut(number)) == 1.0


def test_the_old_name_of_the_finest_clusters_still_works():
    side = NestedSide.build(np.arange(8.0)[:, None], np.zeros(8, dtype=int))
    with pytest.warns(FutureWarning, match="Use finest instead"):
        assert side.leaves is side.finest
