import numpy as np
import pytest
from benchmarks.collection.methods import METHODS as COLLECTION
from benchmarks.paper.methods import METHODS
from benchmarks.paper.methods.fit_cobra import fit_cobra
from scipy import sparse

from pyrocco import COBRA, ROCCO, COBRAr
from pyrocco.datasets import make_noisy_biclusters


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
def test_gamma_is_validated_once_per_seed_and_the_problem_solved_once_per_gamma(stored):
    X = stored(make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X)
    first, nothing = fit_cobra(COBRA, X, 0)
    fit_cobra(COBRAr, X[:20], 0)
    again, spared = fit_cobra(COBRA, X, 0)
    other, _ = fit_cobra(COBRAr, X, 0)
    assert nothing == 0 < spared
    assert first.gamma_ == again.gamma_ == other.gamma_
    np.testing.assert_array_equal(first.row_labels_, again.row_labels_)
    np.testing.assert_array_equal(first.representation_, other.representation_)
    of_another_seed, spared_less = fit_cobra(COBRA, X, 1)
    assert of_another_seed.gamma_ == first.gamma_
    np.testing.assert_array_equal(of_another_seed.row_labels_, first.row_labels_)
    assert 0 < spared_less < spared
    fit_cobra(COBRA, 2 * X, 0)
    fit_cobra(COBRA, 3 * X, 0)
    fit_cobra(COBRA, 4 * X, 0)
    _, after_other_matrices = fit_cobra(COBRA, X, 2)
    assert after_other_matrices == 0


def planted():
    return make_noisy_biclusters((60, 45), 3, noise=5, random_state=0).X


def counts():
    rates = np.kron(np.eye(3) * 3 + 1, np.ones((20, 15)))
    return np.random.default_rng(0).poisson(rates).astype(float)


def repeated_rows():
    return counts()[np.arange(60) // 2]


@pytest.mark.parametrize("make", [planted, counts, repeated_rows])
def test_rocco_of_the_collection_prepares_its_matrix_and_so_does_the_control(make):
    X = make()
    model = ROCCO().fit(X)
    for name in ("rocco", "control_x"):
        found = COLLECTION[name].run(X, 3, 0, True, {})
        np.testing.assert_array_equal(found.rows, model.row_labels_, name)
        np.testing.assert_array_equal(found.columns, model.column_labels_, name)


def test_rocco_of_the_paper_takes_the_values_as_they_are():
    X = counts() * np.arange(1, 61)[:, None]
    found = METHODS["rocco"].run(X, 3, 0, True, {})
    np.testing.assert_array_equal(found.rows, ROCCO(prepare=None).fit(X).row_labels_)


def test_the_representation_is_that_of_the_fit_if_it_has_one():
    found = METHODS["rocco"].run(planted(), 3, 0, True, {})
    assert found.representation is None
    assert set(found.stages) == {"isolated", "preparation", "assignment"}
    paper = METHODS["rocco_paper+km"].run(planted(), 3, 0, True, {})
    assert paper.representation.shape == (60, 45)
    assert set(paper.stages) == {"preparation", "graph", "representation", "assignment"}


@pytest.mark.parametrize("name", ["no_parts", "no_uniting", "no_blocks", "no_robust", "cn_x"])
def test_a_method_without_one_step_still_finds_clear_blocks(name):
    found = METHODS[name].run(planted(), 3, 0, True, {})
    expected = ROCCO(prepare=None).fit(planted())
    np.testing.assert_array_equal(found.rows, expected.row_labels_)


def test_without_merging_there_are_more_clusters():
    rng = np.random.default_rng(0)
    # One cluster holds most of the rows, and the other is far away.
    X = rng.normal(size=(330, 30))
    X[300:] += 6 * rng.normal(size=30)
    assert METHODS["rocco"].run(X, 2, 0, True, {}).rows.max() + 1 == 2
    assert METHODS["no_uniting"].run(X, 2, 0, True, {}).rows.max() + 1 > 2


def test_literal_fits_that_differ_in_the_last_step_share_their_representation():
    X = counts() + 1
    fits = [("rocco_paper+km", 0), ("rocco_paper+km", 1), ("paper_reading", 0)]
    first, second, third = (METHODS[name].run(X, 3, seed, True, {}) for name, seed in fits)
    assert first.spared == 0 < second.spared
    assert third.spared > 0
    np.testing.assert_array_equal(first.representation, second.representation)
    alone = ROCCO(3, variant="paper", random_state=1).fit(X)
    np.testing.assert_array_equal(second.rows, alone.row_labels_)
    np.testing.assert_array_equal(second.representation, alone.representation_)


def test_literal_fits_of_other_data_graphs_or_schedules_share_nothing():
    X = counts() + 2
    METHODS["rocco_paper+km"].run(X, 3, 0, True, {})
    others = [
        METHODS["rocco_paper+km"].run(2 * X, 3, 0, True, {}),
        METHODS["rocco_paper+km"].run(X, 3, 0, True, {"n_neighbors": 5}),
        METHODS["paper_reading"].run(X, 3, 0, True, {"max_iter": 4}),
    ]
    assert [other.spared for other in others] == [0, 0, 0]
