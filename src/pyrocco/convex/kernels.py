"""Kernels over the edges of a graph; each edge has a row in `multipliers` and `tension`."""

import numpy as np
from numpy.typing import NDArray

from pyrocco._typing import Floats
from pyrocco.backends.kernels.compile import kernel

Ints = NDArray[np.intp]


@kernel
def edge_gradient(
    U: Floats, heads: Ints, tails: Ints, multipliers: Floats, stiffness: Floats, radii: Floats,
    tension: Floats, shares: Floats, lengths: Floats, gradient: Floats,
) -> float:  # fmt: skip
    """Write tension, shares and lengths at U, add to the gradient and return the value.

    The tension of an edge is stiffness (U_head - U_tail) + multiplier, its share is
    min(1, radius / ||tension||) and its gradient is share times tension.
    """
    energy = 0.0
    for e in range(tension.shape[0]):
        a = U[heads[e]]
        b = U[tails[e]]
        stiff = stiffness[e]
        before = multipliers[e]
        vector = tension[e]
        square, apart, rest = 0.0, 0.0, 0.0
        for j in range(tension.shape[1]):
            difference = a[j] - b[j]
            value = stiff * difference + before[j]
            vector[j] = value
            square += value * value
            apart += difference * difference
            rest += before[j] * before[j]
        lengths[e] = np.sqrt(apart)
        shares[e] = 0.0
        # An edge of weight zero has no term.
        if stiff == 0.0:
            continue
        norm, radius, share = np.sqrt(square), radii[e], 1.0
        if norm > radius:
            share = radius / norm
            square = radius * (2.0 * norm - radius)
        shares[e] = share
        energy += 0.5 * (square - rest) / stiff
        a = gradient[heads[e]]
        b = gradient[tails[e]]
        for j in range(tension.shape[1]):
            value = share * vector[j]
            a[j] += value
            b[j] -= value
    return energy


@kernel
def edge_hessian(
    D: Floats, heads: Ints, tails: Ints, tension: Floats, stiffness: Floats, radii: Floats,
    shares: Floats, out: Floats,
) -> None:  # fmt: skip
    """Add the Hessian of `edge_gradient` times D.

    The term of a closed edge (share 1) is quadratic. The gradient of an open edge has constant
    length, so that its Hessian is a projection onto the complement of the tension.
    """
    for e in range(tension.shape[0]):
        a = D[heads[e]]
        b = D[tails[e]]
        to = out[heads[e]]
        off = out[tails[e]]
        stiff = stiffness[e] * shares[e]
        vector = tension[e]
        along = 0.0
        if shares[e] < 1.0 and stiff > 0.0:
            for j in range(D.shape[1]):
                along += vector[j] * (a[j] - b[j])
            norm = radii[e] / shares[e]
            along /= norm * norm
        if along == 0.0:
            for j in range(D.shape[1]):
                value = stiff * (a[j] - b[j])
                to[j] += value
                off[j] -= value
        else:
            for j in range(D.shape[1]):
                value = stiff * (a[j] - b[j] - along * vector[j])
                to[j] += value
                off[j] -= value


@kernel
def clip_lengths(vectors: Floats, most: Floats) -> None:
    """Scale every row of `vectors` down to its greatest length."""
    for e in range(vectors.shape[0]):
        vector = vectors[e]
        square = 0.0
        for j in range(vectors.shape[1]):
            square += vector[j] * vector[j]
        norm = np.sqrt(square)
        if norm > most[e]:
            for j in range(vectors.shape[1]):
                vector[j] *= most[e] / norm
