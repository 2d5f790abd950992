"""Kernels of the linear system shift U + P U + U Q, and of conjugate gradients on it.

P and Q are Laplacians, already multiplied by their strengths and in the type of U, given
as rows of neighbours with the diagonal apart. Sums of products run in the type of U along
one row and in float64 over the rows.
"""

import numpy as np

from pyrocco.backends.kernels.compile import kernel

# Rows handled together along the column graph: one cache line of float32 for each column.
TILE = 16


@kernel
def _load(U, start, count, tile):
    for r in range(count):
        row = U[start + r]
        for j in range(row.shape[0]):
            tile[j, r] = row[j]


@kernel
def _columns(tile, out, shift, indptr, indices, values, degrees):
    for j in range(tile.shape[0]):
        diagonal = shift + degrees[j]
        for r in range(TILE):
            out[j, r] = diagonal * tile[j, r]
        for e in range(indptr[j], indptr[j + 1]):
            value = values[e]
            other = tile[indices[e]]
            for r in range(TILE):
                out[j, r] -= value * other[r]


@kernel
def _row(U, i, out, indptr, indices, values, degrees):
    degree = degrees[i]
    for j in range(U.shape[1]):
        out[j] += degree * U[i, j]
    for e in range(indptr[i], indptr[i + 1]):
        value = values[e]
        other = U[indices[e]]
        for j in range(U.shape[1]):
            out[j] -= value * other[j]


@kernel
def apply(
    U,
    out,
    shift,
    p_indptr,
    p_indices,
    p_values,
    p_degrees,
    q_indptr,
    q_indices,
    q_values,
    q_degrees,
    first,
    last,
):
    """Write rows `first` to `last` of the left-hand side at `U` into `out`.

    Returns their inner product with those rows of `U`.
    """
    p = U.shape[1]
    tile = np.zeros((p, TILE), dtype=U.dtype)
    image = np.zeros((p, TILE), dtype=U.dtype)
    total = 0.0
    for start in range(first, last, TILE):
        count = min(TILE, last - start)
        if q_values.shape[0]:
            _load(U, start, count, tile)
            _columns(tile, image, shift, q_indptr, q_indices, q_values, q_degrees)
        for r in range(count):
            row = out[start + r]
            for j in range(p):
                row[j] = image[j, r] if q_values.shape[0] else shift * U[start + r, j]
            _row(U, start + r, row, p_indptr, p_indices, p_values, p_degrees)
            partial = row[0] * 0
            for j in range(p):
                partial += row[j] * U[start + r, j]
            total += partial
    return total


@kernel
def residual(X, image, shift):
    """Turn the left-hand side at U into the residual shift X - image, in place."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            image[i, j] = shift * X[i, j] - image[i, j]


@kernel
def direction(R, D, momentum, shift, p_degrees, q_degrees, first, last):
    """Rows of the next direction D = R / diagonal + momentum D.

    Returns their share of <R, R / diagonal> and <R, R>.
    """
    weighted = 0.0
    plain = 0.0
    for i in range(first, last):
        row_diagonal = shift + p_degrees[i]
        a = R[i, 0] * 0
        b = R[i, 0] * 0
        for j in range(R.shape[1]):
            z = R[i, j] / (row_diagonal + q_degrees[j])
            a += R[i, j] * z
            b += R[i, j] * R[i, j]
            D[i, j] = z + momentum * D[i, j]
        weighted += a
        plain += b
    return weighted, plain


@kernel
def advance(U, R, D, image, step, shift, p_degrees, q_degrees, first, last):
    """Rows of U += step D and R -= step image; returns as `direction` does."""
    weighted = 0.0
    plain = 0.0
    for i in range(first, last):
        row_diagonal = shift + p_degrees[i]
        a = R[i, 0] * 0
        b = R[i, 0] * 0
        for j in range(R.shape[1]):
            U[i, j] += step * D[i, j]
            r = R[i, j] - step * image[i, j]
            R[i, j] = r
            a += r * r / (row_diagonal + q_degrees[j])
            b += r * r
        weighted += a
        plain += b
    return weighted, plain


@kernel
def row_edge_lengths(U, heads, tails):
    """Squared lengths of edges among the rows of U."""
    out = np.empty(heads.shape[0])
    for e in range(heads.shape[0]):
        a = U[heads[e]]
        b = U[tails[e]]
        total = 0.0
        for j in range(U.shape[1]):
            difference = a[j] - b[j]
            total += difference * difference
        out[e] = total
    return out


@kernel
def column_edge_lengths(U, heads, tails):
    """Squared lengths of edges among the columns of U, in one pass over the rows."""
    out = np.zeros(heads.shape[0])
    for i in range(U.shape[0]):
        row = U[i]
        for e in range(heads.shape[0]):
            difference = row[heads[e]] - row[tails[e]]
            out[e] += difference * difference
    return out


@kernel
def squared_distance(X, U):
    """||X - U||_F^2."""
    total = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            difference = X[i, j] - U[i, j]
            total += difference * difference
    return total


@kernel
def squared_norm(U):
    """||U||_F^2."""
    total = 0.0
    for i in range(U.shape[0]):
        partial = U[0, 0] * 0
        for j in range(U.shape[1]):
            partial += U[i, j] * U[i, j]
        total += partial
    return total
