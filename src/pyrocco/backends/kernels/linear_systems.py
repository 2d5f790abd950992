"""Kernels of the linear system shift U + P U + U Q, and of conjugate gradients on it.

P and Q are Laplacians, already multiplied by their strengths and in the dtype of U. They are
given by the neighbours of every node (CSR format) and, separately, the diagonal. Sums of
products are accumulated in the dtype of U along one row and in float64 over the rows.

The second half solves the decoupled systems (P + shift_j I) y_j = f_j on a panel: an array of n
rows and a few columns, where every column has its own shift, step and momentum.
"""

import numpy as np

from pyrocco.backends.kernels.compile import kernel
from pyrocco.backends.kernels.simd import LANES, load, spread, store, total, transpose, widen

# Rows handled together along the column graph.
TILE = LANES


@kernel
def _transpose_in(U, start, count, tile):
    # The columns of a few rows become rows, so that a neighbour is one load for all of them.
    p = U.shape[1]
    whole = p // TILE * TILE if count == TILE else 0
    for j in range(0, whole, TILE):
        transpose(U, start, j, tile, j, 0)
    for r in range(count):
        for j in range(whole, p):
            tile[j, r] = U[start + r, j]


@kernel
def _transpose_out(images, width, out, start, count, j):
    if count == TILE and width == TILE:
        transpose(images, 0, 0, out, start, j)
    else:
        for r in range(count):
            for c in range(width):
                out[start + r, j + c] = images[c, r]


@kernel
def _columns(U, out, start, end, tile, images, indptr, indices, values, degrees):
    """Write rows `start` to `end` of U Q into `out`, TILE columns at a time."""
    if not values.shape[0]:
        out[start:end] = 0
        return
    p = U.shape[1]
    _transpose_in(U, start, end - start, tile)
    for first in range(0, p, TILE):
        width = min(TILE, p - first)
        for c in range(width):
            j = np.uint64(first + c)
            image = degrees[j] * load(tile, j, 0)
            for e in range(np.uint64(indptr[j]), np.uint64(indptr[np.uint64(j) + np.uint64(1)])):
                image = image - values[e] * load(tile, indices[e], 0)
            store(images, c, 0, image)
        _transpose_out(images, width, out, start, end - start, first)


@kernel
def _buffers(U):
    """Temporary arrays of `_columns`."""
    return np.zeros((U.shape[1], TILE), U.dtype), np.empty((TILE, TILE), U.dtype)


@kernel
def _row(U, i, out, shift, indptr, indices, values, degrees):
    """Add row i of shift U + P U to `out` and return its inner product with row i of U."""
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
    U, out, shift, p_indptr, p_indices, p_values, p_degrees,
    q_indptr, q_indices, q_values, q_degrees, first, last,
):  # fmt: skip
    """Write rows `first` to `last` of the left-hand side at U into `out`; return <U, out>."""
    tile, images = _buffers(U)
    dot = 0.0
    for start in range(first, last, TILE):
        end = min(start + TILE, last)
        _columns(U, out, start, end, tile, images, q_indptr, q_indices, q_values, q_degrees)
        for i in range(start, end):
            dot += _row(U, i, out, shift, p_indptr, p_indices, p_values, p_degrees)
    return dot


@kernel
def begin(
    U, X, R, D, shift, p_indptr, p_indices, p_values, p_degrees,
    q_indptr, q_indices, q_values, q_degrees, first, last,
):  # fmt: skip
    """Compute rows of R = shift X - left-hand side at U and of D = R / diagonal."""
    tile, images = _buffers(U)
    weighted = 0.0
    plain = 0.0
    for start in range(first, last, TILE):
        end = min(start + TILE, last)
        _columns(U, R, start, end, tile, images, q_indptr, q_indices, q_values, q_degrees)
        for i in range(start, end):
            _row(U, i, R, shift, p_indptr, p_indices, p_values, p_degrees)
            # The tile is still in the cache.
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
    """Replace the left-hand side at U by the residual shift X - image, in place."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            image[i, j] = shift * X[i, j] - image[i, j]


@kernel
def direction(R, D, momentum, shift, p_degrees, q_degrees, first, last):
    """Compute rows of D = R / diagonal + momentum D; return <R, R / diagonal> and <R, R>."""
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
    """Compute rows of U += step D and R -= step image; return the same sums as `direction`."""
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
    """Compute the squared lengths of edges between rows of U."""
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
    """Compute the squared lengths of edges between columns of U, in one pass over the rows."""
    out = np.zeros(heads.shape[0])
    tile, _ = _buffers(U)
    # Without edges, as in RCC, no tile has to be transposed.
    for start in range(0, U.shape[0] if heads.shape[0] else 0, TILE):
        count = min(TILE, U.shape[0] - start)
        if count < TILE:
            tile[:] = 0
        _transpose_in(U, start, count, tile)
        for e in range(np.uint64(heads.shape[0])):
            difference = load(tile, heads[e], 0) - load(tile, tails[e], 0)
            out[e] += total(widen(difference * difference))
    return out


@kernel
def squared_distance(X, U):
    """Compute ||X - U||_F^2."""
    total = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            difference = X[i, j] - U[i, j]
            total += difference * difference
    return total


@kernel
def shifted_apply(Y, out, shifts, indptr, indices, values, degrees):
    """Write P Y + Y diag(shifts) into `out`; return the inner product <y_j, out_j> by column."""
    dots = np.zeros((1, Y.shape[1]))
    if Y.shape[1] == LANES:
        _full_apply(Y, out, shifts.reshape(1, -1), indptr, indices, values, degrees, dots)
    else:
        _narrow_apply(Y, out, shifts, indptr, indices, values, degrees, dots[0])
    return dots[0]


@kernel
def _full_apply(Y, out, shifts, indptr, indices, values, degrees, dots):
    shift = load(shifts, 0, 0)
    sums = load(dots, 0, 0)
    for i in range(np.uint64(Y.shape[0])):
        y = load(Y, i, 0)
        image = (degrees[i] + shift) * y
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[np.uint64(i) + np.uint64(1)])):
            image = image - values[e] * load(Y, indices[e], 0)
        store(out, i, 0, image)
        sums = sums + widen(image * y)
    store(dots, 0, 0, sums)


@kernel
def _narrow_apply(Y, out, shifts, indptr, indices, values, degrees, dots):
    n, width = Y.shape
    for i in range(n):
        row = out[i]
        y = Y[i]
        degree = degrees[i]
        for j in range(width):
            row[j] = (degree + shifts[j]) * y[j]
        for e in range(indptr[i], indptr[i + 1]):
            value = values[e]
            other = Y[indices[e]]
            for j in range(width):
                row[j] -= value * other[j]
        for j in range(width):
            dots[j] += row[j] * y[j]


@kernel
def panel_advance(Y, R, D, image, steps, shifts, degrees):
    """Y += D diag(steps), R -= image diag(steps); return <r, r / diagonal>, <r, r> by column."""
    sums = np.zeros((2, Y.shape[1]))
    if Y.shape[1] == LANES:
        _full_advance(Y, R, D, image, steps.reshape(1, -1), shifts.reshape(1, -1), degrees, sums)
    else:
        _narrow_advance(Y, R, D, image, steps, shifts, degrees, sums)
    return sums[0], sums[1]


@kernel
def _full_advance(Y, R, D, image, steps, shifts, degrees, sums):
    step, shift = load(steps, 0, 0), load(shifts, 0, 0)
    weighted, plain = load(sums, 0, 0), load(sums, 1, 0)
    for i in range(np.uint64(Y.shape[0])):
        store(Y, i, 0, load(Y, i, 0) + step * load(D, i, 0))
        r = load(R, i, 0) - step * load(image, i, 0)
        store(R, i, 0, r)
        square = r * r
        weighted = weighted + widen(square / (degrees[i] + shift))
        plain = plain + widen(square)
    store(sums, 0, 0, weighted)
    store(sums, 1, 0, plain)


@kernel
def _narrow_advance(Y, R, D, image, steps, shifts, degrees, sums):
    n, width = Y.shape
    weighted, plain = sums
    for i in range(n):
        y = Y[i]
        r = R[i]
        d = D[i]
        z = image[i]
        degree = degrees[i]
        for j in range(width):
            y[j] += steps[j] * d[j]
            value = r[j] - steps[j] * z[j]
            r[j] = value
            square = value * value
            weighted[j] += square / (degree + shifts[j])
            plain[j] += square


@kernel
def panel_direction(R, D, momenta, shifts, degrees):
    """D = R / diagonal + D diag(momenta)."""
    n, width = R.shape
    for i in range(n):
        r = R[i]
        d = D[i]
        degree = degrees[i]
        for j in range(width):
            d[j] = r[j] / (degree + shifts[j]) + momenta[j] * d[j]
