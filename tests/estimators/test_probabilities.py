"""``predict_proba`` and ``score`` of `ROCCO`."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from pyrocco import ROCCO
from pyrocco.datasets import make_noisy_biclusters

RNG = np.random.default_rng(0)
PLANTED = make_noisy_biclusters((120, 60), 4, noise=15, random_state=0)
COUNTS = RNG.poisson(np.exp(PLANTED.X / 15) * RNG.gamma(5, 0.2, (120, 1))).astype(float)
# The columns have two clusters, without which blocks would explain nothing.
CENTRES = np.repeat(RNG.normal(size=(3, 2)) * 3, 6, axis=1)
CLOUDS = CENTRES[RNG.integers(3, size=120)] + RNG.normal(size=(120, 12)) + RNG.normal(size=12)
OUTLIERS = np.where(RNG.random(PLANTED.X.shape) < 0.02, 300.0, PLANTED.X)
GAPS = np.where(RNG.random(PLANTED.X.shape) < 0.1, np.nan, PLANTED.X)
DATA = {
    "blocks": PLANTED.X,
    "blocks of counts": COUNTS,
    "sparse counts": sparse.csr_array(np.floor(COUNTS / 8)),
    "clouds": CLOUDS,
    "outlier cells": OUTLIERS,
    "missing values": GAPS,
}


@pytest.mark.parametrize("n_clusters", [None, 1, 7])
@pytest.mark.parametrize("case", DATA)
def test_probabilities_agree_with_labels_and_memberships(case, n_clusters):
    X = DATA[case]
    model = ROCCO(n_clusters).fit(X[:90])
    if sparse.issparse(X):
        with pytest.raises(TypeError, match=r"no sparse matrix: pass X.toarray\(\), or use place"):
            model.predict_proba(X)
        X = X.toarray()
    found = model.predict_proba(X)
    assert found.shape == (120, model.n_row_clusters_)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found.min() >= 0
    np.testing.assert_array_equal(found.argmax(axis=1), model.predict(X))
    own = found.max(axis=1)
    # The memberships of new rows are these probabilities; those of the fit, unless another leads.
    np.testing.assert_allclose(own[90:], model.place(X)["membership"][90:])
    np.testing.assert_allclose(np.median(own[:90] - model.row_membership_), 0, atol=1e-9)


def test_probabilities_say_where_a_row_between_two_clusters_may_belong():
    model = ROCCO().fit(PLANTED.X)
    rows = [PLANTED.X[model.row_labels_ == k].mean(axis=0) for k in (0, 1)]
    for share in (0.3, 0.7):
        (found,) = model.predict_proba([(1 - share) * rows[0] + share * rows[1]])
        assert found.argmax() == round(share)
        assert set(np.argsort(-found)[:2].tolist()) == {0, 1}
    nowhere = model.place(1000 * RNG.standard_normal((5, 60)))
    assert nowhere["far"].all()


def test_score_is_the_share_of_variation_that_blocks_explain():
    blocks = np.kron([[4.0, 1.0], [1.0, 4.0]], np.ones((30, 20)))
    X = blocks + RNG.normal(size=blocks.shape) + RNG.normal(size=40)
    model = ROCCO(2).fit(X)
    deviations = X - X.mean(axis=0)
    means = np.kron([[1.5, -1.5], [-1.5, 1.5]], np.ones((30, 20)))
    expected = 1 - np.square(deviations - means).sum() / np.square(deviations).sum()
    assert abs(model.score(X) - expected) < 0.01
    assert ROCCO(1).fit(X).score(X) == pytest.approx(0, abs=1e-9)
    assert model.score(X.mean(axis=0) + 0.1 * RNG.normal(size=X.shape)) < 0
    assert model.score(1e6 + 0 * X) == pytest.approx(0, abs=1e-6)
    assert ROCCO().fit(np.full((8, 6), 3.0)).score(np.full((2, 6), 3.0)) == 0


@pytest.mark.parametrize("case", DATA)
def test_score_of_other_rows_prefers_the_clusters_that_are_there(case):
    X = DATA[case]
    scores = cross_val_score(ROCCO(), X, cv=3)
    assert scores.min() > 0.02
    assert scores.mean() > cross_val_score(ROCCO(1), X, cv=3).mean() + 0.02
    assert ROCCO().fit(X).score(X) <= 1


def test_grid_search():
    search = GridSearchCV(ROCCO(), {"n_clusters": [1, 2, 4]}, cv=3).fit(PLANTED.X)
    assert search.best_params_ == {"n_clusters": 4}
    labels = search.predict(PLANTED.X)
    np.testing.assert_array_equal(labels, search.best_estimator_.row_labels_)
    assert search.predict_proba(PLANTED.X[:2]).shape == (2, 4)
    assert not hasattr(clone(search.best_estimator_), "row_labels_")
