"""The edges of a graph on NumPy arrays, by numba kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyrocco._typing import Floats, Labels
from pyrocco.convex import kernels
from pyrocco.graph import Graph


@dataclass(frozen=True)
class NumpyEdgeKernels:
    """NumPy arrays in this process. `EdgeKernels` documents the methods."""

    graph: Graph

    def zeros(self, n_columns: int) -> Floats:
        return np.zeros((self.graph.n_edges, n_columns))

    def clip_lengths(self, vectors: Floats, most: Floats) -> None:
        kernels.clip_lengths(vectors, most)

    def gradient(
        self,
        U: Floats,
        multipliers: Floats,
        stiffness: Floats,
        radii: Floats,
        tension: Floats,
        shares: Floats,
        lengths: Floats,
        gradient: Floats,
    ) -> float:
        given = multipliers, stiffness, radii
        return float(
            kernels.edge_gradient(U, *self._ends, *given, tension, shares, lengths, gradient)
        )

    def hessian(
        self,
        D: Floats,
        tension: Floats,
        stiffness: Floats,
        radii: Floats,
        shares: Floats,
        out: Floats,
    ) -> None:
        kernels.edge_hessian(D, *self._ends, tension, stiffness, radii, shares, out)

    def at_nodes(self, values: Floats) -> Floats:
        at_heads, at_tails = (np.bincount(end, values, self.graph.n_nodes) for end in self._ends)
        return np.asarray(at_heads + at_tails)

    @property
    def _ends(self) -> tuple[Labels, Labels]:
        return self.graph.heads, self.graph.tails
