import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_biclusters
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from pyrocco import ROCCO

VARIANTS = ("refined", "paper")


@parametrize_with_checks([ROCCO()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The literal stopping rule has a unit, and some of the checks' matrices never meet it. With K
# given they are spared the paper's k-means for every K of 2 to 20, which they do not test.
# (Without it two checks of weights compare numbers of clusters of equal size, which go by the
# order of the rows.)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([ROCCO(2, variant="paper", max_iter=30)])
def test_scikit_learn_checks_of_the_paper_variant(estimator, check):
    check(estimator)


@pytest.mark.parametrize("variant", VARIANTS)
def test_finds_planted_biclusters(variant, planted):
    X, rows, columns = planted
    model = ROCCO(variant=variant).fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) == 1.0
    assert adjusted_rand_score(columns, model.column_labels_) == 1.0
    assert (model.n_row_clusters_, model.n_column_clusters_) == (3, 3)
    assert model.converged_


@pytest.mark.parametrize("seed", range(4))
def test_default_is_more_robust_to_noise_than_the_paper(seed):
    X, rows, _ = make_biclusters((100, 100), 5, noise=30, random_state=1000 + seed)
    truth = rows.argmax(axis=0)
    refined, paper = (ROCCO(variant=v).fit(X).row_labels_ for v in VARIANTS)
    assert adjusted_rand_score(truth, refined) >= 0.75
    assert adjusted_rand_score(truth, refined) >= adjusted_rand_score(truth, paper) - 0.1


@pytest.mark.slow
def test_classic3_reaches_the_papers_figure(real_data):
    data = real_data("classic3")
    model = ROCCO(n_clusters=3).fit(data.X)
    assert normalized_mutual_info_score(data.row_labels, model.row_labels_) >= 0.915


def test_attributes_agree_with_each_other(planted):
    X, _, _ = planted
    model = ROCCO().fit(X)
    np.testing.assert_array_equal(model.labels_, model.row_labels_)
    assert model.representation_.shape == X.shape
    assert model.rows_.shape == (9, 60)
    assert model.columns_.shape == (9, 40)
    for index in range(9):
        r, c = divmod(index, 3)
        rows, columns = model.get_indices(index)
        np.testing.assert_array_equal(rows, np.flatnonzero(model.row_labels_ == r))
        np.testing.assert_array_equal(columns, np.flatnonzero(model.column_labels_ == c))
        mean = X[np.ix_(rows, columns)].mean()
        assert model.block_means_[r, c] == pytest.approx(mean)
    assert len(model.biclusters_) == 2
    for side in ("row", "column"):
        membership = getattr(model, f"{side}_membership_")
        stability = getattr(model, f"{side}_stability_")
        assert membership.min() > 0.99
        assert stability == pytest.approx(np.ones(3), abs=0.01)
    assert (np.diff(np.bincount(model.row_labels_)) <= 0).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("n_clusters", "expected"), [(4, (4, 4)), ((2, 5), (2, 5)), ((1, 3), (1, 3))]
)
def test_numbers_of_clusters_can_be_fixed(variant, n_clusters, expected, planted):
    model = ROCCO(n_clusters=n_clusters, variant=variant).fit(planted[0])
    assert (model.n_row_clusters_, model.n_column_clusters_) == expected


def test_one_side_can_be_fixed(planted):
    model = ROCCO(n_clusters=(2, None)).fit(planted[0])
    assert (model.n_row_clusters_, model.n_column_clusters_) == (2, 3)


def test_the_sample_size_is_recorded():
    X = np.kron(np.eye(3), np.ones((12, 9)))
    assert ROCCO().fit(X).assigner_.sample_size >= 1000
    assert ROCCO(variant="paper").fit(X).assigner_.assigner.sample_size >= 1000


@pytest.mark.parametrize("variant", VARIANTS)
def test_dense_equals_csr(variant):
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((10, 8))) * rng.random((30, 24))
    expected = ROCCO(variant=variant).fit(X)
    for to in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
        model = ROCCO(variant=variant).fit(to(X))
        np.testing.assert_array_equal(model.row_labels_, expected.row_labels_)
        np.testing.assert_array_equal(model.column_labels_, expected.column_labels_)
        np.testing.assert_allclose(model.block_means_, expected.block_means_)


@pytest.mark.parametrize("variant", VARIANTS)
def test_float32_is_preserved_and_agrees_with_float64(variant, planted):
    X, _, _ = planted
    single = ROCCO(variant=variant).fit(X.astype(np.float32))
    assert single.representation_.dtype == np.float32
    double = ROCCO(variant=variant).fit(X)
    np.testing.assert_array_equal(single.row_labels_, double.row_labels_)


def test_data_frames(planted):
    X, _, _ = planted
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])
    model = ROCCO().fit(frame)
    assert model.feature_names_in_[3] == "gene3"
    np.testing.assert_array_equal(model.row_labels_, ROCCO().fit(X).row_labels_)


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_side_effects(variant, planted):
    X, _, _ = planted
    before, state = X.copy(), np.random.mtrand._rand.get_state()[1].copy()
    ROCCO(variant=variant, random_state=None).fit(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(np.random.mtrand._rand.get_state()[1], state)
    csr = sparse.csr_array(X)
    ROCCO(variant=variant).fit(csr)
    np.testing.assert_array_equal(csr.toarray(), before)


def test_iteration_cap_warns(planted):
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        model = ROCCO(variant="paper", max_iter=3).fit(planted[0])
    assert (model.n_iter_, model.converged_) == (3, False)


@pytest.mark.parametrize(
    ("shape", "fill"),
    [((1, 5), 1.0), ((5, 1), 2.0), ((2, 2), 0.0), ((6, 4), 3.0), ((30, 20), 0.0)],
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_degenerate_matrices_are_one_cluster(shape, fill, variant):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ROCCO(variant=variant).fit(np.full(shape, fill))
    assert (model.n_row_clusters_, model.n_column_clusters_) == (1, 1)


def test_zero_rows_and_columns_are_handled(planted):
    X, rows, _ = planted
    X = np.pad(X, ((0, 3), (0, 2)))
    model = ROCCO().fit(X)
    assert adjusted_rand_score(rows, model.row_labels_[:60]) == 1.0


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_clusters": 0},
        {"n_clusters": 61},
        {"n_clusters": (2, 3, 4)},
        {"n_clusters": (2, 41)},
        {"n_neighbors": 0},
        {"n_neighbors": 2.5},
        {"metric": "hamming"},
        {"variant": "fast"},
        {"solver": "magic"},
        {"max_iter": 0},
        {"random_state": "seed"},
    ],
)
def test_bad_parameters_are_named(arguments, planted):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        ROCCO(**arguments).fit(planted[0])


def test_infinite_values_are_refused(planted):
    X = planted[0].copy()
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        ROCCO().fit(X)


def test_verbose_goes_to_stderr(planted, capsys):
    ROCCO(variant="paper", verbose=2).fit(planted[0])
    out, err = capsys.readouterr()
    assert out == ""
    assert "graph of rows" in err
    assert "iteration 1: objective" in err
    ROCCO().fit(planted[0])
    assert capsys.readouterr().err == ""


def test_rows_need_a_fit():
    with pytest.raises(AttributeError):
        _ = clone(ROCCO()).row_labels_
