"""Control: Leiden communities of the 10-nearest-neighbour graph (needs leidenalg, igraph)."""

import numpy as np
from sklearn.neighbors import kneighbors_graph

from benchmarks.paper.methods.base import EVERYWHERE, OneSided
from pyrocco.cells.values import is_mostly_zero, resolve_metric


def cluster(X, k, seed):
    import igraph  # noqa: PLC0415
    import leidenalg  # noqa: PLC0415

    metric = resolve_metric("auto", is_mostly_zero(X))
    near = kneighbors_graph(X, min(10, X.shape[0] - 1), metric=metric)
    heads, tails = near.maximum(near.T).nonzero()
    once = heads < tails
    edges = np.column_stack([heads[once], tails[once]]).tolist()
    graph = igraph.Graph(X.shape[0], edges)
    parts = leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, seed=seed)
    return np.array(parts.membership)


METHOD = OneSided("leiden", None, EVERYWHERE, cluster)
