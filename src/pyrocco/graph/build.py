"""Mutual nearest-neighbour graphs, connected by edges of a minimum spanning tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
from scipy import sparse

from pyrocco._typing import Dense, Floats, Labels, Mask, Matrix
from pyrocco.backends import Backend, Chunked, ChunkedBackend, TorchBackend, kernels
from pyrocco.cells.input import check_matrix
from pyrocco.cells.values import in_safe_range
from pyrocco.graph.approximate import EXACT_ROWS, ApproximateSearch
from pyrocco.graph.chunked import ChunkedSearch
from pyrocco.graph.distances import check_metric, distances_between_rows, without_rounding
from pyrocco.graph.edges import Graph, degree_weights
from pyrocco.graph.exact import (
    DeviceSearch,
    ExactSearch,
    FindOutside,
    Neighbors,
    NeighborSearch,
    nearest_outside,
)
from pyrocco.validation import check_count, shown

Bridges = bool | Literal["forest"]
# Returns the order that sorts values; equal values keep their order.
Argsort = Callable[[Dense], Labels]

# Distances that one round of joining components may compute. The result is exact for up to
# about 20,000 rows, and joining never takes longer than the search.
JOIN_DISTANCES = 3 * 10**8


def mutual_knn_graph(
    X: Matrix | Chunked,
    n_neighbors: int = 10,
    metric: str = "euclidean",
    bridges: Bridges = True,
    search: NeighborSearch | None = None,
) -> Graph:
    """Connect the rows of `X` that are among each other's nearest neighbours.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_columns)
        Rows to connect. A sparse matrix is converted to a dense array only if more than 15 % of
        its cells are filled, where this is faster and takes little more memory.
    n_neighbors : int
        Number of neighbours of each row, or all other rows if there are fewer.
    metric : {"euclidean", "manhattan", "cosine"}
        Distance between rows. Rows of zeros have cosine distance zero to each other and one to
        all other rows.
    bridges : bool or "forest"
        Whether to add minimum-spanning-tree edges. ``"forest"`` adds the spanning forest
        of the k-nearest-neighbour graph, as the published program of RCC does. ``True``
        also joins the components of that graph by the shortest edges between them (by the
        shortest edges from a sample of their rows if that would take longer than the search).
        ``False`` adds none.
    search : NeighborSearch, optional
        How to find neighbours. By default, the exact search is used up to 20,000 rows and the
        approximate search above. Sparse rows and the Manhattan metric are always searched
        exactly.

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
    check_metric(metric)
    check_count("n_neighbors", n_neighbors)
    if not isinstance(bridges, bool) and bridges != "forest":
        raise ValueError(f"bridges must be True, False or 'forest'; got {shown(bridges)}.")
    X = _as_rows(X, allow_nan=search is not None)
    n_rows = X.shape[0]
    if n_rows == 1:
        none = np.empty(0, dtype=np.intp)
        return Graph(n_rows, none, none, np.empty(0))

    search = choose_search(X, metric) if search is None else search
    neighbors = search.search(X, min(n_neighbors, n_rows - 1), metric)
    argsort = getattr(search, "argsort", _stable_argsort)
    pairs, lengths, mutual, places = _undirected(neighbors, n_rows, argsort)
    keys = pairs[mutual]
    if bridges:
        in_tree, forest = _spanning_forest(pairs, lengths, places, n_rows, argsort)
        keys = pairs[mutual | in_tree]
        if bridges != "forest" and kernels.graphs.roots(forest).any():
            outside = getattr(search, "outside", exact_outside)
            keys = np.sort(np.r_[keys, joining_edges(outside(X, metric), forest)])
    heads, tails = np.divmod(keys, n_rows)
    return Graph(n_rows, heads, tails, degree_weights(n_rows, heads, tails), search.name)


def choose_search(
    X: Matrix, metric: str, n_threads: int | None = None
) -> ExactSearch | ApproximateSearch:
    """Return the search for rows in memory: exact for up to `EXACT_ROWS` rows."""
    if X.shape[0] <= EXACT_ROWS or sparse.issparse(X) or metric == "manhattan":
        return ExactSearch(n_threads)
    return ApproximateSearch(n_threads=n_threads)


def search_for(backend: Backend) -> DeviceSearch | ChunkedSearch | None:
    """Return the search on a back end; None leaves the choice to `mutual_knn_graph`."""
    if isinstance(backend, ChunkedBackend):
        return ChunkedSearch(backend)
    return DeviceSearch(backend) if isinstance(backend, TorchBackend) else None


def _as_rows(X: Matrix | Chunked, allow_nan: bool) -> Matrix | Chunked:
    """Check the rows, and bring extreme values into a range in which they have distances."""
    if isinstance(X, Chunked):
        return X
    return in_safe_range(check_matrix(X, allow_nan=allow_nan, order="C"))[0]


def _undirected(
    neighbors: Neighbors, n_rows: int, argsort: Argsort
) -> tuple[Labels, Floats, Mask, Labels]:
    """Return pairs of neighbours (as head * n + tail), their lengths, and which are mutual.

    The last array says where each pair was found first, in the order of the rows.
    """
    ends = np.repeat(np.arange(n_rows), neighbors.indices.shape[1])
    others = neighbors.indices.ravel()
    present = others >= 0
    ends, others = ends[present], others[present]
    keys = np.minimum(ends, others) * n_rows + np.maximum(ends, others)
    order = argsort(keys)
    keys = keys[order]
    # No pair at all if no two rows have values in the same column.
    first = np.r_[True, keys[1:] != keys[:-1]][: len(keys)]
    both = np.r_[keys[1:] == keys[:-1], False][: len(keys)]
    places = order[first]
    return keys[first], neighbors.distances.ravel()[present][places], both[first], places


def _spanning_forest(
    pairs: Labels, lengths: Floats, places: Labels, n_rows: int, argsort: Argsort
) -> tuple[Mask, Labels]:
    """Return which of the sorted `pairs` are in Kruskal's forest, and its state.

    Of pairs of equal length the one that was found first comes first, as in RCC's program.
    """
    found = argsort(places)
    order = found[argsort(without_rounding(lengths[found]))]
    parents = np.arange(n_rows)
    heads, tails = np.divmod(pairs[order], n_rows)
    chosen = np.zeros(len(pairs), dtype=bool)
    chosen[order] = kernels.graphs.kruskal(heads, tails, parents)
    return chosen, parents


def _stable_argsort(values: Dense) -> Labels:
    """Sort with an unstable sort, which is several times faster, and then sort the ties."""
    order = np.argsort(values)
    ordered = values[order]
    same = ordered[1:] == ordered[:-1]
    tied = (np.r_[same, False] | np.r_[False, same])[: len(values)]
    order[tied] = order[tied][np.lexsort((order[tied], ordered[tied]))]
    return order


def exact_outside(X: Matrix, metric: str) -> FindOutside:
    """Return a function that finds the nearest rows of other components on the CPU."""
    return partial(nearest_outside, distances_between_rows(X, metric))


def joining_edges(find: FindOutside, parents: Labels) -> Labels:
    """Join the trees of a forest by their shortest outward edges until one is left.

    In every round of Boruvka's algorithm, each tree but the largest finds its nearest outside
    row. The work is that of the small trees only, and the number of trees at least halves. Trees
    at an infinite distance from all others stay apart. Edges are returned as
    ``head * n_rows + tail``; `parents` is updated.
    """
    trees = kernels.graphs.roots(parents)
    outward = _OutwardEdges(find, len(parents))
    added = [np.empty(0, dtype=np.intp)]
    while trees.max() > 0:
        rows, others = outward.shortest(trees)
        if not len(rows):
            break
        heads, tails = np.minimum(rows, others), np.maximum(rows, others)
        added.append((heads * len(trees) + tails)[kernels.graphs.kruskal(heads, tails, parents)])
        trees = kernels.graphs.roots(parents)
    return np.concatenate(added)


class _OutwardEdges:
    """The nearest outside row of each row, computed only if it is needed."""

    def __init__(self, find: FindOutside, n_rows: int):
        self._find = find
        self._others = np.full(n_rows, -1, dtype=np.intp)
        self._lengths = np.zeros(n_rows)

    def shortest(self, trees: Labels) -> tuple[Labels, Labels]:
        """Return the two ends of the shortest edge out of every tree but the largest."""
        rows = _rows_to_search(trees)
        self._update(rows, trees)
        n_rows, others, lengths = len(trees), self._others[rows], self._lengths[rows]
        keys = np.minimum(rows, others) * n_rows + np.maximum(rows, others)
        outside = (others >= 0) & (trees[others] != trees[rows])
        order = np.lexsort((keys, np.where(outside, lengths, np.inf)))
        _, first = np.unique(trees[rows][order], return_index=True)
        chosen = order[np.sort(first)]
        chosen = chosen[outside[chosen]]
        return rows[chosen], others[chosen]

    def _update(self, rows: Labels, trees: Labels) -> None:
        """Search again if the nearest row is now inside, unless its tree has a shorter edge.

        The previous distance of a row is a lower bound of its distance after its tree has grown.
        """
        known = (self._others[rows] >= 0) & (trees[self._others[rows]] != trees[rows])
        best = np.full(len(trees), np.inf)
        np.minimum.at(best, trees[rows[known]], self._lengths[rows[known]])
        queries = rows[~known & (self._lengths[rows] <= best[trees[rows]])]
        found = self._find(queries, trees, 1)
        self._others[queries] = found.indices[:, 0]
        self._lengths[queries] = without_rounding(found.distances[:, 0])


def _rows_to_search(trees: Labels) -> Labels:
    """Return the rows of all trees but the largest, or a sample of each if they are too many."""
    n_rows = len(trees)
    sizes = np.bincount(trees)
    rows = np.flatnonzero(trees != sizes.argmax())
    if len(rows) * n_rows <= JOIN_DISTANCES:
        return rows
    n_trees = np.count_nonzero(sizes) - 1
    share = max(1, JOIN_DISTANCES // (n_rows * int(n_trees)))
    rows = rows[np.argsort(trees[rows], kind="stable")]
    counts = sizes[trees[rows]]
    place = np.arange(len(rows)) - np.searchsorted(trees[rows], trees[rows])
    # The first row of each of `share` equal parts of its tree.
    return rows[(place * share) % counts < share]
