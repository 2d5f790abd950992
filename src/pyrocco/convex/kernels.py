"""Kernels over the edges of a graph: a line of tension for every edge, beside a matrix U."""

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@kernel
def pull(
    U: Floats,
    heads: Ints,
    tails: Ints,
    multipliers: Floats,
    stiffness: Floats,
    radii: Floats,
    tension: Floats,
    shares: Floats,
    lengths: Floats,
    force: Floats,
) -> float:
    """Stretch all edges to U; write tension, shares and lengths, add to the force on nodes.

    The tension of an edge is stiffness (U_head - U_tail) + multiplier; it acts up to the
    radius, share = min(1, radius / ||tension||). Returns the energy of the edges.
    """
    energy = 0.0
    for e in range(tension.shape[0]):
        a = U[heads[e]]
        b = U[tails[e]]
        stiff = stiffness[e]
        before = multipliers[e]
        line = tension[e]
        square, apart, rest = 0.0, 0.0, 0.0
        for j in range(tension.shape[1]):
            difference = a[j] - b[j]
            value = stiff * difference + before[j]
            line[j] = value
            square += value * value
            apart += difference * difference
            rest += before[j] * before[j]
        lengths[e] = np.sqrt(apart)
        shares[e] = 0.0
        # An edge of weight zero holds nothing.
        if stiff == 0.0:
            continue
        norm, radius, share = np.sqrt(square), radii[e], 1.0
        if norm > radius:
            share = radius / norm
            square = radius * (2.0 * norm - radius)
        shares[e] = share
        energy += 0.5 * (square - rest) / stiff
        a = force[heads[e]]
        b = force[tails[e]]
        for j in range(tension.shape[1]):
            value = share * line[j]
            a[j] += value
            b[j] -= value
    return energy


@kernel
def bend(
    D: Floats,
    heads: Ints,
    tails: Ints,
    tension: Floats,
    stiffness: Floats,
    radii: Floats,
    shares: Floats,
    out: Floats,
) -> None:
    """Add how the force of `pull` changes when U moves by D.

    A closed edge (share 1) is a spring. The force of an open one has a constant length and
    only turns, so it feels what is across its tension.
    """
    for e in range(tension.shape[0]):
        a = D[heads[e]]
        b = D[tails[e]]
        to = out[heads[e]]
        off = out[tails[e]]
        stiff = stiffness[e] * shares[e]
        line = tension[e]
        along = 0.0
        if shares[e] < 1.0 and stiff > 0.0:
            for j in range(D.shape[1]):
                along += line[j] * (a[j] - b[j])
            norm = radii[e] / shares[e]
            along /= norm * norm
        if along == 0.0:
            for j in range(D.shape[1]):
                value = stiff * (a[j] - b[j])
                to[j] += value
                off[j] -= value
        else:
            for j in range(D.shape[1]):
                value = stiff * (a[j] - b[j] - along * line[j])
                to[j] += value
                off[j] -= value


@kernel
def shorten(lines: Floats, most: Floats) -> None:
    """Scale every line down to its greatest length."""
    for e in range(lines.shape[0]):
        line = lines[e]
        square = 0.0
        for j in range(lines.shape[1]):
            square += line[j] * line[j]
        norm = np.sqrt(square)
        if norm > most[e]:
            for j in range(lines.shape[1]):
                line[j] *= most[e] / norm


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
