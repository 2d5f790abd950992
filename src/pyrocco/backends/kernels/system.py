"""Kernels of the linear system shift U + P U + U Q, and of conjugate gradients on it.

P and Q are Laplacians, already multiplied by their strengths and in the type of U, given
as rows of neighbours with the diagonal apart. Sums of products run in the type of U along
one row and in float64 over the rows.
"""

import numpy as np

from pyrocco.backends.kernels.compile import kernel
from pyrocco.backends.kernels.lanes import LANES, load, spread, store, total, transpose, widen

# Rows handled together along the column graph.
TILE = LANES


@kernel
def _turn_in(U, start, count, tile):
    # The columns of a few rows become rows: a neighbour is then one load of all of them.
    p = U.shape[1]
    whole = p // TILE * TILE if count == TILE else 0
    for j in range(0, whole, TILE):
        transpose(U, start, j, tile, j, 0)
    for r in range(count):
        for j in range(whole, p):
            tile[j, r] = U[start + r, j]


@kernel
def _turn_out(block, width, out, start, count, j):
    if count == TILE and width == TILE:
        transpose(block, 0, 0, out, start, j)
    else:
        for r in range(count):
            for c in range(width):
                out[start + r, j + c] = block[c, r]


@kernel
def _columns(U, out, start, end, tile, block, indptr, indices, values, degrees):
    """Write rows `start` to `end` of U Q into `out`, a block of columns at a time."""
    if not values.shape[0]:
        out[start:end] = 0
        return
    p = U.shape[1]
    _turn_in(U, start, end - start, tile)
    for first in range(0, p, TILE):
        width = min(TILE, p - first)
        for c in range(width):
            j = np.uint64(first + c)
            image = degrees[j] * load(tile, j, 0)
            for e in range(np.uint64(indptr[j]), np.uint64(indptr[j + np.uint64(1)])):
                image = image - values[e] * load(tile, indices[e], 0)
            store(block, c, 0, image)
        _turn_out(block, width, out, start, end - start, first)


@kernel
def _room(U):
    """Scratch of `_columns`."""
    return np.zeros((U.shape[1], TILE), U.dtype), np.empty((TILE, TILE), U.dtype)


@kernel
def _row(U, i, out, shift, indptr, indices, values, degrees):
    """Add row i of shift U + P U to `out`; returns its inner product with row i of U."""
    p = U.shape[1]
    whole = p // TILE * TILE
    diagonal = shift + degrees[i]
    begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    dots = spread(shift - shift)
    for j in range(0, whole, TILE):
        u = load(U, i, j)
        image = load(out, i, j) + diagonal * u
        for e in range(begin, end):
            image = image - values[e] * load(U, indices[e], j)
        store(out, i, j, image)
        dots = dots + image * u
    dot = total(dots)
    for j in range(whole, p):
        cell = out[i, j] + diagonal * U[i, j]
        for e in range(begin, end):
            cell -= values[e] * U[indices[e], j]
        out[i, j] = cell
        dot += cell * U[i, j]
    return dot


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
    tile, block = _room(U)
    dot = 0.0
    for start in range(first, last, TILE):
        end = min(start + TILE, last)
        _columns(U, out, start, end, tile, block, q_indptr, q_indices, q_values, q_degrees)
        for i in range(start, end):
            dot += _row(U, i, out, shift, p_indptr, p_indices, p_values, p_degrees)
    return dot


@kernel
def begin(
    U,
    X,
    R,
    D,
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
    """Rows of the residual R = shift X - left-hand side at U, and of D = R / diagonal.

    Returns as `direction` does. Each tile is still in the cache when its residual is taken.
    """
    tile, block = _room(U)
    weighted = 0.0
    plain = 0.0
    for start in range(first, last, TILE):
        end = min(start + TILE, last)
        _columns(U, R, start, end, tile, block, q_indptr, q_indices, q_values, q_degrees)
        for i in range(start, end):
            _row(U, i, R, shift, p_indptr, p_indices, p_values, p_degrees)
            a, b = _begin_row(X[i], R[i], D[i], shift, shift + p_degrees[i], q_degrees)
            weighted += a
            plain += b
    return weighted, plain


@kernel
def _begin_row(x, r, d, shift, row_diagonal, q_degrees):
    a = 0.0
    b = 0.0
    for j in range(r.shape[0]):
        value = shift * x[j] - r[j]
        z = value / (row_diagonal + q_degrees[j])
        r[j] = value
        d[j] = z
        a += value * z
        b += value * value
    return a, b


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
    tile, _ = _room(U)
    # Without edges, as in RCC, there is nothing to turn the tiles for.
    for start in range(0, U.shape[0] if heads.shape[0] else 0, TILE):
        count = min(TILE, U.shape[0] - start)
        if count < TILE:
            tile[:] = 0
        _turn_in(U, start, count, tile)
        for e in range(np.uint64(heads.shape[0])):
            difference = load(tile, heads[e], 0) - load(tile, tails[e], 0)
            out[e] += total(widen(difference * difference))
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
