"""Kernels of distances between rows with missing cells (NaN): over the cells both have."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def pair_distances(X, rows, others, metric, out):
    """Distances of given pairs of rows; `metric` 0 is Euclidean, 1 Manhattan, 2 cosine."""
    for a in range(rows.shape[0]):
        for b in range(others.shape[1]):
            if others[a, b] < 0:
                out[a, b] = np.inf
            elif metric == 0:
                out[a, b] = _euclidean(X[rows[a]], X[others[a, b]])
            elif metric == 1:
                out[a, b] = _manhattan(X[rows[a]], X[others[a, b]])
            else:
                out[a, b] = _cosine(X[rows[a]], X[others[a, b]])


@kernel
def _euclidean(x, y):
    total, shared = 0.0, 0
    for j in range(x.shape[0]):
        difference = x[j] - y[j]
        if not np.isnan(difference):
            total += difference * difference
            shared += 1
    return np.sqrt(total * x.shape[0] / shared) if shared else np.inf


@kernel
def _manhattan(x, y):
    total, shared = 0.0, 0
    for j in range(x.shape[0]):
        difference = x[j] - y[j]
        if not np.isnan(difference):
            total += abs(difference)
            shared += 1
    return total * x.shape[0] / shared if shared else np.inf


@kernel
def _cosine(x, y):
    """One minus the cosine; rows of zeros are near each other and at one from the rest."""
    product, own, other, shared = 0.0, 0.0, 0.0, 0
    for j in range(x.shape[0]):
        if not (np.isnan(x[j]) or np.isnan(y[j])):
            product += x[j] * y[j]
            own += x[j] * x[j]
            other += y[j] * y[j]
            shared += 1
    if shared == 0:
        return np.inf
    if own == 0.0 or other == 0.0:
        return 0.0 if own == other else 1.0
    return max(1.0 - product / np.sqrt(own * other), 0.0)
