"""Kernels on lists of edges: of named neighbours, and Kruskal's spanning forest."""

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


@kernel
def undirected(neighbors):
    """Pairs named by at least one end, sorted by their ends.

    `neighbors` holds the nodes that each node names, -1 for nobody. Returns the lower end
    and the higher end of every pair, where the pair is named, as place in `neighbors`, and
    whether both ends name it.
    """
    n_nodes, count = neighbors.shape
    mutual = np.zeros((n_nodes, count), dtype=np.bool_)
    kept = np.ones((n_nodes, count), dtype=np.bool_)
    starts = np.zeros(n_nodes + 1, dtype=np.int64)
    for i in range(n_nodes):
        for a in range(count):
            j = neighbors[i, a]
            if j < 0:
                kept[i, a] = False
                continue
            for b in range(count):
                mutual[i, a] |= neighbors[j, b] == i
            # A pair named by both is told of by its lower end.
            kept[i, a] = i < j or not mutual[i, a]
            starts[min(i, j) + 1] += kept[i, a]
    starts = np.cumsum(starts)
    others = np.empty(starts[-1], dtype=np.int64)
    places = np.empty(starts[-1], dtype=np.int64)
    ends = starts[:-1].copy()
    for i in range(n_nodes):
        for a in range(count):
            if kept[i, a]:
                j = neighbors[i, a]
                others[ends[min(i, j)]] = max(i, j)
                places[ends[min(i, j)]] = i * count + a
                ends[min(i, j)] += 1
    lower = np.empty_like(others)
    for i in range(n_nodes):
        lower[starts[i] : starts[i + 1]] = i
        _sort_both(others, places, starts[i], starts[i + 1])
    return lower, others, places, mutual.ravel()[places]


@kernel
def _sort_both(keys, values, start, stop):
    """Sort a short stretch by its keys, values along with them."""
    for end in range(start + 1, stop):
        key, value, place = keys[end], values[end], end
        while place > start and keys[place - 1] > key:
            keys[place], values[place] = keys[place - 1], values[place - 1]
            place -= 1
        keys[place], values[place] = key, value
