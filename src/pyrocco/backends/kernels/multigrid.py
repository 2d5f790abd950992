"""Kernels of combinatorial multigrid: grouping nodes, and moving vectors between levels.

A matrix is given in compressed rows, diagonal included; a forest as the node `to[i]` that
node i hangs on, itself for a root and n for the ground, the extra node that stands for
everything a row has on its diagonal beyond its edges. Vectors are matrices of one or more
columns.
"""

import numpy as np

from pyrocco.backends.kernels.compile import kernel

# A tree is cut only where at least this many nodes remain on both sides, so that every
# edge left inside a group has at most two nodes on one side: constant conductance.
_PIECE = 3


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
def restrict(groups, n_groups, R):
    """Sum the rows of `R` over every group; rows in the ground's group are left out."""
    out = np.zeros((n_groups, R.shape[1]))
    for i in range(R.shape[0]):
        g = groups[i]
        if g < n_groups:
            for j in range(R.shape[1]):
                out[g, j] += R[i, j]
    return out


@kernel
def prolong(groups, correction, X):
    """Add every group's correction to its nodes, in place; the ground's is zero."""
    for i in range(X.shape[0]):
        g = groups[i]
        if g < correction.shape[0]:
            for j in range(X.shape[1]):
                X[i, j] += correction[g, j]


@kernel
def heaviest_edges(indptr, indices, values, excess):
    """Hang every node on the neighbour, or the ground, that its heaviest edge leads to.

    Of equally heavy edges the one to the lowest number counts: cycles then have length two.
    """
    n = len(indptr) - 1
    to = np.empty(n, np.int64)
    weights = np.empty(n)
    for i in range(n):
        best, target = 0.0, n
        for e in range(indptr[i], indptr[i + 1]):
            k, weight = indices[e], -values[e]
            if k != i and (weight > best or (weight == best and k < target)):
                best, target = weight, k
        if excess[i] > best:
            best, target = excess[i], n
        to[i] = target
        weights[i] = best
    return to, weights


@kernel
def detach(to, weights, diagonal, least):
    """Make roots of the nodes with less than the share `least` of their weight in the forest."""
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
    # Order in which every node comes before the one it hangs on. What is never freed of
    # nodes hanging on it lies on a cycle, which is opened at its first node.
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
    # From the leaves upwards, cut off what hangs on an edge as soon as it is a group by
    # itself, unless too little of the tree would remain. The ground always remains.
    n = len(to)
    root = np.empty(n + 1, np.int64)
    size = np.zeros(n + 1, np.int64)
    root[n] = n
    size[n] = _PIECE
    for t in range(n - 1, -1, -1):
        i = order[t]
        root[i] = i if to[i] == i else root[to[i]]
        size[root[i]] += 1
    hanging = np.ones(n + 1, np.int64)
    for t in range(n):
        i = order[t]
        if to[i] == i:
            continue
        if hanging[i] >= _PIECE and size[root[i]] - hanging[i] >= _PIECE:
            size[root[i]] -= hanging[i]
            to[i] = i
        else:
            hanging[to[i]] += hanging[i]


@kernel
def groups_of_forest(to):
    """Split the forest into small trees; return the group of every node and their number.

    Nodes left hanging on the ground get the number of groups as their group.
    """
    n = len(to)
    order = _leaves_first(to)
    _split(to, order)
    groups = np.full(n + 1, -1, np.int64)
    count = 0
    for i in range(n):
        if to[i] == i:
            groups[i] = count
            count += 1
    groups[n] = count
    for t in range(n - 1, -1, -1):
        i = order[t]
        groups[i] = groups[to[i]]
    return groups[:n], count


@kernel
def kronecker_sum(
    a_indptr, a_indices, a_values, b_indptr, b_indices, b_values, indptr, indices, values
):
    """Write A (x) I + I (x) B in compressed rows; A and B must store their diagonals."""
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
                # B's row takes the place of A's diagonal, so that columns stay in order.
                for f in range(b_indptr[j], b_indptr[j + 1]):
                    indices[at] = i * p + b_indices[f]
                    values[at] = b_values[f]
                    if b_indices[f] == j:
                        values[at] += a_values[e]
                    at += 1
    indptr[n * p] = at
