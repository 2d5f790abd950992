"""The graphs of a fit: neighbours in the data, and among its leading features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy import sparse

from pyrocco.assign.features import leading_features
from pyrocco.backends import Backend, Chunked
from pyrocco.estimators.missing import has_gaps
from pyrocco.graph import Graph, combined_graph, mutual_knn_graph
from pyrocco.graph.build import Bridges, search_for
from pyrocco.graph.masked import MaskedSearch
from pyrocco.progress import Progress

# Features by which rows, and columns, find their second set of neighbours.
FEATURE_GRAPH_RANK = 20
# Above this many the search is the larger part of a fit; one set of neighbours is enough.
FEATURE_GRAPH_ROWS = 20_000

Graphs = tuple[Graph, Graph]


@dataclass(frozen=True)
class GraphMaker:
    """Makes the graph of the rows and that of the columns of a matrix.

    Parameters
    ----------
    n_neighbors : int
        Neighbours each row, and each column, names.
    metric : str
        Distance between rows, and between columns.
    bridges : bool or "forest"
        See `mutual_knn_graph`.
    backend : Backend
        Where to search, unless cells are missing.
    progress : Progress
        Told of stages.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends import NumpyBackend
    >>> make = GraphMaker(2, "euclidean", True, NumpyBackend(), Progress())
    >>> rows, columns = make.from_data(np.random.default_rng(0).random((8, 6)))
    >>> rows.n_nodes, columns.n_nodes, rows.n_components
    (8, 6, 1)
    """

    n_neighbors: int
    metric: str
    bridges: Bridges
    backend: Backend
    progress: Progress

    def from_data(self, X: Any) -> Graphs:
        """Neighbours in the data, dense or CSR; over shared cells where some are missing."""
        search = MaskedSearch() if has_gaps(X) else search_for(self.backend)
        options = self.n_neighbors, self.metric, self.bridges, search
        with self.progress.stage("graph of rows"):
            rows = mutual_knn_graph(X, *options)
        turned = self._turned(X)
        with self.progress.stage("graph of columns"):
            return rows, mutual_knn_graph(turned, *options)

    def _turned(self, X: Any) -> Any:
        if sparse.issparse(X):
            return X.T.tocsr()
        if isinstance(X, Chunked):
            return X.T
        # A GPU turns a large matrix around in less time than this memory does.
        return self.backend.to_numpy(self.backend.transpose(self.backend.asarray(X)))

    def with_features(self, graphs: Graphs, dense: Any) -> Graphs:
        """Add neighbours among the leading features of `dense`, which is on the back end."""
        with self.progress.stage("graph of features"):
            turned = self.backend.transpose(dense)
            return self._with_near(graphs[0], dense), self._with_near(graphs[1], turned)

    def _with_near(self, graph: Graph, dense: Any) -> Graph:
        if graph.n_nodes > FEATURE_GRAPH_ROWS:
            return graph
        features = leading_features(dense, FEATURE_GRAPH_RANK, self.backend)
        search = search_for(self.backend)
        # The first graph is in one piece already.
        near = mutual_knn_graph(features, self.n_neighbors, "euclidean", "forest", search)
        return combined_graph(graph, near)
