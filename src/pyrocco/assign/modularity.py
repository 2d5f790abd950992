"""How well a partition fits a neighbour graph: Newman's modularity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import kneighbors_graph


def neighbor_graph(features: NDArray[Any]) -> sparse.csr_array:
    """Symmetric graph of each row with its nearest tenth of the rows (at least five).

    So wide a neighbourhood sees clusters, not the grain within them.

    Examples
    --------
    >>> import numpy as np
    >>> neighbor_graph(np.arange(12.0)[:, None]).shape
    (12, 12)
    """
    n_rows = len(features)
    k = min(max(5, n_rows // 10), n_rows - 1)
    graph = sparse.csr_array(kneighbors_graph(features, k))
    return graph.maximum(graph.T).tocsr()


def modularity(graph: sparse.csr_array, labels: NDArray[np.intp]) -> float:
    """Share of edges inside clusters beyond that of random edges of the same degrees.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), np.ones((2, 2)) - np.eye(2)))
    >>> modularity(pairs, np.array([0, 0, 1, 1]))
    0.5
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    total = degrees.sum()
    ends = np.repeat(labels, np.diff(graph.indptr))
    inside = graph.data[ends == labels[graph.indices]].sum() / total
    shares = np.bincount(labels, degrees) / total
    return float(inside - shares @ shares)
