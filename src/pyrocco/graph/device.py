"""Nearest neighbours on the device of the PyTorch back end."""

from __future__ import annotations

import numpy as np

from pyrocco._typing import Dense, Labels, Matrix
from pyrocco.backends import TorchBackend
from pyrocco.graph.exact import FindOutside, Neighbors


class DeviceSearch:
    """Exact search by PyTorch (see `TorchBackend.nearest`)."""

    name = "exact on device"

    def __init__(self, backend: TorchBackend):
        self.backend = backend

    def search(self, X: Matrix, n_neighbors: int, metric: str) -> Neighbors:
        """Return the nearest other rows of every row, ties by index."""
        everyone = np.arange(X.shape[0])
        return self.outside(X, metric)(everyone, everyone, n_neighbors)

    def argsort(self, values: Dense) -> Labels:
        """Return the order that sorts the values; equal values keep their order."""
        return self.backend.argsort(values)

    def outside(self, X: Matrix, metric: str) -> FindOutside:
        """Return a function that finds the nearest rows of other components."""
        prepared = self.backend.prepare(X, metric)

        def find(rows: Labels, components: Labels, count: int) -> Neighbors:
            return Neighbors(*self.backend.nearest(prepared, rows, components, count, metric))

        return find
