"""Kernels over the edges of a graph: vectors B, one line an edge, beside a matrix U."""

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@kernel
def shrinkage(B: Floats, radii: Floats, out: Floats) -> None:
    """Factors max(0, 1 - radius / ||b||): b times its factor is the prox of radius ||b||."""
    for e in range(B.shape[0]):
        square = 0.0
        for j in range(B.shape[1]):
            square += B[e, j] * B[e, j]
        length = np.sqrt(square)
        out[e] = 1.0 - radii[e] / length if length > radii[e] else 0.0


@kernel
def stretch(
    U: Floats, heads: Ints, tails: Ints, B: Floats, factors: Floats, scale: float, out: Floats
) -> None:
    """Write scale (U_head - U_tail - factor b) for every edge."""
    for e in range(B.shape[0]):
        a = U[heads[e]]
        b = U[tails[e]]
        factor = factors[e]
        for j in range(B.shape[1]):
            out[e, j] = scale * (a[j] - b[j] - factor * B[e, j])


@kernel
def divergence(heads: Ints, tails: Ints, B: Floats, factors: Floats, out: Floats) -> None:
    """Write the sum over edges of factor b, plus at the head and minus at the tail."""
    out[:] = 0.0
    for e in range(B.shape[0]):
        a = out[heads[e]]
        b = out[tails[e]]
        factor = factors[e]
        for j in range(B.shape[1]):
            value = factor * B[e, j]
            a[j] += value
            b[j] -= value


@kernel
def lengths(U: Floats, heads: Ints, tails: Ints, out: Floats) -> None:
    """Write ||U_head - U_tail|| for every edge."""
    for e in range(heads.shape[0]):
        a = U[heads[e]]
        b = U[tails[e]]
        square = 0.0
        for j in range(U.shape[1]):
            difference = a[j] - b[j]
            square += difference * difference
        out[e] = np.sqrt(square)
