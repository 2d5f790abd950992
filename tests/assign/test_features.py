"""Leading features of dense and sparse matrices."""

import numpy as np
import pytest
from scipy import sparse

from pyrocco import ROCCO
from pyrocco.assign.features import leading_scores
from pyrocco.backends import NumpyBackend


def counts(shape, seed=0, rate=0.05):
    """Sparse counts with two topics."""
    random = np.random.default_rng(seed)
    same = np.equal.outer(random.integers(2, size=shape[0]), random.integers(2, size=shape[1]))
    return sparse.csr_array(random.poisson(np.where(same, 2 * rate, rate / 4)).astype(float))


# Rows and columns below and above the side up to which the Gram matrix is decomposed.
@pytest.mark.parametrize("shape", [(90, 40), (40, 90), (540, 560)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_scores_are_the_dense_ones(shape, dtype):
    X = counts(shape).astype(dtype)
    found, expected = leading_scores(X, 5), leading_scores(X.toarray(), 5)
    assert found.dtype == expected.dtype == dtype
    bound = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(found[:, 0], expected[:, 0], atol=bound * np.abs(expected).max())
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=100 * bound)


@pytest.mark.parametrize("axis", [0, 1])
def test_content_keys_do_not_depend_on_the_storage(axis):
    X = counts((50, 30))
    X.data[:] = np.random.default_rng(1).normal(size=X.nnz)
    X.data[:4] = [-1.5, 0.0, 1e300, -0.0]
    backend = NumpyBackend()
    keys = backend.content_keys(X, axis)
    assert np.array_equal(keys, backend.content_keys(X.toarray(), axis))
    assert len(np.unique(keys)) > 20


def test_the_operand_depends_on_the_values_only():
    backend, few = NumpyBackend(), counts((50, 30), rate=0.02)
    assert sparse.issparse(backend.operand(few))
    assert sparse.issparse(backend.operand(few.toarray()))
    assert not sparse.issparse(backend.operand(sparse.csr_array(np.ones((3, 3)))))


def test_storage_does_not_change_labels():
    X = counts((200, 120))
    dense, stored = ROCCO().fit(X.toarray()), ROCCO().fit(X)
    assert np.array_equal(dense.row_labels_, stored.row_labels_)
    assert np.array_equal(dense.column_labels_, stored.column_labels_)
    np.testing.assert_allclose(dense.block_means_, stored.block_means_)
