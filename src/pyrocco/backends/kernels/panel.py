"""Kernels of the decoupled systems (P + shift_j I) y_j = f_j, many columns j at a time.

A panel is an array of n rows and a few columns; every column has its own shift, step and
momentum.
"""

import numpy as np

from pyrocco.backends.kernels.compile import kernel
from pyrocco.backends.kernels.lanes import LANES, load, store, widen


@kernel
def shifted_apply(Y, out, shifts, indptr, indices, values, degrees):
    """Write P Y + Y diag(shifts) into `out`; returns the inner product of each column."""
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
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])):
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
    """Y += D diag(steps), R -= image diag(steps).

    Returns, for each column, <r, r / diagonal> and <r, r>.
    """
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
