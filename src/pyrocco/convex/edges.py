"""The terms of the edges of one graph in the augmented Lagrangian."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from pyrocco._typing import DeviceArray, Floats, Mask
from pyrocco.backends import ArrayBackend, TorchBackend
from pyrocco.convex.numpy_edges import NumpyEdgeKernels
from pyrocco.convex.torch_edges import TorchEdgeKernels
from pyrocco.graph import Graph

# The stiffness of an edge is its radius divided by this share of the mean length.
_SHORT = 0.3


class EdgeKernels(Protocol):
    """Operations on the edges of a graph, where the arrays of a back end are stored.

    Arrays U, D, gradient and out have a row for every node; multipliers and tension have a row,
    and stiffness, radii, shares and lengths a value, for every edge.
    """

    def zeros(self, n_columns: int) -> Any:
        """Return an array of zeros with a row for every edge."""

    def clip_lengths(self, vectors: Any, most: Any) -> None:
        """Scale every row of `vectors` down to its greatest length."""

    def gradient(
        self,
        U: Any,
        multipliers: Any,
        stiffness: Any,
        radii: Any,
        tension: Any,
        shares: Any,
        lengths: Any,
        gradient: Any,
    ) -> float:
        """Write tension, shares and lengths at U, add to the gradient and return the value.

        The tension of an edge is stiffness (U_head - U_tail) + multiplier, its share is
        min(1, radius / ||tension||) and its gradient is share times tension.
        """

    def hessian(
        self, D: Any, tension: Any, stiffness: Any, radii: Any, shares: Any, out: Any
    ) -> None:
        """Add the Hessian of `gradient` times D to `out`.

        The term of a closed edge (share 1) is quadratic. The gradient of an open edge has
        constant length, so that its Hessian is a projection onto the complement of the tension.
        """

    def at_nodes(self, values: Any) -> Any:
        """Return the sum of the values of the edges of every node."""


def edge_kernels(graph: Graph, backend: ArrayBackend) -> EdgeKernels:
    """Return the operations on the edges of a graph for arrays on `backend`."""
    if isinstance(backend, TorchBackend):
        return TorchEdgeKernels(graph, backend)
    return NumpyEdgeKernels(graph)


def edge_lengths(U: DeviceArray, graph: Graph, backend: ArrayBackend) -> Floats:
    """Compute ||U_head - U_tail|| for every edge among the rows of U."""
    return np.asarray(np.sqrt(backend.edge_lengths(U, graph.heads, graph.tails, 0)))


class Edges:
    """Multipliers of the edges of a graph, and their terms of the augmented Lagrangian.

    The penalty radius ||U_head - U_tail|| is replaced by a smooth function: quadratic, like the
    energy of a spring, while the norm of stiffness (U_head - U_tail) + multiplier is at most the
    radius, and linear beyond. An edge in the quadratic range is called closed: with the optimal
    multipliers its length is zero. Radii are gamma times the weights. Multipliers are no longer
    than the radii, so that they give a lower bound of the problem. The edge lengths in the first
    `U` set the stiffness; `lengths` are those at the last U.
    """

    def __init__(self, graph: Graph, U: DeviceArray, backend: ArrayBackend):
        self._backend, self._kernels = backend, edge_kernels(graph, backend)
        first = edge_lengths(U, graph, backend)
        self._short = (_SHORT * float(first.mean()) if graph.n_edges else 0.0) or 1.0
        self.lengths: DeviceArray = backend.asarray(first)
        self._weights: DeviceArray = backend.asarray(graph.weights)
        self._shares: DeviceArray = backend.zeros_like(self.lengths)
        self.multipliers: DeviceArray = self._kernels.zeros(U.shape[1])
        self._tension: DeviceArray = backend.zeros_like(self.multipliers)
        self.set_gamma(0.0)

    def set_gamma(self, gamma: float) -> None:
        """Set the radii for `gamma` and shorten the multipliers accordingly."""
        self.radii: DeviceArray = gamma * self._weights
        self._stiffness: DeviceArray = self.radii / self._short
        self._kernels.clip_lengths(self.multipliers, self.radii)

    def add_gradient(self, U: DeviceArray, gradient: DeviceArray) -> float:
        """Add the gradient at U to `gradient` and return the value."""
        state = self._tension, self._shares, self.lengths
        given = self.multipliers, self._stiffness, self.radii
        return self._kernels.gradient(U, *given, *state, gradient)

    def add_hessian_product(self, D: DeviceArray, out: DeviceArray) -> None:
        """Add the Hessian at the last U times D to `out`."""
        springs = self._tension, self._stiffness, self.radii, self._shares
        self._kernels.hessian(D, *springs, out)

    def update_multipliers(self, stiffen: float) -> None:
        """Take the gradients of the edges as multipliers and increase the stiffness."""
        self._tension *= self._shares[:, None]
        self.multipliers, self._tension = self._tension, self.multipliers
        self._stiffness *= stiffen

    @property
    def closed(self) -> Mask:
        """Mask of the edges in the quadratic range."""
        return np.asarray(self._backend.to_numpy(self._shares) == 1.0)

    @property
    def penalty(self) -> float:
        """Sum of radii times lengths."""
        return self._backend.dot(self.radii, self.lengths)

    @property
    def degrees(self) -> DeviceArray:
        """Upper bound of the curvature of each node in any coordinate."""
        degrees: DeviceArray = self._kernels.at_nodes(self._stiffness * self._shares)
        return degrees
