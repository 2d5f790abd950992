"""Kernels of the decoupled systems (P + shift_j I) y_j = f_j, many columns j at a time.

A panel is an array of n rows and a few columns; every column has its own shift, step and
momentum.
"""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def shifted_apply(Y, out, shifts, indptr, indices, values, degrees):
    """Write P Y + Y diag(shifts) into `out`; returns the inner product of each column."""
    n, width = Y.shape
    dots = np.zeros(width)
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
    return dots


@kernel
def panel_advance(Y, R, D, image, steps, shifts, degrees):
    """Y += D diag(steps), R -= image diag(steps).

    Returns, for each column, <r, r / diagonal> and <r, r>.
    """
    n, width = Y.shape
    weighted = np.zeros(width)
    plain = np.zeros(width)
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
    return weighted, plain


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
