"""A graph as its list of edges, and its Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from pyrocco._typing import Floats, Labels, Mask
from pyrocco.backends.base import largest_eigenvalue
from pyrocco.io import fields

# Below this size a dense eigenvalue routine is both faster and safer than Lanczos.
_DENSE_NODES = 32


@dataclass(frozen=True)
class Graph:
    """Edges between the rows, or between the columns, of a matrix.

    Parameters
    ----------
    n_nodes : int
        Number of rows (or columns).
    heads, tails : ndarray of int
        The two ends of every edge, ``heads < tails``, sorted by head, then tail.
    weights : ndarray of float64
        Edge weights, which depend on degrees (see `degree_weights`).
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
    heads: Labels
    tails: Labels
    weights: Floats
    search: str = "exact"

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.heads)

    @cached_property
    def degrees(self) -> Labels:
        """Number of edges at every node."""
        return _degrees(self.n_nodes, self.heads, self.tails)

    @cached_property
    def n_components(self) -> int:
        """Number of connected components."""
        return int(self.components().max(initial=-1)) + 1

    def components(self, chosen: Mask | slice = slice(None)) -> Labels:
        """Return the connected component of every node, 0..K-1, over all or some edges."""
        heads, tails = self.heads[chosen], self.tails[chosen]
        shape = (self.n_nodes, self.n_nodes)
        edges = sparse.csr_array((np.ones(len(heads)), (heads, tails)), shape=shape)
        labels = sparse.csgraph.connected_components(edges, directed=False)[1]
        return np.asarray(labels, dtype=np.intp)

    def adjacency(self) -> sparse.csr_array:
        """Return the symmetric matrix of edge weights."""
        both = (np.r_[self.heads, self.tails], np.r_[self.tails, self.heads])
        values = np.r_[self.weights, self.weights]
        return sparse.csr_array((values, both), shape=(self.n_nodes, self.n_nodes))


# What a file must hold for a graph. Its weights are far below the limit.
GRAPH_FIELDS = fields.Fields(
    n_nodes=fields.Size("nodes"),
    heads=fields.Indices("edges", below="nodes"),
    tails=fields.Indices("edges", below="nodes"),
    weights=fields.Floats("edges", finite=True, least=0.0, most=1e15),
    search=fields.Text(),
)


def _degrees(n_nodes: int, heads: Labels, tails: Labels) -> Labels:
    return np.bincount(heads, minlength=n_nodes) + np.bincount(tails, minlength=n_nodes)


def degree_weights(n_nodes: int, heads: Labels, tails: Labels) -> Floats:
    """Weight edges by the mean degree over the geometric mean of the degrees of their ends.

    Without weights, nodes with many edges would be pulled harder than others (Shah and Koltun
    2017, Eq. S1).
    """
    degrees = _degrees(n_nodes, heads, tails)
    mean = degrees.mean() if n_nodes else 0.0
    return np.asarray(mean / np.sqrt(degrees[heads].astype(np.float64) * degrees[tails]))


def combined_graph(first: Graph, second: Graph) -> Graph:
    """Return the edges of two graphs on the same nodes; shared edges count twice in weights."""
    n = first.n_nodes
    keys = np.r_[first.heads * n + first.tails, second.heads * n + second.tails]
    pairs, times = np.unique(keys, return_counts=True)
    heads, tails = np.divmod(pairs, n)
    degrees = np.bincount(heads, times, n) + np.bincount(tails, times, n)
    weights = times * degrees.mean() / np.sqrt(degrees[heads] * degrees[tails])
    return Graph(n, heads, tails, weights, first.search)


class Laplacian:
    """The Laplacian sum_e value_e (e_i - e_j)(e_i - e_j)^T of a graph, without its diagonal.

    The neighbours of node i are ``indices[indptr[i]:indptr[i + 1]]``. `values` are the edge values
    in this order, the negatives of the entries; they start at the edge weights and can change.
    `degrees` is the diagonal: the sum of the values at every node.
    """

    def __init__(self, graph: Graph):
        self.n_nodes = graph.n_nodes
        ends = np.r_[graph.heads, graph.tails]
        others = np.r_[graph.tails, graph.heads]
        order = np.argsort(ends * graph.n_nodes + others)
        self.indices = others[order].astype(np.int32)
        self.indptr = np.r_[0, np.cumsum(graph.degrees)].astype(np.int64)
        self._ends = ends[order]
        self._edge = np.tile(np.arange(graph.n_edges), 2)[order]
        self.values = np.empty(len(order))
        self.degrees = np.empty(graph.n_nodes)
        self.refresh(graph.weights)

    def refresh(self, edge_values: Floats) -> Laplacian:
        """Set new edge values and return self."""
        np.take(edge_values, self._edge, out=self.values)
        self.degrees[:] = np.bincount(self._ends, self.values, minlength=self.n_nodes)
        return self

    def to_scipy(self) -> sparse.csr_array:
        """Return the Laplacian as a SciPy matrix."""
        return sparse.csr_array(sparse.diags_array(self.degrees) - self._adjacency())

    def spectral_norm(self) -> float:
        """Compute the largest eigenvalue. Gershgorin's bound would be up to twice too large."""
        if not len(self.values):
            return 0.0
        if self.n_nodes <= _DENSE_NODES:
            return float(np.linalg.eigvalsh(self.to_scipy().toarray())[-1])
        adjacency = self._adjacency()
        operator = LinearOperator(
            adjacency.shape, matvec=lambda v: self.degrees * v - adjacency @ v, dtype=np.float64
        )
        return largest_eigenvalue(operator, self._start())

    def _adjacency(self) -> sparse.csr_array:
        shape = (self.n_nodes, self.n_nodes)
        return sparse.csr_array((self.values, self.indices, self.indptr), shape=shape)

    def _start(self) -> Floats:
        # Unlike a random vector, it follows a permutation of the nodes. The eigenvectors of the
        # largest eigenvalues are concentrated at nodes of high degree.
        return self.degrees**2 * np.where(np.arange(self.n_nodes) == self.degrees.argmax(), -2, 1)
