"""Nearest neighbours on the device where a back end keeps its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrocco.backends import Backend, TorchBackend
from pyrocco.graph.neighbors import Neighbors, without_rounding


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
        candidates, exact = self.backend.nearest(X, n_neighbors, metric)
        order = np.lexsort((candidates, without_rounding(exact)), axis=1)[:, :n_neighbors]
        return Neighbors(
            np.take_along_axis(candidates, order, axis=1),
            np.take_along_axis(exact, order, axis=1),
        )


def search_on(backend: Backend) -> DeviceSearch | None:
    """The search that fits a back end; None leaves the choice to `mutual_knn_graph`.

    Examples
    --------
    >>> from pyrocco.backends import NumpyBackend
    >>> search_on(NumpyBackend()) is None
    True
    """
    return DeviceSearch(backend) if isinstance(backend, TorchBackend) else None
