"""Kernels of nearest-neighbour search: from inner products to the few smallest distances."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel

# Entries tested together against the bound: one vectorised count tells that none is near.
_TOGETHER = 64


@kernel
def nearer(products, squares, all_squares, groups, all_groups, first, indices, values):
    """Take the nearest of one tile of rows into the running lists of nearest.

    `products` are inner products with rows `first`, `first` + 1, ...; `values` are squared
    distances, ascending, then by index. Rows of the same group are passed over (a row
    itself, when every row is its own group). Differences below the rounding error of the
    subtraction become exact zeros, so that duplicated rows tie and the tie is broken by
    index, not by noise.
    """
    half = products.dtype.type(0.5)
    eps = products.dtype.type(8 * np.finfo(products.dtype).eps)
    zero = products.dtype.type(0)
    for a in range(products.shape[0]):
        row = products[a]
        square = squares[a]
        bound = values[a, -1]
        # Slack for rounding: whatever is nearer than the bound is below the cut.
        cut = half * (bound - square) + eps * (square + bound)
        for start in range(0, row.shape[0], _TOGETHER):
            chunk = row[start : start + _TOGETHER]
            chunk_squares = all_squares[start : start + _TOGETHER]
            hits = 0
            for t in range(chunk.shape[0]):
                hits += half * chunk_squares[t] - chunk[t] < cut
            if hits == 0:
                continue
            for t in range(chunk.shape[0]):
                total = square + chunk_squares[t]
                value = total - chunk[t] - chunk[t]
                value = value if value > eps * total else zero
                if value < bound and all_groups[start + t] != groups[a]:
                    bound = _insert(indices[a], values[a], first + start + t, value)
                    cut = half * (bound - square) + eps * (square + bound)


@kernel
def smallest(block, groups, all_groups, indices, values):
    """As `nearer`, for a block that holds the distances themselves, to all rows."""
    for a in range(block.shape[0]):
        row = block[a]
        bound = values[a, -1]
        for start in range(0, row.shape[0], _TOGETHER):
            chunk = row[start : start + _TOGETHER]
            hits = 0
            for t in range(chunk.shape[0]):
                hits += chunk[t] < bound
            if hits == 0:
                continue
            for t in range(chunk.shape[0]):
                if chunk[t] < bound and all_groups[start + t] != groups[a]:
                    bound = _insert(indices[a], values[a], start + t, chunk[t])


@kernel
def _insert(indices, values, index, value):
    """Put `value` after its equals, drop the last and return what is now the last."""
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
    """Squared Euclidean distances of given pairs of rows, by direct differences."""
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
    """As `dense_pair_distances`, for rows of a CSR matrix with sorted column indices."""
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
