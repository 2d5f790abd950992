"""Which rows and which columns have become one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from pyrocco.convex.problem import ConvexProblem
from pyrocco.graph import Graph

Matrix = NDArray[np.float64]
Labels = NDArray[np.intp]

# Edges shorter than this share of ||X||_F count as closed.
CLOSED = 1e-5


@dataclass(frozen=True, eq=False)
class Groups:
    """Group of every row and of every column, numbered from 0.

    Examples
    --------
    >>> import numpy as np
    >>> groups = Groups(np.array([0, 0, 1]), np.array([0, 1]))
    >>> groups.flatten(np.array([[1.0, 5.0], [3.0, 7.0], [0.0, 0.0]])).tolist()
    [[2.0, 6.0], [2.0, 6.0], [0.0, 0.0]]
    """

    rows: Labels
    columns: Labels

    def flatten(self, U: Matrix) -> Matrix:
        """Put the mean of its block in every cell."""
        return _averaged(_averaged(U, self.rows).T, self.columns).T.copy()


def groups_of(problem: ConvexProblem, U: Matrix) -> Groups:
    """Join what is connected by edges of length at most 1e-5 ||X||_F.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.convex import ConvexProblem, groups_of
    >>> from pyrocco.graph import Graph
    >>> pair = Graph(2, np.array([0]), np.array([1]), np.ones(1))
    >>> X = np.array([[0.0, 1.0], [0.0, 1.0]])
    >>> found = groups_of(ConvexProblem(X, pair, pair), X)
    >>> found.rows.tolist(), found.columns.tolist()
    ([0, 0], [0, 1])
    """
    along_rows, along_columns = problem.edge_lengths(U)
    limit = CLOSED * float(np.linalg.norm(problem.filled))
    return Groups(
        components(problem.rows, along_rows <= limit),
        components(problem.columns, along_columns <= limit),
    )


def components(graph: Graph, kept: NDArray[np.bool_]) -> Labels:
    """Label the connected components of the kept edges.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.graph import Graph
    >>> path = Graph(3, np.array([0, 1]), np.array([1, 2]), np.ones(2))
    >>> components(path, np.array([True, False])).tolist()
    [0, 0, 1]
    """
    part = Graph(graph.n_nodes, graph.heads[kept], graph.tails[kept], np.ones(kept.sum()))
    _, labels = connected_components(part.adjacency(), directed=False)
    return np.asarray(labels, dtype=np.intp)


def _averaged(U: Matrix, labels: Labels) -> Matrix:
    sizes = np.bincount(labels)
    if len(sizes) == len(labels):
        return U
    order = np.argsort(labels, kind="stable")
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    sums = np.add.reduceat(U[order], starts, axis=0)
    return np.asarray((sums / sizes[:, None])[labels])
