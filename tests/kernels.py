"""Fits that compile the kernels of most tests, for processes that start later."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.datasets import make_biclusters, make_blobs

from pyrocco import COBRA, ROCCO

BLOCKS = make_biclusters((40, 30), 3, noise=5, random_state=0)[0]
BLOBS = make_blobs(60, 12, centers=3, random_state=0)[0]


def _solvers(dtype):
    for solver in ("conjugate-gradient", "decoupled", "multigrid"):
        ROCCO(solver=solver).fit(BLOCKS.astype(dtype))
    ROCCO(variant="paper", max_iter=2).fit(BLOCKS.astype(dtype))


def _storage(dtype):
    ROCCO().fit(BLOBS.astype(dtype))
    ROCCO().fit(sparse.csr_array(BLOCKS.astype(dtype)))
    ROCCO().fit(np.where(np.eye(40, 30) > 0, np.nan, BLOCKS).astype(dtype))


def _convex():
    COBRA(3).fit(BLOCKS)
    COBRA(3).fit(np.where(np.eye(40, 30) > 0, np.nan, BLOCKS))


def compile_kernels(dtype):
    """Fit small matrices; the machine code stays in numba's cache."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _solvers(dtype)
        _storage(dtype)
        if dtype == np.float64:
            _convex()
