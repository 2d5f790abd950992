"""Kernels on a graph and a partition of its nodes."""

from pyrocco.backends.kernels.compile import kernel


@kernel
def edges_inside(indptr, indices, labels):
    """Count the stored edges whose two ends have the same label."""
    total = 0
    for i in range(indptr.shape[0] - 1):
        label = labels[i]
        for e in range(indptr[i], indptr[i + 1]):
            if labels[indices[e]] == label:
                total += 1
    return total
