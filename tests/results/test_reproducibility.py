"""Clusters are found again in other parts of the data, or they are not."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from pyrocco import RCC, ROCCO, Reproducibility, reproducibility
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.results import reproducibility as module

COLUMNS = [
    "cluster",
    "size",
    "found_again_other_rows",
    "found_again_other_columns",
    "null",
    "p_value",
]


class FastCoClustering(BaseEstimator):
    """k-means on the rows and on the columns: fits in milliseconds."""

    def __init__(self, n_clusters=3, verbose=0):
        self.n_clusters = n_clusters
        self.verbose = verbose

    def fit(self, X):
        assert self.verbose == 0
        assert not np.isnan(X).any()
        self.row_labels_, self.column_labels_ = (
            KMeans(self.n_clusters, n_init=1, random_state=0).fit_predict(part)
            for part in (X, X.T)
        )
        return self


@pytest.fixture(scope="module")
def blocks():
    data = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0)
    model = ROCCO(n_jobs=1).fit(data.X)
    return data.X, model, reproducibility(model, data.X, n_repeats=3)


def measured(X, n_repeats=3, **parameters):
    return reproducibility(ROCCO(n_jobs=1, **parameters).fit(X), X, n_repeats=n_repeats)


def noise(seed, shape=(40, 30)):
    return np.random.default_rng(seed).normal(size=shape)


def fast(X, n_clusters=3):
    return FastCoClustering(n_clusters).fit(X)


def test_planted_blocks_are_found_again(blocks):
    _, model, found = blocks
    assert found.row_score > 0.95
    assert found.column_score > 0.95
    for table, labels in (
        (found.rows, model.row_labels_),
        (found.columns, model.column_labels_),
    ):
        assert list(table) == COLUMNS
        assert table["size"].tolist() == np.bincount(labels).tolist()
        assert table["found_again_other_rows"].min() > 0.9
        assert table["found_again_other_columns"].min() > 0.9
        assert table["p_value"].tolist() == [0.25] * len(table)
    assert found.scores["p_value"].tolist() == [0.25, 0.25]
    assert found.scores["null"].max() < 0.2


def test_the_summary_names_scores_and_clusters(blocks):
    found = blocks[2]
    assert repr(found) == "Reproducibility(row_score=1.00, column_score=1.00, n_repeats=3)"
    assert "The clusters of rows have a score of 1.00" in found.summary()
    assert "3 of 3 of them are found again" in found.summary()
    assert "if p <= 0.25" in found.summary()


def test_it_is_deterministic_and_does_not_depend_on_the_processes():
    X = noise(0)
    model, before = fast(X), X.copy()
    labels = model.row_labels_.copy()
    found = reproducibility(model, X, n_repeats=3)
    again = reproducibility(model, X, n_repeats=3, n_jobs=2)
    pd.testing.assert_frame_equal(again.rows, found.rows)
    pd.testing.assert_frame_equal(again.scores, found.scores)
    other = reproducibility(model, X, n_repeats=3, random_state=1)
    assert not other.scores.equals(found.scores)
    assert np.array_equal(model.row_labels_, labels)
    assert np.array_equal(X, before)


def test_the_order_of_rows_and_columns_does_not_matter(blocks):
    X, _, found = blocks
    rng = np.random.default_rng(1)
    shuffled = X[rng.permutation(60)][:, rng.permutation(40)]
    again = measured(shuffled)
    np.testing.assert_allclose(again.scores["score"], found.scores["score"], atol=0.05)
    assert again.rows["size"].tolist() == found.rows["size"].tolist()


def test_rows_and_columns_swap_with_the_transpose():
    X = make_noisy_biclusters((40, 30), 3, noise=5, random_state=1).X
    found = reproducibility(fast(X), X, n_repeats=4)
    swapped = reproducibility(fast(X.T), X.T, n_repeats=4)
    np.testing.assert_allclose(found.row_score, swapped.column_score, atol=0.1)
    assert found.rows["size"].tolist() == swapped.columns["size"].tolist()


def test_noise_cut_into_three_is_not_found_again():
    """The clusters are found anew in the null, so p-values are not small in noise."""
    scores, clusters = [], []
    for seed in range(8):
        X = noise(seed)
        found = reproducibility(fast(X), X, n_repeats=9, random_state=seed)
        scores += list(found.scores["p_value"])
        clusters += [*found.rows["p_value"], *found.columns["p_value"]]
    for p_values in (np.array(scores), np.array(clusters)):
        # A p-value of a single number that is uniform would be at most 0.2 in a fifth of them.
        assert np.mean(p_values <= 0.2) < 0.1
        assert 0.5 < np.mean(p_values) < 0.9
        assert np.std(p_values) > 0.05


@pytest.mark.slow
def test_noise_cut_into_three_by_rocco():
    """With four repeats, one in five p-values may be the smallest possible one, 0.2."""
    found = [measured(noise(seed, (30, 20)), 4, n_clusters=(3, 3)) for seed in range(3)]
    assert max(one.row_score for one in found) < 0.2
    p_values = np.concatenate([one.scores["p_value"] for one in found])
    assert np.median(p_values) > 0.25
    clusters = np.concatenate([one.rows["p_value"] for one in found])
    assert np.median(clusters) > 0.4


def test_one_real_cluster_among_noise_is_told_from_the_others():
    X = noise(3, (60, 40))
    X[:15] += 4 * np.sign(noise(4, (1, 40)))
    model = fast(X)
    table = reproducibility(model, X, n_repeats=9).rows
    real = model.row_labels_[0]
    assert (model.row_labels_ == real).sum() == 15
    assert table["found_again_other_columns"][real] > 0.9
    assert table["p_value"][real] == pytest.approx(0.1)
    assert table["p_value"].drop(real).min() > 0.2


def test_one_cluster_has_nothing_to_find_again():
    found = reproducibility(fast(noise(0), 1), noise(0), n_repeats=2)
    assert found.row_score == 0
    assert found.rows["p_value"].tolist() == [1.0]
    assert "There is one cluster of rows, so there is nothing to find again." in found.summary()


def test_without_matrices_without_structure_there_are_scores_but_no_p_values():
    X = noise(0)
    found = reproducibility(fast(X), X, n_repeats=3, n_null=0)
    same = reproducibility(fast(X), X, n_repeats=3, n_null=1)
    assert found.row_score == same.row_score
    assert found.rows["p_value"].isna().all()
    assert found.scores["p_value"].isna().all()
    assert found.summary().startswith(f"The clusters of rows have a score of {same.row_score:.2f}")
    assert found.to_dict()["rows"][0]["p_value"] is None


def test_missing_values():
    X = make_noisy_biclusters((60, 40), 3, noise=5, random_state=0).X
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    found = measured(X, n_repeats=2)
    assert found.row_score > 0.9
    assert found.scores["null"].max() < 0.5


def test_sparse_counts():
    rates = np.kron(1.5 * np.eye(3) + 0.1, np.ones((20, 15)))
    X = np.random.default_rng(0).poisson(rates).astype(float)
    found = measured(sparse.csr_array(X), n_repeats=2)
    assert found.row_score > 0.9
    assert found.rows["p_value"].tolist() == pytest.approx([1 / 3] * 3)


def test_refits_are_prepared_as_the_model():
    # Scaled columns: halves of the rows do not look scaled, and need not be.
    X = make_noisy_biclusters((40, 30), 2, noise=5, random_state=0).X
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    copy = module._unfitted(ROCCO(n_jobs=1).fit(X), 1)
    assert "already have mean 0" in copy.fit(5 + 100 * X[::2]).preparation_
    # Halves of counts may look like rare answers; each side is prepared by itself.
    counts = np.random.default_rng(0).poisson(0.3, (30, 40)).astype(float)
    model = ROCCO(n_jobs=1).fit(counts)
    assert model.found_cells_.each_side
    copy = module._unfitted(model, 1).fit(counts)
    assert copy.found_cells_ == model.found_cells_
    assert module._unfitted(model, 1).fit(np.minimum(counts, 1)).cells_ == "counts"
    np.testing.assert_array_equal(copy.representation_, model.representation_)
    assert module._unfitted(fast(X), 1).get_params() == {"n_clusters": 3, "verbose": 0}


def test_data_frames_and_other_models():
    X = make_noisy_biclusters((30, 20), 2, noise=5, random_state=0).X
    found = reproducibility(fast(X, 2), pd.DataFrame(X), n_repeats=2)
    assert isinstance(found, Reproducibility)
    assert found.row_score > 0.9


@pytest.mark.parametrize("side", [0, 1])
def test_permuted_values_keep_margins_and_missing_values(side):
    X = noise(0, (30, 20))
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    permuted = module._permuted(X, side, np.random.default_rng(2))
    assert (np.isnan(permuted) == np.isnan(X)).all()
    np.testing.assert_array_equal(np.sort(permuted, axis=side), np.sort(X, axis=side))
    assert np.nanmean(permuted == X) < 0.2


@pytest.mark.parametrize("side", [0, 1])
def test_permuted_sparse_values_keep_their_column_or_row(side):
    X = sparse.csr_array(sparse.random(50, 30, 0.2, random_state=0))
    permuted = module._permuted(X, side, np.random.default_rng(2))
    assert permuted.format == "csr"
    ordered = [np.sort(each.toarray(), axis=side) for each in (X, permuted)]
    np.testing.assert_array_equal(*ordered)
    assert (permuted.toarray() != X.toarray()).mean() > 0.1


def test_all_places_are_equally_likely():
    X = np.arange(6.0)[:, None]
    rng = np.random.default_rng(0)
    places = np.mean([module._permuted(X, 0, rng)[:, 0] == 5 for _ in range(1200)], axis=0)
    np.testing.assert_allclose(places, 1 / 6, atol=0.05)


def test_overlaps_are_corrected_for_chance():
    labels = np.repeat([0, 1], [90, 10])
    random = np.random.default_rng(0).permutation(labels)
    assert module._best_overlaps(labels, labels, 2).tolist() == [1.0, 1.0]
    assert module._best_overlaps(labels, random, 2).max() < 0.2
    assert module._best_overlaps(labels, np.zeros(100, int), 2).tolist() == [0.0, 0.0]
    assert np.isnan(module._best_overlaps(labels, labels, 3)[2])


def test_large_matrices_are_sampled(monkeypatch):
    X = make_noisy_biclusters((200, 150), 3, noise=5, random_state=0).X
    model = fast(X)
    sizes = []
    fit = module._fit

    def recorded(model, X):
        sizes.append(X.shape)
        return fit(model, X)

    monkeypatch.setattr(module, "_fit", recorded)
    monkeypatch.setattr(module, "MOST", 60)
    assert reproducibility(model, X, n_repeats=2).row_score > 0.9
    assert max(sizes) == (60, 60)
    assert min(sizes) == (30, 60)
    rows, columns = module._sample((20, 10_000), np.random.default_rng(0))
    assert (len(rows), len(columns)) == (20, 180)


def test_the_observer_follows_the_repeats():
    class Recorder:
        def __init__(self):
            self.said = []

        def begin(self, stage, steps):
            self.said.append(stage)

        def end(self, stage):
            self.said.append("end")

        def iteration(self, record):
            raise AssertionError("a repeat is not an iteration")

    recorder = Recorder()
    reproducibility(fast(noise(0)), noise(0), n_repeats=2, n_null=1, observer=recorder)
    assert recorder.said == [
        "reproducibility",
        "split 1 of 2",
        "end",
        "split 2 of 2",
        "end",
        "split without structure 1 of 1",
        "end",
        "end",
    ]


def test_errors_say_what_to_do(blocks):
    X, model, _ = blocks
    with pytest.raises(ValueError, match="n_repeats must be an integer of at least 1; got 0"):
        reproducibility(model, X, n_repeats=0)
    with pytest.raises(ValueError, match="60 x 40 cells, but this matrix has 59 x 40"):
        reproducibility(model, X[1:])
    with pytest.raises(ValueError, match="at least 4 rows and 4 columns"):
        reproducibility(fast(noise(0, (3, 9)), 1), noise(0, (3, 9)))
    with pytest.raises(ValueError, match=r"Half of the rows cannot be fitted: .*n_samples=20"):
        reproducibility(fast(noise(0), 25), noise(0))
    with pytest.raises(TypeError, match="RCC clusters only the rows"):
        reproducibility(RCC().fit(X), X)
    with pytest.raises(NotImplementedError, match="not Dask arrays: fit a sample of the rows"):
        reproducibility(model, da.from_array(X))
    with pytest.raises(ValueError, match="n_jobs must be None"):
        reproducibility(model, X, n_jobs=0)
