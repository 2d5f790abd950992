"""Hashes of rows and columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Knuth's multiplier, 2^64 over the golden ratio: odd, without a pattern in its bits.
MIXER = 0x9E3779B97F4A7C15
# Steps from zero to the largest value of a row.
STEPS = 2.0**20
# Values that are mixed at the same time: they stay in the cache.
_TOGETHER = 1 << 15


def odd_multipliers(count: int) -> NDArray[np.uint64]:
    """Return one odd number for every column."""
    numbers = np.random.RandomState(0).randint(0, 2**63, count, dtype=np.uint64)
    return np.asarray(2 * numbers + np.uint64(1))


def weighted_sums(
    bits: NDArray[np.unsignedinteger], multipliers: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Sum mixed values times the multiplier of their column over every row, modulo 2^64."""
    sums = np.empty(len(bits), dtype=np.uint64)
    step = max(1, _TOGETHER // max(bits.shape[1], 1))
    for start in range(0, len(bits), step):
        mixed = bits[start : start + step].astype(np.uint64)
        mixed *= np.uint64(MIXER)
        mixed ^= mixed >> np.uint64(32)
        sums[start : start + step] = mixed @ multipliers
    return sums


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
