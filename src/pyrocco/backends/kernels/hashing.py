"""Kernels that compute hashes of rows and columns."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.kernels.compile import kernel

# Knuth's multiplier, 2^64 over the golden ratio: odd, without a pattern in its bits.
MIXER = 0x9E3779B97F4A7C15
# Steps from zero to the largest value of a row.
STEPS = 2.0**20


def odd_multipliers(count: int) -> NDArray[np.uint64]:
    """Return one odd number for every column."""
    numbers = np.random.RandomState(0).randint(0, 2**63, count, dtype=np.uint64)
    return np.asarray(2 * numbers + np.uint64(1))


@kernel
def weighted_sums(bits, multipliers):
    """Sum mixed values times the multiplier of their column over every row, modulo 2^64."""
    sums = np.zeros(bits.shape[0], dtype=np.uint64)
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            cell = np.uint64(bits[i, j]) * np.uint64(MIXER)
            total += (cell ^ (cell >> np.uint64(32))) * multipliers[j]
        sums[i] = total
    return sums


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


def sparse_content_keys(X: sparse.csr_array, axis: int) -> NDArray[np.uint64]:
    """Return the same hashes of the rows (axis 0) or columns of a CSR matrix."""
    cells = X.data.astype(np.float64)
    places = X.indices if axis else np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    largest = np.zeros(X.shape[axis])
    np.maximum.at(largest, places, np.abs(cells))
    steps = np.rint(cells / np.where(largest > 0, largest, 1)[places] * STEPS).astype(np.int64)
    mixed = steps.view(np.uint64) * np.uint64(MIXER)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(MIXER)
    keys = np.zeros(X.shape[axis], dtype=np.uint64)
    np.add.at(keys, places, mixed)
    return keys
