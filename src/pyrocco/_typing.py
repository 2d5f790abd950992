"""Types that many modules share, and functions that treat dense and sparse matrices alike.

scikit-learn, SciPy's sparse matrices, PyTorch and Dask ship no types, so the unions and
protocols below say what pyrocco expects of their objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

# Arrays in memory.
Dense: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

# A validated matrix in memory: a NumPy array or a SciPy matrix in CSR format.
Matrix: TypeAlias = NDArray[Any] | sparse.csr_array | sparse.csr_matrix


def is_sparse(X: object) -> TypeGuard[sparse.csr_array]:
    """Whether X is a sparse matrix of SciPy."""
    return bool(sparse.issparse(X))


def stored_values(X: Matrix) -> Dense:
    """Return the stored values of a matrix: all of a dense one, the explicit ones of CSR."""
    return np.asarray(X.data if is_sparse(X) else X)


def with_stored_values(X: Matrix, values: Dense) -> Matrix:
    """Return a matrix like `X` with other stored values, which shares no indices with it."""
    if is_sparse(X):
        return type(X)((values, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    return np.asarray(values)


# Names of rows or columns.
Names: TypeAlias = Sequence[object] | NDArray[Any]


class Frame(Protocol):
    """A table with named columns, such as a DataFrame of pandas or polars."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""


# What users may pass as X: anything that scikit-learn accepts, and Dask arrays.
MatrixLike: TypeAlias = ArrayLike | Frame | sparse.sparray | sparse.spmatrix


class Array(Protocol):
    """A two-dimensional array on a back end: of NumPy, of PyTorch, or in chunks of rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and of columns."""

    @property
    def dtype(self) -> Any:
        """Type of the values."""

    @property
    def T(self) -> Any:  # noqa: N802 - as NumPy calls it
        """The transpose."""

    def __getitem__(self, key: Any, /) -> Any:
        """Return a part of the array."""


class DeviceArray(Array, Protocol):
    """An array in one piece, on which a back end computes: of NumPy or of PyTorch."""

    def __setitem__(self, key: Any, value: Any, /) -> None:
        """Change a part of the array."""

    def __add__(self, other: Any, /) -> Any:
        """Add to every value."""

    def __sub__(self, other: Any, /) -> Any:
        """Subtract from every value."""

    def __mul__(self, other: Any, /) -> Any:
        """Multiply every value."""

    def __rmul__(self, other: Any, /) -> Any:
        """Multiply every value."""

    def __truediv__(self, other: Any, /) -> Any:
        """Divide every value."""


class FittedCoClustering(Protocol):
    """A fitted estimator with a cluster for every row and every column, such as `ROCCO`."""

    @property
    def row_labels_(self) -> Labels:
        """Cluster of every row."""

    @property
    def column_labels_(self) -> Labels:
        """Cluster of every column."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
