"""Kernels of the path of merges: k-means clusters, merged two at a time, settled in between.

Clusters keep their places from the start of the path to its end; `alive` says which of
them are still there. Only the costs of centres that moved are computed again.
"""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def merge_path(rows, indptr, indices, start, resolution, rounds):
    """Merge the two clusters whose merging leaves most modularity, until one is left.

    Returns the labels (without gaps) and the modularity at every step of the path.
    """
    labels = start.copy()
    k = labels.max() + 1
    path = np.empty((k, rows.shape[0]), dtype=np.intp)
    modularities = np.empty(k)
    alive = np.ones(k, dtype=np.bool_)
    moved = np.ones(k, dtype=np.bool_)
    costs = np.empty((rows.shape[0], k))
    n_steps = 0
    while True:
        links = links_between(indptr, indices, labels, k)
        modularities[n_steps], kept, gone = _judge(links, alive, resolution)
        _write_compact(labels, alive, path[n_steps])
        n_steps += 1
        if kept == gone:
            return path[:n_steps], modularities[:n_steps]
        for i in range(labels.shape[0]):
            if labels[i] == gone:
                labels[i] = kept
        alive[gone] = False
        moved[kept] = True
        _settle(rows, labels, alive, moved, costs, rounds)


@kernel
def links_between(indptr, indices, labels, k):
    """Share of the stored edges between every two of `k` labels."""
    counts = np.zeros((k, k), dtype=np.int64)
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            counts[labels[i], labels[indices[e]]] += 1
    return counts / indices.shape[0]


@kernel
def _judge(links, alive, resolution):
    """Modularity, and the two clusters to merge: the same one twice where one is left."""
    k = links.shape[0]
    degrees = links.sum(axis=0)
    modularity, most, kept, gone = 0.0, -np.inf, 0, 0
    for a in range(k):
        if not alive[a]:
            continue
        modularity += links[a, a] - resolution * degrees[a] * degrees[a]
        for b in range(a + 1, k):
            gain = links[a, b] - resolution * degrees[a] * degrees[b]
            if alive[b] and gain > most:
                most, kept, gone = gain, a, b
    return modularity, kept, gone


@kernel
def _settle(rows, labels, alive, moved, costs, rounds):
    """Lloyd's iterations, at most `rounds`; a cluster without rows is no longer alive."""
    for _ in range(rounds):
        _refresh(rows, labels, alive, moved, costs)
        settled = True
        for i in range(rows.shape[0]):
            nearest = labels[i]
            for c in range(alive.shape[0]):
                if alive[c] and costs[i, c] < costs[i, nearest]:
                    nearest = c
            if nearest != labels[i]:
                moved[labels[i]] = moved[nearest] = True
                labels[i] = nearest
                settled = False
        if settled:
            break


@kernel
def _refresh(rows, labels, alive, moved, costs):
    """Costs of all rows at the centres that moved: half the squared distance, less a constant."""
    n, n_features = rows.shape
    for c in range(alive.shape[0]):
        if not (moved[c] and alive[c]):
            continue
        centre, size = np.zeros(n_features, dtype=rows.dtype), 0
        for i in range(n):
            if labels[i] == c:
                centre += rows[i]
                size += 1
        if size == 0:
            alive[c] = False
            continue
        centre /= rows.dtype.type(size)
        half = 0.5 * np.dot(centre, centre)
        costs[:, c] = half - np.dot(rows, centre)
        moved[c] = False


@kernel
def _write_compact(labels, alive, out):
    """Labels without gaps."""
    rank = np.cumsum(alive) - 1
    for i in range(labels.shape[0]):
        out[i] = rank[labels[i]]
