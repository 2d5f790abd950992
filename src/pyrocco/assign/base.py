"""What every assigner takes and gives."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Assigner(Protocol):
    """Turns the rows of a representation into labels; columns are the rows of U^T."""

    def assign(self, U: Any, n_clusters: int | None) -> NDArray[np.intp]:
        """Label the rows of `U` 0..K-1, with K = `n_clusters` if it is given."""


def relabel(labels: NDArray[Any]) -> NDArray[np.intp]:
    """Number the labels from 0 without gaps, largest cluster first.

    Ties go to the cluster whose first row comes first, so the numbers do not depend on
    how the clusters were found.

    Examples
    --------
    >>> import numpy as np
    >>> relabel(np.array([7, 3, 3, 7, 3])).tolist()
    [1, 0, 0, 1, 0]
    """
    labels = compact(labels)
    counts = np.bincount(labels)
    rank = np.empty(len(counts), dtype=np.intp)
    rank[np.lexsort((first_places(labels), -counts))] = np.arange(len(counts))
    return rank[labels]


def compact(labels: NDArray[Any]) -> NDArray[np.intp]:
    """Close the gaps between labels, which are not negative.

    Examples
    --------
    >>> import numpy as np
    >>> compact(np.array([4, 0, 4])).tolist()
    [1, 0, 1]
    """
    taken = np.bincount(labels) > 0
    return np.asarray((np.cumsum(taken) - 1)[labels], dtype=np.intp)


def first_places(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where each of the labels 0..K-1, all of which are there, comes first.

    Examples
    --------
    >>> import numpy as np
    >>> first_places(np.array([1, 1, 0, 1])).tolist()
    [2, 0]
    """
    first = np.empty(int(labels.max(initial=-1)) + 1, dtype=np.intp)
    # Of several values for the same place the last one stays.
    first[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)
    return first
