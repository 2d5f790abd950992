"""Mutual nearest-neighbour graphs with spanning-tree bridges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.blocks import is_blocks
from pyrocco.backends.kernels.forest import kruskal, roots
from pyrocco.graph.approximate import AutoSearch
from pyrocco.graph.distances import check_metric, without_rounding
from pyrocco.graph.edges import Graph, degree_weights
from pyrocco.graph.join import joining_edges, on_the_cpu
from pyrocco.graph.neighbors import Neighbors, NeighborSearch

Bridges = bool | Literal["forest"]
# Puts values in order, equal ones by their place.
Argsort = Callable[[NDArray[Any]], NDArray[np.intp]]


def mutual_knn_graph(
    X: Any,
    n_neighbors: int = 10,
    metric: str = "euclidean",
    bridges: Bridges = True,
    search: NeighborSearch | None = None,
) -> Graph:
    """Connect the rows of `X` that are among each other's nearest.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_columns)
        Rows to connect. Sparse input is never made dense as a whole.
    n_neighbors : int
        How many neighbours each row names; fewer where there are fewer other rows.
    metric : {"euclidean", "manhattan", "cosine"}
        Distance between rows. Rows of zeros are near each other and at cosine distance
        one from all others.
    bridges : bool or "forest"
        Whether to add minimum-spanning-tree edges. ``"forest"`` adds the spanning forest
        of the k-nearest-neighbour graph, as the published program of RCC does; ``True``
        also joins the components of that graph by the shortest edges between them (where
        that would take longer than the search itself, the shortest from a sample of their
        rows); ``False`` adds none.
    search : NeighborSearch, optional
        How neighbours are found. None chooses by size, as `AutoSearch` does.

    Returns
    -------
    Graph
        Edges sorted by their ends, weighted by `degree_weights`.

    Examples
    --------
    >>> import numpy as np
    >>> graph = mutual_knn_graph(np.array([[0.0], [1.0], [10.0], [11.0]]), n_neighbors=1)
    >>> list(zip(graph.heads.tolist(), graph.tails.tolist()))
    [(0, 1), (1, 2), (2, 3)]
    """
    X = _as_rows(X)
    check_metric(metric)
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be at least 1; got {n_neighbors}.")
    n_rows = X.shape[0]
    if n_rows == 1:
        none = np.empty(0, dtype=np.intp)
        return Graph(n_rows, none, none, np.empty(0))

    finder = AutoSearch() if search is None else search
    finder = finder.choose(X, metric) if isinstance(finder, AutoSearch) else finder
    neighbors = finder.search(X, min(n_neighbors, n_rows - 1), metric)
    argsort = getattr(finder, "argsort", _by_value_then_place)
    pairs, lengths, mutual = _undirected(neighbors, n_rows, argsort)
    keys = pairs[mutual]
    if bridges:
        in_tree, forest = _spanning_forest(pairs, lengths, n_rows, argsort)
        keys = pairs[mutual | in_tree]
        if bridges != "forest" and roots(forest).any():
            outside = getattr(finder, "outside", on_the_cpu)
            keys = np.sort(np.r_[keys, joining_edges(outside(X, metric), forest)])
    heads, tails = np.divmod(keys, n_rows)
    return Graph(n_rows, heads, tails, degree_weights(n_rows, heads, tails), finder.name)


def _as_rows(X: Any) -> Any:
    if is_blocks(X):
        return X
    if sparse.issparse(X):
        X = X.tocsr()
        X.sort_indices()
    else:
        X = np.ascontiguousarray(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _undirected(
    neighbors: Neighbors, n_rows: int, argsort: Argsort
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.bool_]]:
    """Pairs named by at least one end (as head * n + tail), their lengths, named by both."""
    ends = np.repeat(np.arange(n_rows), neighbors.indices.shape[1])
    others = neighbors.indices.ravel()
    named = others >= 0
    ends, others = ends[named], others[named]
    keys = np.minimum(ends, others) * n_rows + np.maximum(ends, others)
    order = argsort(keys)
    keys = keys[order]
    first = np.r_[True, keys[1:] != keys[:-1]]
    both = np.r_[keys[1:] == keys[:-1], False]
    return keys[first], neighbors.distances.ravel()[named][order[first]], both[first]


def _spanning_forest(
    pairs: NDArray[np.intp], lengths: NDArray[np.float64], n_rows: int, argsort: Argsort
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Kruskal's forest over sorted `pairs`: which of them are in it, and its state."""
    order = argsort(without_rounding(lengths))
    parents = np.arange(n_rows)
    heads, tails = np.divmod(pairs[order], n_rows)
    chosen = np.zeros(len(pairs), dtype=bool)
    chosen[order] = kruskal(heads, tails, parents)
    return chosen, parents


def _by_value_then_place(values: NDArray[Any]) -> NDArray[np.intp]:
    """A stable order, by an unstable sort (several times faster) and a second look at ties."""
    order = np.argsort(values)
    ordered = values[order]
    same = ordered[1:] == ordered[:-1]
    tied = np.r_[same, False] | np.r_[False, same]
    order[tied] = order[tied][np.lexsort((order[tied], ordered[tied]))]
    return order
