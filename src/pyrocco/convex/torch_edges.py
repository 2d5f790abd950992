"""The edges of a graph on PyTorch tensors, on a GPU or on PyTorch's CPU device.

Sums are computed in a fixed order, so that the same call gives the same result. Values of all
edges and columns at once are only stored, not computed with: differences are made for a batch of
edges, and sums at the nodes without temporary arrays (`TorchBackend.weighted_sums`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pyrocco.backends import TorchBackend
from pyrocco.backends.numpy import by_label
from pyrocco.graph import Graph

if TYPE_CHECKING:
    from torch import Tensor

# Values of temporary arrays, at most: 1 GiB in float64.
_BATCH_VALUES = 2**27


class TorchEdgeKernels:
    """PyTorch tensors on a device. `EdgeKernels` documents the methods."""

    def __init__(self, graph: Graph, backend: TorchBackend):
        self._backend, self._torch, self._tensor = backend, backend.torch, backend.tensor
        n_edges = self._n_edges = graph.n_edges
        # Row e of the incidence matrix: +1 at the head and -1 at the tail of edge e.
        pairs = np.column_stack([graph.heads, graph.tails])
        self._pairs = self._tensor(pairs.ravel())
        self._pair_signs = self._tensor(np.tile([1.0, -1.0], n_edges))
        self._pair_starts = self._tensor(np.arange(0, 2 * n_edges + 1, 2))
        # The transpose: the edges of every node, their signs there, and their other ends.
        nodes = np.r_[graph.heads, graph.tails]
        order, starts = by_label(nodes)
        full = np.full(graph.n_nodes + 1 - len(starts), len(order))
        self._starts = self._tensor(np.r_[starts, full])
        self._edges = self._tensor(np.tile(np.arange(n_edges), 2)[order])
        self._signs = self._tensor(np.repeat([1.0, -1.0], n_edges)[order])
        self._others = self._tensor(np.r_[graph.tails, graph.heads][order])

    def zeros(self, n_columns: int) -> Tensor:
        shape, float64 = (self._n_edges, n_columns), self._torch.float64
        zeros: Tensor = self._torch.zeros(shape, dtype=float64, device=self._backend.device)
        return zeros

    def clip_lengths(self, vectors: Tensor, most: Tensor) -> None:
        for part in self._batches(vectors):
            norms, limits = self._norms(vectors[part]), most[part]
            factors = self._torch.where(norms > limits, limits / norms, 1.0)
            vectors[part].mul_(factors[:, None])

    def gradient(
        self,
        U: Tensor,
        multipliers: Tensor,
        stiffness: Tensor,
        radii: Tensor,
        tension: Tensor,
        shares: Tensor,
        lengths: Tensor,
        gradient: Tensor,
    ) -> float:
        if not self._n_edges:
            return 0.0
        where = self._torch.where
        norms, before = self._torch.empty_like(lengths), self._torch.empty_like(lengths)
        for part in self._batches(tension):
            differences = self._differences(U, part)
            lengths[part] = self._norms(differences)
            differences *= stiffness[part, None]
            self._torch.add(differences, multipliers[part], out=tension[part])
            norms[part] = self._norms(tension[part])
            before[part] = self._norms(multipliers[part])
        # An edge of weight zero has no term.
        acting, long = stiffness != 0, norms > radii
        shares.copy_(where(acting, where(long, radii / norms, 1.0), 0.0))
        squares = where(long, radii * (2.0 * norms - radii), norms.square())
        energies = where(acting, 0.5 * (squares - before.square()) / stiffness, 0.0)
        gradient += self._at_nodes(tension, shares)
        return float(energies.sum())

    def hessian(
        self,
        D: Tensor,
        tension: Tensor,
        stiffness: Tensor,
        radii: Tensor,
        shares: Tensor,
        out: Tensor,
    ) -> None:
        if not self._n_edges:
            return
        along = self._torch.empty_like(shares)
        for part in self._batches(tension):
            along[part] = self._differences(D, part).mul_(tension[part]).sum(1)
        springs = stiffness * shares
        is_open = (shares < 1.0) & (springs > 0.0)
        per_norm = self._torch.where(is_open, shares / radii, 0.0)
        out += self.at_nodes(springs)[:, None] * D
        weights = springs.index_select(0, self._edges)
        out -= self._backend.weighted_sums(D, self._starts, self._others, weights)
        out -= self._at_nodes(tension, springs * along * per_norm * per_norm)

    def at_nodes(self, values: Tensor) -> Tensor:
        ones = self._torch.ones_like(self._signs)
        sums = self._backend.weighted_sums(values[:, None], self._starts, self._edges, ones)
        return sums[:, 0]

    def _at_nodes(self, vectors: Tensor, factors: Tensor) -> Tensor:
        """Add the vector of every edge, times its factor, at its head; subtract it at its tail."""
        weights = self._signs * factors.index_select(0, self._edges)
        return self._backend.weighted_sums(vectors, self._starts, self._edges, weights)

    def _differences(self, U: Tensor, part: slice) -> Tensor:
        """Compute U_head - U_tail for a batch of edges."""
        ends = slice(2 * part.start, 2 * part.stop)
        starts = self._pair_starts[: part.stop - part.start + 1]
        return self._backend.weighted_sums(U, starts, self._pairs[ends], self._pair_signs[ends])

    def _norms(self, vectors: Tensor) -> Tensor:
        norms: Tensor = self._torch.linalg.vector_norm(vectors, dim=1)
        return norms

    def _batches(self, vectors: Tensor) -> Iterator[slice]:
        size = max(1, _BATCH_VALUES // max(1, vectors.shape[1]))
        for start in range(0, self._n_edges, size):
            yield slice(start, min(start + size, self._n_edges))
