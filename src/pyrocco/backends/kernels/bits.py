"""Kernels on the bits of cells."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def weighted_sums(bits, multipliers):
    """Sum of every row's cells, mixed, times the number of their column, modulo 2^64."""
    sums = np.zeros(bits.shape[0], dtype=np.uint64)
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            cell = np.uint64(bits[i, j]) * np.uint64(0x9E3779B97F4A7C15)
            total += (cell ^ (cell >> np.uint64(32))) * multipliers[j]
        sums[i] = total
    return sums
