"""Planted matrices and their references."""

import numpy as np
import pytest
from benchmarks.collection.planted import (
    CASES,
    NOISES,
    Counts,
    FewColumns,
    LogNormal,
    Noise,
    Ratings,
    ScaledColumns,
    SparseYesNo,
    YesNo,
)
from benchmarks.collection.reference import Bernoulli, Labels, em_steps, hard_em
from sklearn.metrics import adjusted_rand_score

# The same families, with blocks that cannot be mistaken.
EASY = (
    Counts(base=5, factor=4, shape=(100, 80), n_clusters=(3, 3)),
    SparseYesNo(inside=0.8, outside=0.1, shape=(60, 50), n_clusters=(3, 3)),
    ScaledColumns(noise=0.2, shape=(60, 50)),
    LogNormal(noise=0.2, shape=(60, 50)),
    Ratings(missing=0.3, noise=0.5, effects=0.5, shape=(80, 80), n_clusters=(3, 3)),
    FewColumns(informative=60, strength=6, shape=(60, 100)),
)


def a_name(source):
    return source.name


@pytest.mark.parametrize("source", [*CASES, *NOISES], ids=a_name)
def test_every_seed_gives_its_own_matrix(source):
    data, again, other = source.load(0), source.load(0), source.load(1)
    assert data.X.shape == (len(data.row_labels), len(data.column_labels))
    assert np.array_equal(data.X, again.X, equal_nan=True)
    assert not np.array_equal(data.X, other.X, equal_nan=True)


@pytest.mark.parametrize("source", CASES, ids=a_name)
def test_no_step_of_a_reference_lowers_the_likelihood(source):
    data = source.load(0)
    X, start = source.family_values(data.X), _disturbed(source, data)
    steps = list(em_steps(X, start, source.family))
    likelihoods = [source.family.log_likelihood(X, s.labels, s.fitted) for s in steps]
    assert len(likelihoods) > 2
    assert (np.diff(likelihoods) > -1e-6 * np.abs(likelihoods[0])).all()
    assert likelihoods[-1] > likelihoods[0]


@pytest.mark.parametrize("source", EASY, ids=a_name)
def test_references_repair_disturbed_labels_of_easy_blocks(source):
    data = source.load(1)
    start = _disturbed(source, data)
    found = hard_em(source.family_values(data.X), start, source.family)
    before = adjusted_rand_score(data.row_labels, start.rows)
    assert before < 0.8
    assert adjusted_rand_score(data.row_labels, found.rows) > 0.97
    assert adjusted_rand_score(data.column_labels, found.columns) > 0.9


def _disturbed(source, data):
    """Replace a fifth of the true labels of both sides by random ones."""
    rng = np.random.default_rng(7)
    sides = zip((data.row_labels, data.column_labels), source.n_clusters, strict=True)
    rows, columns = (
        np.where(rng.random(len(labels)) < 0.2, rng.integers(k, size=len(labels)), labels)
        for labels, k in sides
    )
    return Labels(rows, columns, source.n_clusters)


@pytest.mark.parametrize(
    ("source", "low", "high"),
    [(CASES[1], 0.93, 0.99), (CASES[2], 0.5, 0.7), (YesNo(0.3, 0.7), 0.4, 0.8)],
    ids=str,
)
def test_references_of_hard_blocks_are_not_perfect(source, low, high):
    # Rows whose values speak for another cluster are moved, although the start is the truth.
    data = source.load(0)
    score = adjusted_rand_score(data.row_labels, source.reference(data).rows)
    assert low < score < high


def test_an_empty_cluster_stays_empty():
    X = np.eye(2)[np.arange(12) % 2][:, np.arange(10) % 2]
    start = Labels(np.arange(12) % 2, np.arange(10) % 2, (3, 3))
    found = hard_em(X, start, Bernoulli())
    assert np.array_equal(found.rows, start.rows)
    assert np.array_equal(found.columns, start.columns)


def test_cells_are_of_the_kind_that_their_case_says():
    ratings = Ratings().load(0).X
    assert set(np.unique(ratings[~np.isnan(ratings)])) == {1, 2, 3, 4, 5}
    assert 0.84 < np.isnan(ratings).mean() < 0.86
    assert set(np.unique(YesNo(0.1, 0.9).load(0).X)) == {0, 1}
    sparse = SparseYesNo().load(0)
    same = sparse.row_labels[:, None] == sparse.column_labels
    assert abs(sparse.X[same].mean() - 0.10) < 0.01
    assert abs(sparse.X[~same].mean() - 0.02) < 0.002
    counts = Counts(5, 1.3).load(0)
    same = counts.row_labels[:, None] == counts.column_labels
    assert 1.1 < counts.X[same].mean() / counts.X[~same].mean() < 1.5
    few = FewColumns().load(0)
    assert np.bincount(few.column_labels).tolist() == [480, 5, 5, 5, 5]
    scales = ScaledColumns().load(0).X.std(axis=0)
    assert 1.2 < np.log(scales).std() < 1.8
    assert LogNormal().load(0).X.min() > 0


def test_noise_has_one_cluster_on_each_side():
    data = Noise("Poisson, row and column effects").load(0)
    assert data.X.shape == (200, 100)
    assert not data.row_labels.any()
    assert not data.column_labels.any()
    assert data.X.mean(axis=1).std() > 0.5
