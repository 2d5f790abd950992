"""Two graphs on the same nodes as one."""

from __future__ import annotations

import numpy as np

from pyrocco.graph.edges import Graph


def combined_graph(first: Graph, second: Graph) -> Graph:
    """Edges of either graph; those in both count twice.

    Parameters
    ----------
    first, second : Graph
        Graphs on the same nodes.

    Returns
    -------
    Graph
        Weights as by `degree_weights`, with double edges.

    Examples
    --------
    >>> import numpy as np
    >>> path = Graph(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
    >>> edge = Graph(3, np.array([0]), np.array([1]), np.ones(1))
    >>> both = combined_graph(path, edge)
    >>> both.heads.tolist(), both.tails.tolist(), (both.weights[0] > both.weights[1]).item()
    ([0, 1], [1, 2], True)
    """
    n = first.n_nodes
    keys = np.r_[first.heads * n + first.tails, second.heads * n + second.tails]
    pairs, times = np.unique(keys, return_counts=True)
    heads, tails = np.divmod(pairs, n)
    degrees = np.bincount(heads, times, n) + np.bincount(tails, times, n)
    weights = times * degrees.mean() / np.sqrt(degrees[heads] * degrees[tails])
    return Graph(n, heads, tails, weights, first.search)
