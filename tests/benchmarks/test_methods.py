import numpy as np
import pytest
from benchmarks.paper.methods.fit_cobra import fit_cobra
from scipy import sparse

from pyrocco import COBRA, COBRAr
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
