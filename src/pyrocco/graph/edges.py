"""A graph as its list of edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True)
class Graph:
    """Edges among the rows, or among the columns, of a matrix.

    Parameters
    ----------
    n_nodes : int
        Number of rows (or columns).
    heads, tails : ndarray of int
        The two ends of every edge, ``heads < tails``, sorted by head, then tail.
    weights : ndarray of float64
        Edge weights: fixed, from degrees (see `degree_weights`).
    search : str, default="exact"
        Name of the search that found the neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.graph import Graph
    >>> path = Graph(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
    >>> path.n_edges, path.degrees.tolist(), path.n_components
    (2, [1, 2, 1], 1)
    """

    n_nodes: int
    heads: NDArray[np.intp]
    tails: NDArray[np.intp]
    weights: NDArray[np.float64]
    search: str = "exact"

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.heads)

    @cached_property
    def degrees(self) -> NDArray[np.intp]:
        """Number of edges at every node."""
        return np.bincount(self.heads, minlength=self.n_nodes) + np.bincount(
            self.tails, minlength=self.n_nodes
        )

    @cached_property
    def n_components(self) -> int:
        """Number of connected components."""
        count, _ = sparse.csgraph.connected_components(self.adjacency(), directed=False)
        return int(count)

    def adjacency(self) -> sparse.csr_array:
        """Return the symmetric matrix of edge weights."""
        both = (np.r_[self.heads, self.tails], np.r_[self.tails, self.heads])
        values = np.r_[self.weights, self.weights]
        return sparse.csr_array((values, both), shape=(self.n_nodes, self.n_nodes))


def degree_weights(
    n_nodes: int, heads: NDArray[np.intp], tails: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Weigh edges by mean degree over the geometric mean of the degrees of their ends.

    Nodes with many edges would otherwise be pulled harder than the rest (Shah and Koltun
    2017, Eq. S1).

    Examples
    --------
    >>> import numpy as np
    >>> degree_weights(3, np.array([0, 1]), np.array([1, 2])).round(3).tolist()
    [0.943, 0.943]
    """
    degrees = np.bincount(heads, minlength=n_nodes) + np.bincount(tails, minlength=n_nodes)
    mean = degrees.mean() if n_nodes else 0.0
    weights: NDArray[np.float64] = mean / np.sqrt(
        degrees[heads].astype(np.float64) * degrees[tails]
    )
    return weights
