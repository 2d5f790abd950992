"""How well clusters are told apart: the silhouette, of many labellings at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances_chunked


def silhouettes(
    X: Any, labellings: Sequence[NDArray[np.intp]], sample_size: int | None = None
) -> NDArray[np.float64]:
    """Mean silhouette of the rows under every labelling.

    Distances between rows cost far more than all the rest, so they are computed once for all
    labellings.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_columns)
        The rows.
    labellings : sequence of ndarray of int
        Labels of the rows, 0, 1, ...
    sample_size : int, optional
        Rows to look at, the same for every labelling; all of them when there are fewer.

    Returns
    -------
    ndarray of float
        One value a labelling; NaN for one cluster, or as many as rows, which have none.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> silhouettes(rows, [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]).round(2).tolist()
    [0.89, -0.44]
    """
    if sample_size is not None and X.shape[0] > sample_size:
        some = np.random.RandomState(0).permutation(X.shape[0])[:sample_size]
        X, labellings = X[some], [labels[some] for labels in labellings]
    labels = [np.unique(each, return_inverse=True)[1] for each in labellings]
    members = [np.eye(each.max() + 1)[each] for each in labels]
    ends = np.cumsum([0, *(each.shape[1] for each in members)])
    add_up = partial(_sums, members=np.hstack(members))
    sums = np.vstack(list(pairwise_distances_chunked(X, reduce_func=add_up)))
    return np.array(
        [
            _silhouette(sums[:, a:b], each)
            for (a, b), each in zip(pairwise(ends), labels, strict=True)
        ]
    )


def _sums(distances: NDArray[Any], start: int, members: NDArray[Any]) -> NDArray[Any]:
    """Distances from some rows, added up by cluster."""
    return np.asarray(distances @ members)


def _silhouette(sums: NDArray[np.float64], labels: NDArray[np.intp]) -> float:
    sizes = np.bincount(labels)
    if len(sizes) in (1, len(labels)):
        return float("nan")
    own = (np.arange(len(labels)), labels)
    # A row is not its own neighbour; one that is alone has a silhouette of zero.
    within = sums[own] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[own] = np.inf
    between = means.min(axis=1)
    larger = np.maximum(within, between)
    each = np.divide(between - within, larger, out=np.zeros_like(larger), where=larger > 0)
    return float(np.where(sizes[labels] > 1, each, 0.0).mean())
