"""Kernels on a graph and a partition of its nodes."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def links_between(indptr, indices, labels, k):
    """Count the stored edges between every two of `k` labels."""
    counts = np.zeros((k, k), dtype=np.int64)
    for i in range(indptr.shape[0] - 1):
        label = labels[i]
        for e in range(indptr[i], indptr[i + 1]):
            counts[label, labels[indices[e]]] += 1
    return counts
