"""Kernels on rows and their clusters."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def nearest_by_products(products, halves, rows):
    """Nearest centre of every row, and the sum of the rows of each.

    `products` are inner products of rows and centres, `halves` half the squares of the
    centres. A row's own square moves no minimum.
    """
    n, k = products.shape
    labels = np.empty(n, dtype=np.intp)
    sums = np.zeros((k, rows.shape[1]))
    for i in range(n):
        best, least = 0, halves[0] - products[i, 0]
        for j in range(1, k):
            cost = halves[j] - products[i, j]
            if cost < least:
                best, least = j, cost
        labels[i] = best
        for f in range(rows.shape[1]):
            sums[best, f] += rows[i, f]
    return labels, sums


@kernel
def sums_by_label(rows, labels, k):
    """Sum of the rows of every label."""
    sums = np.zeros((k, rows.shape[1]))
    for i in range(rows.shape[0]):
        for f in range(rows.shape[1]):
            sums[labels[i], f] += rows[i, f]
    return sums


@kernel
def take_off_largest(scores):
    """Take the largest value of every row off the row."""
    for i in range(scores.shape[0]):
        largest = scores[i, 0]
        for j in range(1, scores.shape[1]):
            largest = max(largest, scores[i, j])
        for j in range(scores.shape[1]):
            scores[i, j] -= largest


@kernel
def divide_by_sums(odds):
    """Divide every row by its sum."""
    for i in range(odds.shape[0]):
        total = 0.0
        for j in range(odds.shape[1]):
            total += odds[i, j]
        for j in range(odds.shape[1]):
            odds[i, j] /= total
