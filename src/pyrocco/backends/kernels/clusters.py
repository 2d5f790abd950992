"""Kernels of clusters: nearest centres, sums by label, merging, and the evidence for blocks."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def nearest_by_products(products, halves, rows):
    """Find the nearest centre of every row, and the sum of the rows nearest to each centre.

    `products` are inner products of rows and centres, `halves` half the squared norms of the
    centres. The squared norm of a row does not change which centre is nearest.
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
    """Compute the sum of the rows of every label."""
    sums = np.zeros((k, rows.shape[1]))
    for i in range(rows.shape[0]):
        for f in range(rows.shape[1]):
            sums[labels[i], f] += rows[i, f]
    return sums


@kernel
def take_off_largest(scores):
    """Subtract the largest value of every row from the row."""
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


@kernel
def merge_path(rows, indptr, indices, start, resolution, rounds):
    """Merge the two clusters whose merger leaves the largest modularity, until one is left.

    After every merger, rows move to the nearest centre (k-means). Clusters keep their number
    from the start of the path to its end; `alive` marks those that still exist. Only the costs
    of centres that moved are computed again. Return the labels (0 to K-1) and the modularity at
    every step of the path.
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
        modularities[n_steps], first, second = _judge(links, alive, resolution)
        _write_compact(labels, alive, path[n_steps])
        n_steps += 1
        if first == second:
            return path[:n_steps], modularities[:n_steps]
        for i in range(labels.shape[0]):
            if labels[i] == second:
                labels[i] = first
        alive[second] = False
        moved[first] = True
        _settle(rows, labels, alive, moved, costs, rounds)


@kernel
def links_between(indptr, indices, labels, k):
    """Compute the share of the stored edges between every two of `k` labels."""
    counts = np.zeros((k, k), dtype=np.int64)
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            counts[labels[i], labels[indices[e]]] += 1
    return counts / indices.shape[0]


@kernel
def _judge(links, alive, resolution):
    """Compute the modularity and the two clusters to merge: the same one twice if one is left."""
    k = links.shape[0]
    degrees = links.sum(axis=0)
    modularity, most, first, second = 0.0, -np.inf, 0, 0
    for a in range(k):
        if not alive[a]:
            continue
        modularity += links[a, a] - resolution * degrees[a] * degrees[a]
        for b in range(a + 1, k):
            gain = links[a, b] - resolution * degrees[a] * degrees[b]
            if alive[b] and gain > most:
                most, first, second = gain, a, b
    return modularity, first, second


@kernel
def _settle(rows, labels, alive, moved, costs, rounds):
    """Run at most `rounds` of Lloyd's iterations; a cluster without rows is no longer alive."""
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
    """Update costs at the centres that moved: half the squared distance minus a constant."""
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
    """Write the labels as 0 to K-1."""
    rank = np.cumsum(alive) - 1
    for i in range(labels.shape[0]):
        out[i] = rank[labels[i]]


# Above this, the other term of the sum is below the rounding error of share exp(slab).
_LARGEST_SLAB = 40.0
# A product of terms is replaced by its logarithm when it leaves this range; every term is
# between 0.01 and exp(40).
_LARGE, _SMALL = 1e200, 1e-200


@kernel
def mixture_totals(slabs, shares):
    """Sum log((1 - share) + share exp(slab)) over blocks, for every spread and share."""
    # One exponential per block and spread, and logarithms of products of many blocks.
    totals = np.zeros((slabs.shape[0], shares.shape[0]))
    odds = np.empty(slabs.shape[1])
    for s in range(slabs.shape[0]):
        beyond = 0.0
        for b in range(slabs.shape[1]):
            odds[b] = np.exp(min(slabs[s, b], _LARGEST_SLAB))
            beyond += max(slabs[s, b] - _LARGEST_SLAB, 0.0)
        for j in range(shares.shape[0]):
            product, logs = 1.0, 0.0
            for b in range(slabs.shape[1]):
                product *= (1.0 - shares[j]) + shares[j] * odds[b]
                if product > _LARGE or product < _SMALL:
                    logs += np.log(product)
                    product = 1.0
            totals[s, j] = beyond + logs + np.log(product)
    return totals
