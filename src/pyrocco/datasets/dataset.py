"""The data set object that generators and loaders return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyrocco._typing import Matrix

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A matrix with its true clusters, if they are known, and names.

    Attributes
    ----------
    name : str
        Short name, as given to :func:`pyrocco.datasets.load`.
    X : ndarray or csr_matrix of float64
        The matrix.
    row_labels : ndarray of int
        True cluster of each row, from 0.
    column_labels : ndarray of int or None
        True cluster of each column, from 0; None if it is not known.
    class_names : ndarray of str
        Name of each row cluster: ``class_names[row_labels]`` names the cluster of every row.
    feature_names : ndarray of str
        Name of each column.
    description : str
        Source of the data and how it was scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.datasets import Dataset
    >>> names = np.array(["a", "b"])
    >>> Dataset("tiny", np.eye(2), np.arange(2), np.arange(2), names, names, "by hand")
    Dataset('tiny', 2 x 2, 2 row clusters, 2 column clusters)
    """

    name: str
    X: Matrix
    row_labels: NDArray[np.int64]
    column_labels: NDArray[np.int64] | None
    class_names: NDArray[np.str_]
    feature_names: NDArray[np.str_]
    description: str

    def __repr__(self) -> str:
        n_rows, n_columns = self.X.shape
        clusters = f"{len(self.class_names)} row clusters"
        if self.column_labels is not None:
            clusters += f", {len(np.unique(self.column_labels))} column clusters"
        return f"Dataset({self.name!r}, {n_rows} x {n_columns}, {clusters})"
