import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_biclusters
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from pyrocco import COBRAr
from pyrocco.convex import ConvexProblem, gaussian_knn_graph, solve
from pyrocco.estimators.cobra import COBRA


@parametrize_with_checks([COBRA(), COBRAr()])
def test_scikit_learn_checks(estimator, check):
    if isinstance(estimator, COBRAr) and "sparse" in check.func.__name__:
        pytest.skip(
            "takes a minute of k-means; the same check of COBRA and test_mostly_zero_data cover it"
        )
    check(estimator)


def unit(X):
    X = X - X.mean()
    return X / np.linalg.norm(X)


@pytest.mark.parametrize("method", [COBRA, COBRAr])
def test_finds_planted_biclusters(method, planted):
    X, rows, columns = planted
    model = method().fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) == 1.0
    assert adjusted_rand_score(columns, model.column_labels_) == 1.0
    assert model.converged_


@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_found_under_the_noise_of_the_paper(seed):
    X, rows, _ = make_biclusters((100, 100), 5, noise=20, random_state=seed)
    assert adjusted_rand_score(rows.argmax(axis=0), COBRA().fit(X).row_labels_) >= 0.6


def test_attributes_agree_with_each_other(planted):
    X, _, _ = planted
    model = COBRA().fit(X)
    np.testing.assert_array_equal(model.labels_, model.row_labels_)
    assert model.representation_.shape == X.shape
    assert model.rows_.shape == (9, 60)
    assert model.columns_.shape == (9, 40)
    assert len(model.gammas_) == len(model.validation_errors_) == 13
    assert model.gamma_ in model.gammas_
    assert 0 <= model.duality_gap_ <= 1e-8 * 0.5
    for index in range(9):
        rows, columns = model.get_indices(index)
        mean = X[np.ix_(rows, columns)].mean()
        assert model.block_means_.ravel()[index] == pytest.approx(mean)
    assert (np.diff(np.bincount(model.row_labels_)) <= 0).all()


def test_a_given_gamma_acts_on_centred_data_of_unit_norm(planted):
    X = unit(planted[0])
    problem = ConvexProblem(X, gaussian_knn_graph(X), gaussian_knn_graph(X.T))
    expected = solve(problem, 2.0)
    for data, standardize in ((X, True), (X, False), (5 * X + 3, True)):
        model = COBRA(gamma=2.0, standardize=standardize).fit(data)
        assert model.objective_ == pytest.approx(expected.objective, rel=1e-9)
        assert not hasattr(model, "validation_errors_")


def test_without_standardizing_gamma_acts_on_the_data_as_it_is(planted):
    X = unit(planted[0]) * 10
    problem = ConvexProblem(X, gaussian_knn_graph(X), gaussian_knn_graph(X.T))
    model = COBRA(gamma=20.0, standardize=False).fit(X)
    assert model.objective_ == pytest.approx(solve(problem, 20.0).objective)
    np.testing.assert_allclose(model.row_graph_.weights, problem.rows.weights)


@pytest.mark.parametrize("method", [COBRA, COBRAr])
@pytest.mark.parametrize(("scale", "shift"), [(1e-9, 0.0), (1e9, 0.0), (3.0, 100.0)])
def test_units_do_not_matter(method, scale, shift):
    X, _, _ = make_biclusters((40, 30), 3, noise=20, random_state=1)
    model, other = method().fit(X), method().fit(X * scale + shift)
    np.testing.assert_array_equal(model.row_labels_, other.row_labels_)
    np.testing.assert_array_equal(model.column_labels_, other.column_labels_)
    assert model.gamma_ == other.gamma_
    expected = model.representation_ * scale + shift
    np.testing.assert_allclose(other.representation_, expected, rtol=1e-6, atol=1e-6 * scale)


def test_order_of_rows_and_columns_does_not_matter(planted):
    X = planted[0]
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(60), rng.permutation(40)
    model = COBRA(gamma=10.0).fit(X)
    other = COBRA(gamma=10.0).fit(X[rows][:, columns])
    expected = model.representation_[rows][:, columns]
    np.testing.assert_allclose(other.representation_, expected, atol=1e-3)
    assert adjusted_rand_score(model.row_labels_[rows], other.row_labels_) == 1.0


def test_missing_values(planted):
    X, rows, columns = planted
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = COBRA().fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) == 1.0
    assert adjusted_rand_score(columns, model.column_labels_) == 1.0
    assert np.isfinite(model.representation_).all()
    # A missing value takes the value of its block.
    seen = np.abs(np.where(np.isnan(X), 0, X - model.representation_)).max()
    filled = planted[0][np.isnan(X)] - model.representation_[np.isnan(X)]
    assert np.abs(filled).max() < 1.5 * seen


def test_a_block_without_values_has_no_mean(planted):
    X, rows, columns = planted
    X = X.copy()
    X[np.ix_(rows == 0, columns == 0)] = np.nan
    model = COBRA(gamma=10.0).fit(X)
    assert np.isfinite(model.representation_).all()
    assert np.isfinite(model.block_means_).sum() >= model.block_means_.size - 1


def test_nothing_but_missing_values_is_an_error():
    with pytest.raises(ValueError, match="missing"):
        COBRA().fit(np.full((4, 3), np.nan))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array, pd.DataFrame])
def test_input_types_agree(make, dtype, planted):
    X = np.round(planted[0]).astype(dtype)
    expected = COBRA(gamma=10.0).fit(X.astype(np.float64))
    model = COBRA(gamma=10.0).fit(make(X))
    assert model.representation_.dtype == dtype
    np.testing.assert_array_equal(model.row_labels_, expected.row_labels_)
    np.testing.assert_allclose(model.representation_, expected.representation_, rtol=1e-4)


@pytest.mark.parametrize("method", [COBRA, COBRAr])
def test_mostly_zero_data(method):
    rng = np.random.default_rng(0)
    blocks = np.kron(np.eye(3), np.ones((20, 10)))
    X = sparse.csr_matrix(blocks * rng.poisson(3, blocks.shape))
    model = method().fit(X)
    assert adjusted_rand_score(np.repeat(np.arange(3), 20), model.row_labels_) >= 0.9


def test_path_solves_every_gamma(planted):
    X, rows, _ = planted
    found = COBRA(gammas=[100.0, 0.1]).path(X)
    assert [solution.gamma for solution in found] == [100.0, 0.1]
    assert adjusted_rand_score(rows, found[0].clusters.rows) == 1.0
    np.testing.assert_allclose(found[1].U, X, atol=1.0)
    model = COBRA(gamma=100.0).fit(X)
    np.testing.assert_array_equal(model.row_labels_, found[0].clusters.rows)
    np.testing.assert_allclose(model.representation_, found[0].U, atol=1e-3)


def test_default_path_covers_the_range_of_the_paper(planted):
    gammas = [solution.gamma for solution in COBRA().path(planted[0])]
    assert (min(gammas), max(gammas), len(gammas)) == (pytest.approx(1e-3), 1e3, 13)


def test_the_same_seed_gives_the_same_errors(planted):
    first, again, other = (
        COBRA(random_state=seed).fit(planted[0]).validation_errors_ for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": "large"}, "gamma must be"),
        ({"gammas": []}, "gammas is empty"),
        ({"gammas": [1.0, 0.0]}, "gammas must be"),
        ({"gamma": 1.0, "gammas": [1.0]}, "no effect"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"phi": -0.5}, "phi"),
        ({"metric": "hamming"}, "metric"),
        ({"held_out": 1.0}, "held_out"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"random_state": "seed"}, "random_state"),
    ],
)
def test_wrong_parameters_are_errors(options, message, planted):
    with pytest.raises(ValueError, match=message):
        COBRA(**options).fit(planted[0])


@pytest.mark.parametrize("call", ["fit", "path"])
def test_too_few_steps_give_a_warning(call, planted):
    model = COBRA(gammas=[1.0], max_iter=2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        getattr(model, call)(planted[0])


def test_no_side_effects(planted):
    X = planted[0]
    before, state = X.copy(), np.random.get_state()[1].copy()  # noqa: NPY002
    model = COBRA()
    parameters = clone(model).get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert model.get_params() == parameters


def test_verbose_reports_stages_and_iterations(planted, capsys):
    COBRA(gammas=[1.0, 10.0], verbose=2).fit(planted[0])
    messages = capsys.readouterr().err.splitlines()
    stages = [line.split(":")[0] for line in messages if not line.startswith(" ")]
    assert stages == ["graph", "validation", "representation", "clusters"]
    assert sum(line.startswith("  iteration") for line in messages) == 2


def test_a_stop_keeps_the_gammas_so_far(planted):
    class Impatient:
        def begin(self, stage, steps):
            pass

        def end(self, stage):
            pass

        def iteration(self, record):
            return record["gamma"] < 50

    model = COBRA(gammas=[1.0, 10.0, 100.0, 1000.0]).fit(planted[0], observer=Impatient())
    assert model.gammas_.tolist() == [10.0, 100.0, 1000.0]
