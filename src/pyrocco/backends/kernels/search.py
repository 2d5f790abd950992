"""Kernels of nearest-neighbour search: from inner products to the few smallest distances."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def products_to_squared_distances(products, squares, all_squares):
    """Turn inner products into squared distances, in place.

    Differences below the rounding error of the subtraction become exact zeros, so that
    duplicated rows tie and the tie is broken by index, not by noise.
    """
    eps = np.finfo(products.dtype).eps
    for a in range(products.shape[0]):
        row = products[a]
        square = squares[a]
        for b in range(products.shape[1]):
            total = square + all_squares[b]
            distance = total - 2 * row[b]
            row[b] = distance if distance > 8 * eps * total else 0


@kernel
def smallest(block, groups, all_groups, indices, values):
    """Fill `indices` and `values` with the smallest entries of each row of `block`.

    Entries whose group equals the row's are passed over (a row itself, when every row is
    its own group). Ascending by value, then by index. Unfilled places keep index -1.
    """
    k = indices.shape[1]
    for a in range(block.shape[0]):
        row = block[a]
        found = 0
        bound = np.inf
        for b in range(row.shape[0]):
            value = row[b]
            if value < bound and all_groups[b] != groups[a]:
                place = min(found, k - 1)
                while place > 0 and values[a, place - 1] > value:
                    values[a, place] = values[a, place - 1]
                    indices[a, place] = indices[a, place - 1]
                    place -= 1
                values[a, place] = value
                indices[a, place] = b
                found = min(found + 1, k)
                if found == k:
                    bound = values[a, k - 1]


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
