"""Nearest neighbours on the device where a back end keeps its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import Backend, TorchBackend
from pyrocco.backends.blocks import BlockBackend
from pyrocco.graph.blocks import BlockSearch
from pyrocco.graph.join import Outside
from pyrocco.graph.neighbors import Neighbors


class DeviceSearch:
    """Exact search by PyTorch: see `TorchBackend.nearest`.

    Parameters
    ----------
    backend : TorchBackend
        Where to search.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("torch")
    >>> import numpy as np
    >>> search = DeviceSearch(TorchBackend("cpu"))
    >>> search.search(np.array([[0.0], [1.0], [3.0]]), 1, "euclidean").indices.ravel().tolist()
    [1, 0, 1]
    """

    name = "exact on device"

    def __init__(self, backend: TorchBackend):
        self.backend = backend

    def search(self, X: Any, n_neighbors: int, metric: str) -> Neighbors:
        """Nearest other rows of every row, ties by index."""
        everyone = np.arange(X.shape[0])
        return self.outside(X, metric)(everyone, everyone, n_neighbors)

    def argsort(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Put values in order, equal ones by their place."""
        return self.backend.argsort(values)

    def outside(self, X: Any, metric: str) -> Outside:
        """Return a function that finds the nearest rows of other groups (see `Outside`)."""
        prepared = self.backend.prepare(X, metric)

        def find(rows: NDArray[np.intp], groups: NDArray[np.intp], count: int) -> Neighbors:
            return Neighbors(*self.backend.nearest(prepared, rows, groups, count, metric))

        return find


def search_on(backend: Backend) -> DeviceSearch | BlockSearch | None:
    """The search that fits a back end; None leaves the choice to `mutual_knn_graph`.

    Examples
    --------
    >>> from pyrocco.backends import NumpyBackend
    >>> search_on(NumpyBackend()) is None
    True
    """
    if isinstance(backend, BlockBackend):
        return BlockSearch(backend)
    return DeviceSearch(backend) if isinstance(backend, TorchBackend) else None
