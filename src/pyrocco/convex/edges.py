"""The edges of one graph as springs that slip: what the augmented Lagrangian is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyrocco.convex import kernels
from pyrocco.graph import Graph

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# An edge counts as short, and is held by a spring, below this share of the mean length.
_SHORT = 0.3


class Edges:
    """Multipliers of the edges of a graph, and the forces that act with them on U.

    The penalty radius ||U_head - U_tail|| is replaced by the energy of a spring that starts
    at the multiplier and slips once its tension has the length of the radius. With the right
    multipliers, edges that do not slip have length zero and nothing is lost by the exchange.

    Parameters
    ----------
    graph : Graph
        Edges among rows, or among columns.
    U : ndarray of shape (n_nodes, width)
        Where lengths are measured to say what is short.

    Attributes
    ----------
    multipliers : ndarray of shape (n_edges, width)
        No longer than the radii, so they bound the problem from below.
    radii : ndarray of shape (n_edges,)
        gamma times the weights.
    lengths : ndarray of shape (n_edges,)
        Lengths at the last U.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.graph import Graph
    >>> U = np.array([[0.0], [1.0]])
    >>> edges = Edges(Graph(2, np.array([0]), np.array([1]), np.ones(1)), U)
    >>> edges.begin(gamma=2.0)
    >>> force = np.zeros_like(U)
    >>> _ = edges.pull(U, force)
    >>> force.ravel().tolist(), edges.closed.tolist()
    ([-2.0, 2.0], [False])
    """

    def __init__(self, graph: Graph, U: Matrix):
        self.graph = graph
        self._ends = graph.heads, graph.tails
        self.lengths = np.empty(graph.n_edges)
        kernels.lengths(U, *self._ends, self.lengths)
        self._short = (_SHORT * float(self.lengths.mean()) if graph.n_edges else 0.0) or 1.0
        self.multipliers = np.zeros((graph.n_edges, U.shape[1]))
        self._tension = np.zeros_like(self.multipliers)
        self._shares = np.zeros(graph.n_edges)
        self.begin(0.0)

    def begin(self, gamma: float) -> None:
        """Go to another gamma, with multipliers no longer than it allows."""
        self.radii = gamma * self.graph.weights
        self._stiffness = self.radii / self._short
        kernels.shorten(self.multipliers, self.radii)

    def stiffen(self, factor: float) -> None:
        """Make all springs stiffer."""
        self._stiffness *= factor

    def pull(self, U: Matrix, force: Matrix) -> float:
        """Stretch the edges to U, add to the force on the nodes and return the energy."""
        state = self._tension, self._shares, self.lengths
        given = self.multipliers, self._stiffness, self.radii
        return float(kernels.pull(U, *self._ends, *given, *state, force))

    def bend(self, D: Matrix, out: Matrix) -> None:
        """Add the change of the force when U moves by D."""
        springs = self._tension, self._stiffness, self.radii, self._shares
        kernels.bend(D, *self._ends, *springs, out)

    def settle(self) -> None:
        """Take what acts now as multipliers."""
        self._tension *= self._shares[:, None]
        self.multipliers, self._tension = self._tension, self.multipliers

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Which edges do not slip."""
        return np.asarray(self._shares == 1.0)

    @property
    def penalty(self) -> float:
        """Radii times lengths, summed."""
        return float(self.radii @ self.lengths)

    @property
    def degrees(self) -> Vector:
        """Stiffness that each node feels at most, in any one coordinate."""
        acting = self._stiffness * self._shares
        at_heads, at_tails = (np.bincount(end, acting, self.graph.n_nodes) for end in self._ends)
        return np.asarray(at_heads + at_tails)
