"""Control: Leiden communities of the 10-nearest-neighbour graph (needs leidenalg, igraph)."""

import numpy as np
from sklearn.neighbors import kneighbors_graph

from benchmarks.paper.methods.base import EVERYWHERE, OneSided
from pyrocco.cells.values import is_mostly_zero, resolve_metric


def cluster(X, k, seed):
    metric = resolve_metric("auto", is_mostly_zero(X))
    near = kneighbors_graph(X, min(10, X.shape[0] - 1), metric=metric)
    return communities(near, "ModularityVertexPartition", seed)


def communities(near, partition, seed, **options):
    """Leiden communities of a graph of neighbours, in which every edge has weight 1."""
    igraph, leidenalg = _packages()
    heads, tails = near.maximum(near.T).nonzero()
    once = heads < tails
    edges = np.column_stack([heads[once], tails[once]]).tolist()
    graph = igraph.Graph(near.shape[0], edges)
    parts = leidenalg.find_partition(graph, getattr(leidenalg, partition), seed=seed, **options)
    return np.array(parts.membership)


def _packages():
    try:
        import igraph  # noqa: PLC0415
        import leidenalg  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(f"{error}; for Leiden run: pip install --group bench") from error
    return igraph, leidenalg


METHOD = OneSided("leiden", None, EVERYWHERE, cluster)
