"""Kernels of clusters: links between clusters, and k-means that follows them."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def symmetric_links(near):
    """Link every row i to the rows near[i], in both directions: CSR arrays without values."""
    n, k = near.shape
    linked = np.zeros((n, n), dtype=np.bool_)
    for i in range(n):
        for j in range(k):
            linked[i, near[i, j]] = True
            linked[near[i, j], i] = True
    indptr = np.zeros(n + 1, dtype=np.int32)
    indices = np.empty(2 * n * k, dtype=np.int32)
    count = 0
    for i in range(n):
        for j in range(n):
            if linked[i, j]:
                indices[count] = j
                count += 1
        indptr[i + 1] = count
    return indptr, indices[:count].copy()


@kernel
def links_out(indptr, indices, part):
    """Count the links that leave the rows of `part`, and those of the rows of `part` in all."""
    leaving, all_links = 0, 0
    for i in range(part.shape[0]):
        if part[i]:
            all_links += indptr[i + 1] - indptr[i]
            for e in range(indptr[i], indptr[i + 1]):
                leaving += not part[indices[e]]
    return leaving, all_links


@kernel
def links_between(indptr, indices, labels, k):
    """Count the stored links between every two of `k` labels."""
    counts = np.zeros((k, k), dtype=np.int64)
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            counts[labels[i], labels[indices[e]]] += 1
    return counts


@kernel
def settle(rows, indptr, indices, labels, links, alive, moved, costs, rounds):
    """Run at most `rounds` of Lloyd's iterations; a cluster without rows is no longer alive.

    `moved` marks the centres whose costs must be computed again. The `links` between clusters
    follow the rows that move to another cluster.
    """
    n = rows.shape[0]
    nearest, least = np.empty(n, dtype=np.intp), np.empty(n)
    for _ in range(rounds):
        _refresh(rows, labels, alive, moved, costs)
        for i in range(n):
            nearest[i], least[i] = labels[i], costs[labels[i], i]
        for c in range(alive.shape[0]):
            if alive[c]:
                for i in range(n):  # without branches, for vector instructions
                    less = costs[c, i] < least[i]
                    nearest[i] = c if less else nearest[i]
                    least[i] = costs[c, i] if less else least[i]
        settled = True
        for i in range(n):
            own, target = labels[i], nearest[i]
            if own == target:
                continue
            for e in range(indptr[i], indptr[i + 1]):
                other = labels[indices[e]]
                links[own, other] -= 1
                links[other, own] -= 1
                links[target, other] += 1
                links[other, target] += 1
            moved[own] = moved[target] = True
            labels[i] = target
            settled = False
        if settled:
            break


@kernel
def _refresh(rows, labels, alive, moved, costs):
    """Update costs at the centres that moved: half the squared distance minus a constant."""
    n, n_features = rows.shape
    k = alive.shape[0]
    centres, sizes = np.zeros((k, n_features)), np.zeros(k)
    for i in range(n):
        if moved[labels[i]]:
            sizes[labels[i]] += 1
            for f in range(n_features):
                centres[labels[i], f] += rows[i, f]
    for c in range(k):
        if not (moved[c] and alive[c]):
            continue
        if sizes[c] == 0:
            alive[c] = False
            continue
        square = 0.0
        for f in range(n_features):
            centres[c, f] /= sizes[c]
            square += centres[c, f] * centres[c, f]
        for i in range(n):
            product = 0.0
            for f in range(n_features):
                product += rows[i, f] * centres[c, f]
            costs[c, i] = 0.5 * square - product
        moved[c] = False
