"""Kernels that compute hashes of rows and columns."""

import numpy as np

from pyrocco.backends.hashing import MIXER, STEPS
from pyrocco.backends.kernels.compile import kernel


@kernel
def largest_cells(X, axis):
    """Find the largest absolute value of every row (axis 0) or column."""
    largest = np.zeros(X.shape[axis])
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            place = j if axis else i
            size = abs(np.float64(X[i, j]))
            largest[place] = max(largest[place], size)
    return largest


@kernel
def content_keys(X, largest, axis):
    """Hash every row (axis 0) or column: its values over the largest one, in any order."""
    keys = np.zeros(X.shape[axis], dtype=np.uint64)
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            place, cell = j if axis else i, np.float64(X[i, j])
            if cell != 0 and not np.isnan(cell):
                step = np.uint64(np.int64(np.rint(cell / largest[place] * STEPS)))
                mixed = step * np.uint64(MIXER)
                keys[place] += (mixed ^ (mixed >> np.uint64(32))) * np.uint64(MIXER)
    return keys
