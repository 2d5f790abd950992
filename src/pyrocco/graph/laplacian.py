"""The Laplacian of a graph whose edge values change while its pattern stays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from pyrocco.backends.norms import largest_eigenvalue
from pyrocco.graph.edges import Graph

# Below this size a dense eigenvalue routine is both faster and safer than Lanczos.
_DENSE_NODES = 32


class Laplacian:
    """sum_e value_e (e_i - e_j)(e_i - e_j)^T, in rows of neighbours (CSR without diagonal).

    Parameters
    ----------
    graph : Graph
        Gives the pattern. The values start at the edge weights.

    Attributes
    ----------
    indptr, indices : ndarray
        Neighbours of node i are ``indices[indptr[i]:indptr[i + 1]]``.
    values : ndarray of float64
        Edge values beside `indices` (positive: the off-diagonal entries are their negatives).
    degrees : ndarray of float64
        Sum of the values at every node: the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.graph import Graph
    >>> L = Laplacian(Graph(2, np.array([0]), np.array([1]), np.ones(1)))
    >>> L.refresh(np.array([3.0])).to_scipy().toarray().tolist()
    [[3.0, -3.0], [-3.0, 3.0]]
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

    def refresh(self, edge_values: NDArray[np.float64]) -> Laplacian:
        """Put new edge values in place and return self."""
        np.take(edge_values, self._edge, out=self.values)
        self.degrees[:] = np.bincount(self._ends, self.values, minlength=self.n_nodes)
        return self

    def to_scipy(self) -> sparse.csr_array:
        """Return the Laplacian as a SciPy matrix."""
        return sparse.csr_array(sparse.diags_array(self.degrees) - self._adjacency())

    def spectral_norm(self) -> float:
        """Largest eigenvalue. Gershgorin's bound would be up to twice too large."""
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

    def _start(self) -> NDArray[np.float64]:
        # Follows the nodes when they are permuted, unlike a random vector; the highest
        # eigenvectors of a Laplacian sit at nodes of high degree.
        return self.degrees**2 * np.where(np.arange(self.n_nodes) == self.degrees.argmax(), -2, 1)
