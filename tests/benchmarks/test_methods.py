import numpy as np
import pytest
from benchmarks.paper.methods.fit_cobra import fit_cobra
from scipy import sparse

from pyrocco.datasets import make_noisy_biclusters
from pyrocco.estimators.cobra import COBRA
from pyrocco.estimators.cobrar import COBRAr


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
def test_the_problem_is_solved_once_for_a_matrix_and_a_seed(stored):
    X = stored(make_noisy_biclusters((40, 30), 3, noise=5, random_state=0).X)
    first, nothing = fit_cobra(COBRA, X, 0)
    fit_cobra(COBRAr, X[:20], 0)
    again, spared = fit_cobra(COBRA, X, 0)
    other, _ = fit_cobra(COBRAr, X, 0)
    assert nothing == 0 < spared
    assert first.gamma_ == again.gamma_ == other.gamma_
    np.testing.assert_array_equal(first.row_labels_, again.row_labels_)
    np.testing.assert_array_equal(first.representation_, other.representation_)
    _, of_another_seed = fit_cobra(COBRA, X, 1)
    assert of_another_seed == 0
