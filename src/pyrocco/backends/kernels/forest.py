"""Kruskal's spanning forest over edges that are already sorted."""

import numpy as np

from pyrocco.backends.kernels.compile import kernel


@kernel
def _root(parents, node):
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@kernel
def kruskal(heads, tails, parents):
    """Mark the edges that join two trees, taking the edges in the order given.

    `parents` is the state of the forest and is updated: the calls can be chained.
    """
    chosen = np.zeros(heads.shape[0], dtype=np.bool_)
    for edge in range(heads.shape[0]):
        a = _root(parents, heads[edge])
        b = _root(parents, tails[edge])
        if a != b:
            parents[max(a, b)] = min(a, b)
            chosen[edge] = True
    return chosen


@kernel
def roots(parents):
    """Tell the tree of every node by its smallest node."""
    out = np.empty_like(parents)
    for node in range(parents.shape[0]):
        out[node] = _root(parents, node)
    return out
