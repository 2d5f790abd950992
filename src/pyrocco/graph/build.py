"""Mutual nearest-neighbour graphs with spanning-tree bridges."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.kernels.forest import kruskal, roots
from pyrocco.graph.edges import Graph, degree_weights
from pyrocco.graph.neighbors import (
    Distances,
    Neighbors,
    distances_between_rows,
    nearest,
    nearest_outside,
    without_rounding,
)

Bridges = bool | Literal["forest"]


def mutual_knn_graph(
    X: Any,
    n_neighbors: int = 10,
    metric: str = "euclidean",
    bridges: Bridges = True,
    search: Any = None,
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
        also joins the components of that graph by the shortest edges between them;
        ``False`` adds none.
    search : NeighborSearch, optional
        How neighbours are found; exactly, on the CPU, unless given.

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
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be at least 1; got {n_neighbors}.")
    n_rows = X.shape[0]
    distances = distances_between_rows(X, metric)
    if n_rows == 1:
        none = np.empty(0, dtype=np.intp)
        return Graph(n_rows, none, none, np.empty(0))

    k = min(n_neighbors, n_rows - 1)
    neighbors = nearest(distances, k) if search is None else search.search(X, k, metric)
    pairs, lengths, mutual = _undirected(neighbors, n_rows)
    keys = pairs[mutual]
    if bridges:
        tree, forest = _spanning_forest(pairs, lengths, n_rows)
        keys = np.union1d(keys, tree)
        if bridges != "forest":
            keys = np.union1d(keys, _joining_edges(distances, forest))
    heads, tails = np.divmod(keys, n_rows)
    return Graph(n_rows, heads, tails, degree_weights(n_rows, heads, tails))


def _as_rows(X: Any) -> Any:
    if sparse.issparse(X):
        X = X.tocsr()
        X.sort_indices()
    else:
        X = np.ascontiguousarray(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _undirected(
    neighbors: Neighbors, n_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.bool_]]:
    """Pairs named by at least one end (as head * n + tail), their lengths, named by both."""
    ends = np.repeat(np.arange(n_rows), neighbors.indices.shape[1])
    others = neighbors.indices.ravel()
    named = others >= 0
    ends, others = ends[named], others[named]
    keys = np.minimum(ends, others) * n_rows + np.maximum(ends, others)
    pairs, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return pairs, neighbors.distances.ravel()[named][first], counts == 2


def _spanning_forest(
    pairs: NDArray[np.intp], lengths: NDArray[np.float64], n_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Kruskal's forest over `pairs`, ties by position; returns its edges and its state."""
    order = np.lexsort((pairs, without_rounding(lengths)))
    parents = np.arange(n_rows)
    heads, tails = np.divmod(pairs[order], n_rows)
    return pairs[order][kruskal(heads, tails, parents)], parents


def _joining_edges(distances: Distances, parents: NDArray[np.intp]) -> NDArray[np.intp]:
    """Join the trees of a forest by their shortest outward edges until one is left.

    Boruvka's rounds: each tree but the largest names its nearest outside row, so the work
    is that of the small trees only, and the number of trees at least halves a round.
    """
    n_rows = distances.n_rows
    added = []
    trees = roots(parents)
    while trees.max() > 0:
        rows = np.flatnonzero(trees != np.bincount(trees).argmax())
        found = nearest_outside(distances, rows, trees, 1)
        lengths, others = found.distances[:, 0], found.indices[:, 0]
        keys = np.minimum(rows, others) * n_rows + np.maximum(rows, others)
        order = np.lexsort((keys, without_rounding(lengths)))
        _, first = np.unique(trees[rows][order], return_index=True)
        chosen = order[np.sort(first)]
        heads, tails = np.divmod(keys[chosen], n_rows)
        added.append(keys[chosen][kruskal(heads, tails, parents)])
        trees = roots(parents)
    return np.concatenate(added) if added else np.empty(0, dtype=np.intp)
