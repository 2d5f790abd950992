"""The operations that a back end offers, and what all back ends share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from pyrocco._typing import Array, Dense, Floats, Labels, Matrix

# The arrays of a back end: of NumPy, of PyTorch, or in chunks of rows.
ArrayT = TypeVar("ArrayT")
ArrayT_co = TypeVar("ArrayT_co", covariant=True)
Sums: TypeAlias = tuple[float, float]
# A solution, its residual, the direction and the image of the direction.
Iterates: TypeAlias = tuple[ArrayT, ArrayT, ArrayT, ArrayT]

# Below this size a dense eigenvalue routine is both faster and safer than Lanczos.
_DENSE_SIDE = 32
# Above this size more than three digits cost more than a solve and change no label. The
# convergence is then tested after every few Lanczos vectors.
_LARGE_SIDE = 50_000
_LARGE_TOLERANCE, _LARGE_VECTORS = 1e-3, 8
# Rows whose sums are computed at the same time.
_ROWS_TOGETHER = 1 << 16


class Operator(NamedTuple):
    """A Laplacian times its strength, in CSR format without the diagonal, on a back end."""

    indptr: Any
    indices: Any
    values: Any
    degrees: Any


class LaplacianArrays(Protocol):
    """A Laplacian as NumPy arrays in CSR format without the diagonal."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: Floats
    degrees: Floats


class LinearSystem(Protocol[ArrayT_co]):
    """The system shift U + P U + U Q = shift X (see `pyrocco.model.SylvesterSystem`)."""

    @property
    def X(self) -> ArrayT_co:  # noqa: N802
        """The data."""

    @property
    def shift(self) -> float:
        """Weight of the data."""

    @property
    def rows(self) -> Operator:
        """P."""

    @property
    def columns(self) -> Operator:
        """Q."""


class BackendOf(Protocol[ArrayT]):
    """Operations on n x p arrays of one kind. Edge values and scalars are returned in NumPy."""

    name: str
    # Whether a whole array may be brought to one place, as some solvers need.
    in_one_place: bool

    def asarray(self, X: Matrix | ArrayT) -> ArrayT:
        """Convert a dense or CSR matrix to a dense, row-major array of float32 or float64."""

    def operand(self, X: Matrix | ArrayT) -> Any:
        """Return the matrix in the form in which products with it are fastest: dense or CSR."""

    def to_numpy(self, U: ArrayT) -> NDArray[Any]:
        """Convert an array to NumPy."""

    def narrow(self, U: ArrayT) -> ArrayT | NDArray[Any]:
        """Convert an array of few columns to what `over_rows` and `map_rows` accept."""

    def snapshot(self, U: ArrayT) -> ArrayT | NDArray[Any]:
        """Return a copy for a checkpoint, which later changes of `U` do not affect."""

    def dtype(self, U: ArrayT) -> np.dtype[Any]:
        """Return the NumPy dtype of an array."""

    def copy(self, U: ArrayT) -> ArrayT:
        """Return a new array with the same values."""

    def empty_like(self, U: ArrayT) -> ArrayT:
        """Return a new array of the same shape and dtype, without setting its values."""

    def overwrite(self, U: ArrayT, values: ArrayT) -> None:
        """Copy the values of another array into `U`."""

    def transpose(self, U: ArrayT) -> ArrayT:
        """Return the transpose, row-major."""

    def centred(self, U: ArrayT) -> ArrayT:
        """Subtract the mean of every column."""

    def squared_norm(self, U: ArrayT) -> float:
        """Compute ||U||_F^2."""

    def squared_distance(self, X: ArrayT, U: ArrayT) -> float:
        """Compute ||X - U||_F^2."""

    def matrix_norm(self, U: ArrayT) -> float:
        """Compute the largest singular value."""

    def project(self, U: ArrayT, Y: ArrayT) -> Floats:
        """Compute U^T Y."""

    def rotate(
        self, U: ArrayT, V: Floats, transposed: bool = False, out: ArrayT | None = None
    ) -> ArrayT:
        """Compute U V, or U V^T, in `out` if given."""

    def nearest_centres(self, rows: ArrayT, centres: NDArray[Any]) -> tuple[Labels, Floats]:
        """Find the nearest centre of every row, and the sum of the rows nearest to each centre."""

    def content_keys(self, X: ArrayT, axis: int) -> NDArray[np.uint64]:
        """Hash every row (axis 0) or column by its values over the largest one, in any order."""

    def edge_lengths(self, U: ArrayT, heads: Labels, tails: Labels, axis: int) -> Floats:
        """Compute the squared lengths of edges between rows (axis 0) or columns (axis 1)."""

    def operator(self, laplacian: LaplacianArrays, strength: float, dtype: DTypeLike) -> Operator:
        """Multiply a Laplacian by its strength and bring it to the back end."""

    def over_panels(
        self, work: Callable[..., Any], operator: Operator, shifts: Floats, F: ArrayT, Y: ArrayT
    ) -> list[Any]:
        """Call ``work(operator, shifts, F, Y, backend)`` on panels of columns.

        The back end chooses the width of a panel. The work leaves its solution in Y.
        """

    def apply(self, system: LinearSystem[ArrayT], U: ArrayT, out: ArrayT) -> float:
        """Write the left-hand side of `system` at U into `out`; return <U, out>."""

    def begin(self, system: LinearSystem[ArrayT], U: ArrayT, R: ArrayT, D: ArrayT) -> Sums:
        """Set R to the residual at U and D to R / diagonal; return the sums of `direction`."""

    def direction(
        self, system: LinearSystem[ArrayT], R: ArrayT, D: ArrayT, momentum: float
    ) -> Sums:
        """Set D to R / diagonal + momentum D; return <R, R / diagonal> and <R, R>."""

    def advance(
        self,
        system: LinearSystem[ArrayT],
        U: ArrayT,
        R: ArrayT,
        D: ArrayT,
        image: ArrayT,
        step: float,
    ) -> Sums:
        """U += step D, R -= step image; return the sums of `direction`."""


class ArrayBackendOf(BackendOf[ArrayT], Protocol[ArrayT]):
    """A back end with arrays in one piece, which also solves the columns of a panel."""

    def residual(self, system: LinearSystem[ArrayT], image: ArrayT) -> None:
        """Replace the left-hand side `image` by the right-hand side minus it, in place."""

    def zeros_like(self, U: ArrayT) -> ArrayT:
        """Return a new array of the same shape and dtype, filled with zeros."""

    def dot(self, A: ArrayT, B: ArrayT) -> float:
        """Compute the sum of the products of the values of A and B."""

    def averaged(self, U: ArrayT, labels: Labels) -> ArrayT:
        """Replace each row by the mean of the rows with its label, in a new array."""

    def shifted_residual(
        self, operator: Operator, shifts: Floats, F: ArrayT, Y: ArrayT
    ) -> tuple[ArrayT, Floats]:
        """Compute F - image with image = P Y + Y diag(shifts); also return all <y_j, image_j>."""

    def shifted_apply(self, operator: Operator, shifts: Floats, Y: ArrayT, out: ArrayT) -> Floats:
        """Write P Y + Y diag(shifts) into `out`; return <y_j, out_j> of every column."""

    def panel_advance(
        self, operator: Operator, shifts: Floats, arrays: Iterates[ArrayT], steps: Floats
    ) -> tuple[Floats, Floats]:
        """Do the same as `advance` with one step for each column of (Y, R, D, image)."""

    def panel_direction(
        self, operator: Operator, shifts: Floats, R: ArrayT, D: ArrayT, momenta: Floats
    ) -> None:
        """Do the same as `direction` with one momentum for each column."""


# A back end of any kind, as most functions take it.
Backend: TypeAlias = BackendOf[Any]
ArrayBackend: TypeAlias = ArrayBackendOf[Any]


@runtime_checkable
class ChunkedRows(Protocol):
    """Rows of few columns in chunks (see `pyrocco.backends.chunked.ChunkedMatrix`)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""

    def results(self, work: Callable[..., Any], *by_row: NDArray[Any]) -> list[Any]:
        """Return the results of some work on every chunk."""

    def then(self, step: Callable[[Any], Any], n_columns: int | None = None) -> ChunkedRows:
        """Return the rows after one more step."""


def over_rows(work: Callable[..., Any], rows: Array, *by_row: NDArray[Any]) -> list[Any]:
    """Return the results of some work on every chunk of rows; a matrix in memory is one chunk."""
    return rows.results(work, *by_row) if isinstance(rows, ChunkedRows) else [work(rows, *by_row)]


def map_rows(step: Callable[[Any], Any], rows: Array) -> Any:
    """Apply a step to a matrix in memory, or to every chunk of rows when it is used."""
    return rows.then(step) if isinstance(rows, ChunkedRows) else step(rows)


class Workspace:
    """Arrays that the solvers of one fit share, so that only the first solve allocates them.

    Values do not survive from one solve to the next, and no solver may return one of the arrays.
    """

    def __init__(self) -> None:
        self._arrays: list[Any] = []

    def like(self, U: ArrayT, count: int, backend: BackendOf[ArrayT]) -> list[ArrayT]:
        """Return `count` arrays of the shape and dtype of `U`, without setting their values."""
        present, wanted = self._arrays[:1], cast(Array, U)
        if present and (present[0].shape, present[0].dtype) != (wanted.shape, wanted.dtype):
            self._arrays = []
        while len(self._arrays) < count:
            self._arrays.append(backend.empty_like(U))
        return self._arrays[:count]


def sums_by_label(rows: Dense, labels: Labels, k: int) -> Floats:
    """Compute the sum of the rows of every label 0..k-1, in the order of the rows."""
    sums = np.zeros((k, rows.shape[1]))
    # Some rows at a time: the product converts them to double precision.
    for start in range(0, len(labels), _ROWS_TOGETHER):
        part = slice(start, start + _ROWS_TOGETHER)
        ones = np.ones(len(labels[part]))
        ends = np.arange(len(ones) + 1)
        members = sparse.csr_array((ones, labels[part], ends), shape=(len(ones), k))
        sums += members.T @ rows[part]
    return sums


def squared_norm(U: Dense) -> float:
    """Compute ||U||_F^2: in the dtype of U along a row, in float64 over the rows."""
    return float(np.einsum("ij,ij->i", U, U).sum(dtype=np.float64))


def is_missing(X: ArrayT) -> ArrayT:
    """Return which values of a dense array are missing (NaN), as an array of the same kind."""
    # Only NaN differs from itself, in NumPy and in PyTorch.
    return cast(ArrayT, X != X)  # noqa: PLR0124


def largest_eigenvalue(matrix: Dense | LinearOperator, start: Floats) -> float:
    """Compute the largest eigenvalue of a symmetric positive matrix by Lanczos iterations."""
    large = len(start) > _LARGE_SIDE
    tol, vectors = (_LARGE_TOLERANCE, _LARGE_VECTORS) if large else (1e-5, None)
    value = eigsh(matrix, k=1, v0=start, tol=tol, ncv=vectors, return_eigenvectors=False)
    return float(value[0])


def matrix_norm(X: Matrix) -> float:
    """Compute the spectral norm (largest singular value) of a dense or sparse matrix."""
    if min(X.shape) <= _DENSE_SIDE:
        short = X if X.shape[0] <= X.shape[1] else X.T
        gram: Any = short @ short.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        return float(np.sqrt(max(np.linalg.eigvalsh(gram.astype(np.float64))[-1], 0.0)))
    operator = LinearOperator(
        (X.shape[1], X.shape[1]), matvec=lambda v: X.T @ (X @ v), dtype=np.float64
    )
    sums = np.asarray(np.abs(X).sum(axis=0), dtype=np.float64).ravel()
    return float(np.sqrt(largest_eigenvalue(operator, sums))) if sums.any() else 0.0
