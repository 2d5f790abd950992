"""What every data set is once in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, eq=False)
class Dataset:
    """A matrix, its true groups where they are known, and the names of its parts.

    Attributes
    ----------
    name : str
        Short name, the one given to :func:`pyrocco.datasets.load`.
    X : ndarray or csr_matrix of float64
        The matrix, rows by columns.
    row_labels : ndarray of int
        True group of each row, from 0.
    column_labels : ndarray of int or None
        True group of each column, from 0; None where nobody knows it.
    class_names : ndarray of str
        Name of each group of rows: ``class_names[row_labels]`` names every row's group.
    feature_names : ndarray of str
        Name of each column.
    description : str
        Where the data comes from and how it was scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.datasets import Dataset
    >>> names = np.array(["a", "b"])
    >>> Dataset("tiny", np.eye(2), np.arange(2), np.arange(2), names, names, "by hand")
    Dataset('tiny', 2 x 2, 2 groups of rows, 2 groups of columns)
    """

    name: str
    X: npt.NDArray[np.float64] | csr_matrix
    row_labels: npt.NDArray[np.int64]
    column_labels: npt.NDArray[np.int64] | None
    class_names: npt.NDArray[np.str_]
    feature_names: npt.NDArray[np.str_]
    description: str

    def __repr__(self) -> str:
        n_rows, n_columns = self.X.shape
        groups = f"{len(self.class_names)} groups of rows"
        if self.column_labels is not None:
            groups += f", {len(np.unique(self.column_labels))} groups of columns"
        return f"Dataset({self.name!r}, {n_rows} x {n_columns}, {groups})"
