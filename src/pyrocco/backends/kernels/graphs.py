"""Kernels of graphs: nearest neighbours, distances between rows, and spanning forests."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel

# Entries compared with the bound together: one vectorised count shows whether any is near.
_TOGETHER = 64


@kernel
def nearer(products, squares, all_squares, components, all_components, first, indices, values):
    """Update the lists of nearest rows with one tile of rows.

    `products` are inner products with rows `first`, `first` + 1, ...; `values` are squared
    distances in ascending order, ties by index. Rows of the same component are skipped (only
    the row itself if every row is its own component). Differences below the rounding error
    of the subtraction become exact zeros, so that ties between duplicated rows are broken by
    index and not by noise.
    """
    half = products.dtype.type(0.5)
    eps = products.dtype.type(8 * np.finfo(products.dtype).eps)
    zero = products.dtype.type(0)
    for a in range(products.shape[0]):
        row = products[a]
        square = squares[a]
        bound = values[a, -1]
        # With a margin for rounding: every row nearer than the bound is below the cut.
        cut = half * (bound - square) + eps * (square + bound)
        for start in range(0, row.shape[0], _TOGETHER):
            some = row[start : start + _TOGETHER]
            some_squares = all_squares[start : start + _TOGETHER]
            hits = 0
            for t in range(some.shape[0]):
                hits += half * some_squares[t] - some[t] < cut
            if hits == 0:
                continue
            for t in range(some.shape[0]):
                total = square + some_squares[t]
                value = total - some[t] - some[t]
                value = value if value > eps * total else zero
                if value < bound and all_components[start + t] != components[a]:
                    bound = _insert(indices[a], values[a], first + start + t, value)
                    cut = half * (bound - square) + eps * (square + bound)


@kernel
def sparse_products(data, columns, indptr, other_data, others, other_indptr, rows, out):
    """Compute the inner products of some rows of a CSR matrix with all rows, as a dense array.

    The other matrix is the transpose, in CSR format too. Most products are not zero even if few
    cells are filled, so that an array costs less than a sparse matrix.
    """
    out[:] = 0
    for a in range(rows.shape[0]):
        row = out[a]
        for i in range(indptr[rows[a]], indptr[rows[a] + 1]):
            value = data[i]
            for j in range(other_indptr[columns[i]], other_indptr[columns[i] + 1]):
                row[others[j]] += value * other_data[j]


@kernel
def smallest(distances, components, all_components, indices, values):
    """Update the lists of nearest rows as `nearer` does, from distances to all rows."""
    for a in range(distances.shape[0]):
        row = distances[a]
        bound = values[a, -1]
        for start in range(0, row.shape[0], _TOGETHER):
            some = row[start : start + _TOGETHER]
            hits = 0
            for t in range(some.shape[0]):
                hits += some[t] < bound
            if hits == 0:
                continue
            for t in range(some.shape[0]):
                if some[t] < bound and all_components[start + t] != components[a]:
                    bound = _insert(indices[a], values[a], start + t, some[t])


@kernel
def _insert(indices, values, index, value):
    """Insert `value` after equal values, drop the last value and return the new last one."""
    place = len(values) - 1
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        indices[place] = indices[place - 1]
        place -= 1
    values[place] = value
    indices[place] = index
    return values[-1]


@kernel
def dense_pair_distances(X, rows, others, out):
    """Compute squared Euclidean distances of given pairs of rows from their differences."""
    for a in range(rows.shape[0]):
        x = X[rows[a]]
        for b in range(others.shape[1]):
            if others[a, b] < 0:
                out[a, b] = np.inf
                continue
            y = X[others[a, b]]
            total = 0.0
            for j in range(X.shape[1]):
                difference = x[j] - y[j]
                total += difference * difference
            out[a, b] = total


@kernel
def sparse_pair_distances(data, columns, indptr, rows, others, out):
    """Compute the same for rows of a CSR matrix with sorted column indices."""
    for a in range(rows.shape[0]):
        for b in range(others.shape[1]):
            if others[a, b] < 0:
                out[a, b] = np.inf
                continue
            i = indptr[rows[a]]
            i_end = indptr[rows[a] + 1]
            j = indptr[others[a, b]]
            j_end = indptr[others[a, b] + 1]
            total = 0.0
            while i < i_end or j < j_end:
                if j == j_end or (i < i_end and columns[i] < columns[j]):
                    difference = data[i]
                    i += 1
                elif i == i_end or columns[j] < columns[i]:
                    difference = data[j]
                    j += 1
                else:
                    difference = data[i] - data[j]
                    i += 1
                    j += 1
                total += difference * difference
            out[a, b] = total


@kernel
def masked_pair_distances(X, rows, others, metric, out):
    """Compute distances of pairs over the values that both rows have, scaled to all columns."""
    for a in range(rows.shape[0]):
        for b in range(others.shape[1]):
            if others[a, b] < 0:
                out[a, b] = np.inf
            elif metric == 0:  # as in METRICS
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
    """Compute one minus the cosine; rows of zeros have distance 0 to each other, 1 to others."""
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


@kernel
def _root(parents, node):
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@kernel
def kruskal(heads, tails, parents):
    """Mark the edges of Kruskal's forest, in the order given; update its state `parents`."""
    chosen = np.zeros(heads.shape[0], dtype=np.bool_)
    for edge in range(heads.shape[0]):
        a = _root(parents, heads[edge])
        b = _root(parents, tails[edge])
        if a != b:
            parents[max(a, b)] = min(a, b)
            chosen[edge] = True
    return chosen


@kernel
def roots(parents):
    """Return the smallest node in the tree of every node."""
    out = np.empty_like(parents)
    for node in range(parents.shape[0]):
        out[node] = _root(parents, node)
    return out
