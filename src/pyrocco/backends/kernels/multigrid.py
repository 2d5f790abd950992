"""Kernels of combinatorial multigrid: aggregating nodes, and moving vectors between levels.

A matrix is given in CSR format, with its diagonal. A forest is given by the parent `to[i]` of
every node i: i itself for a root, and n for the ground, an extra node that stands for the part
of the diagonal beyond the edges of a row. Vectors are matrices of one or more columns.
"""

import numpy as np

from pyrocco.backends.kernels.compile import kernel

# A tree is cut only if at least this many nodes remain on both sides. Every edge inside an
# aggregate then has at most two nodes on one side: constant conductance.
_LEAST_NODES = 3


@kernel
def apply(indptr, indices, values, mass, shifts, X):
    """Column j of the result is (matrix + shifts[j] diag(mass)) X[:, j]."""
    n, columns = X.shape
    out = np.empty_like(X)
    for i in range(n):
        row = out[i]
        for j in range(columns):
            row[j] = shifts[j] * mass[i] * X[i, j]
        for e in range(indptr[i], indptr[i + 1]):
            value = values[e]
            other = X[indices[e]]
            for j in range(columns):
                row[j] += value * other[j]
    return out


@kernel
def restrict(aggregates, n_aggregates, R):
    """Sum the rows of `R` over every aggregate, without the rows that belong to the ground."""
    out = np.zeros((n_aggregates, R.shape[1]))
    for i in range(R.shape[0]):
        g = aggregates[i]
        if g < n_aggregates:
            for j in range(R.shape[1]):
                out[g, j] += R[i, j]
    return out


@kernel
def prolong(aggregates, correction, X):
    """Add the correction of every aggregate to its nodes, in place; the ground has none."""
    for i in range(X.shape[0]):
        g = aggregates[i]
        if g < correction.shape[0]:
            for j in range(X.shape[1]):
                X[i, j] += correction[g, j]


@kernel
def heaviest_edges(indptr, indices, values, excess):
    """Choose as parent of every node the neighbour, or ground, at its heaviest edge."""
    n = len(indptr) - 1
    to = np.empty(n, np.int64)
    weights = np.empty(n)
    for i in range(n):
        best, target = 0.0, n
        for e in range(indptr[i], indptr[i + 1]):
            k, weight = indices[e], -values[e]
            # Ties are broken by number, so that all cycles have length two.
            if k != i and (weight > best or (weight == best and k < target)):
                best, target = weight, k
        if excess[i] > best:
            best, target = excess[i], n
        to[i] = target
        weights[i] = best
    return to, weights


@kernel
def detach(to, weights, diagonal, least):
    """Make nodes with less than the share `least` of their weight in the forest roots."""
    n = len(to)
    inside = weights.copy()
    for i in range(n):
        j = to[i]
        if j < n and to[j] != i:
            inside[j] += weights[i]
    for i in range(n):
        if inside[i] < least * diagonal[i]:
            to[i] = i


@kernel
def _leaves_first(to):
    # Order in which every node comes before its parent. Nodes that never run out of children
    # lie on a cycle, which is opened at its first node.
    n = len(to)
    waiting = np.zeros(n + 1, np.int64)
    for i in range(n):
        if to[i] != i:
            waiting[to[i]] += 1
    order = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if waiting[i] == 0:
            order[count] = i
            count += 1
    done = 0
    while done < count:
        i = order[done]
        done += 1
        j = to[i]
        if j not in (i, n):
            waiting[j] -= 1
            if waiting[j] == 0:
                order[count] = j
                count += 1
    for first in range(n):
        if waiting[first] > 0:
            k = to[first]
            to[first] = first
            while k != first:
                order[count] = k
                count += 1
                waiting[k] = 0
                k = to[k]
            order[count] = first
            count += 1
            waiting[first] = 0
    return order


@kernel
def _split(to, order):
    # From the leaves upwards, cut off a subtree as soon as it is large enough to be an
    # aggregate, unless too little of the tree would remain. The ground always remains.
    n = len(to)
    root = np.empty(n + 1, np.int64)
    size = np.zeros(n + 1, np.int64)
    root[n] = n
    size[n] = _LEAST_NODES
    for t in range(n - 1, -1, -1):
        i = order[t]
        root[i] = i if to[i] == i else root[to[i]]
        size[root[i]] += 1
    hanging = np.ones(n + 1, np.int64)
    for t in range(n):
        i = order[t]
        if to[i] == i:
            continue
        if hanging[i] >= _LEAST_NODES and size[root[i]] - hanging[i] >= _LEAST_NODES:
            size[root[i]] -= hanging[i]
            to[i] = i
        else:
            hanging[to[i]] += hanging[i]


@kernel
def aggregate_forest(to):
    """Split the forest into small trees; return the aggregate of every node and their number.

    Nodes whose parent is the ground get the number of aggregates as their aggregate.
    """
    n = len(to)
    order = _leaves_first(to)
    _split(to, order)
    aggregates = np.full(n + 1, -1, np.int64)
    count = 0
    for i in range(n):
        if to[i] == i:
            aggregates[i] = count
            count += 1
    aggregates[n] = count
    for t in range(n - 1, -1, -1):
        i = order[t]
        aggregates[i] = aggregates[to[i]]
    return aggregates[:n], count


@kernel
def kronecker_sum(
    a_indptr, a_indices, a_values, b_indptr, b_indices, b_values, indptr, indices, values
):
    """Write A (x) I + I (x) B in CSR format; A and B must store their diagonals."""
    n, p = len(a_indptr) - 1, len(b_indptr) - 1
    at = 0
    for i in range(n):
        for j in range(p):
            indptr[i * p + j] = at
            for e in range(a_indptr[i], a_indptr[i + 1]):
                k = a_indices[e]
                if k != i:
                    indices[at] = k * p + j
                    values[at] = a_values[e]
                    at += 1
                    continue
                # The row of B replaces the diagonal of A, so that columns stay sorted.
                for f in range(b_indptr[j], b_indptr[j + 1]):
                    indices[at] = i * p + b_indices[f]
                    values[at] = b_values[f]
                    if b_indices[f] == j:
                        values[at] += a_values[e]
                    at += 1
    indptr[n * p] = at
