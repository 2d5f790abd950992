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
    _, first, inverse, counts = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(counts), dtype=np.intp)
    rank[np.lexsort((first, -counts))] = np.arange(len(counts))
    return rank[inverse]


def compact(labels: NDArray[Any]) -> NDArray[np.intp]:
    """Close the gaps that clusters without members leave.

    Examples
    --------
    >>> import numpy as np
    >>> compact(np.array([4, 0, 4])).tolist()
    [1, 0, 1]
    """
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.intp)
