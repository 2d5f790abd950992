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


def _clusters():
    ROCCO().fit(BLOBS)
    ROCCO().fit(sparse.csr_array(BLOCKS))


def _missing_values():
    data = np.where(np.eye(40, 30) > 0, np.nan, BLOCKS)
    for dtype in (np.float32, np.float64):
        ROCCO().fit(data.astype(dtype))
    COBRA(3).fit(data)


# Two tasks of about the same length, for two processes.
TASKS = (
    (lambda: _solvers(np.float64), _clusters),
    (lambda: _solvers(np.float32), _missing_values),
)


def compile_kernels(task):
    """Run the fits of one task; the machine code stays in numba's cache."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fits in TASKS[task]:
            fits()
