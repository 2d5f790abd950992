"""The CPU back end: NumPy arrays and numba kernels."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from pyrocco._typing import Dense, Floats, Labels, Matrix, is_sparse, stored_values
from pyrocco.backends import kernels
from pyrocco.backends.base import (
    Iterates,
    LaplacianArrays,
    LinearSystem,
    Operator,
    Sums,
    matrix_norm,
    squared_norm,
    sums_by_label,
)
from pyrocco.backends.hashing import sparse_content_keys
from pyrocco.backends.threads import in_threads

System: TypeAlias = LinearSystem[Dense]

# Columns that the decoupled solver solves together.
PANEL = 16
# Below this many values, starting a thread costs more than it saves.
_THREADED_VALUES = 500_000
# Up to this share of values that are not zero, sparse products are faster than dense ones.
_SPARSE_SHARE = 0.1
# Products of more rows are computed for so many rows at a time, in threads of this process. Those
# of a library for linear algebra wait for each other, for seconds if another program is busy.
_ROWS_OF_PRODUCTS = 1 << 16


class NumpyBackend:
    """NumPy arrays in this process. `BackendOf` documents the methods."""

    name = "numpy"
    in_one_place = True

    def __init__(self, n_threads: int = 1):
        self.n_threads = n_threads

    def asarray(self, X: Matrix) -> Dense:
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)  # type: ignore[union-attr]
        dtype = np.float32 if dense.dtype == np.float32 else np.float64
        return np.ascontiguousarray(dense, dtype=dtype)

    def operand(self, X: Matrix) -> Matrix:
        if np.count_nonzero(stored_values(X)) > _SPARSE_SHARE * X.shape[0] * X.shape[1]:
            return self.asarray(X)
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        return sparse.csr_array(X, dtype=dtype)

    def to_numpy(self, U: Dense) -> Dense:
        return U

    def narrow(self, U: Dense) -> Dense:
        return U

    def snapshot(self, U: Dense) -> Dense:
        return U.copy()

    def dtype(self, U: Dense) -> np.dtype[Any]:
        return U.dtype

    def matrix_norm(self, U: Dense) -> float:
        return matrix_norm(U)

    def project(self, U: Dense, Y: Dense) -> Floats:
        if is_sparse(U):
            return np.asarray(U.T @ Y, dtype=np.float64)
        parts = in_threads(lambda rows: U[rows].T @ Y[rows], slices(len(U), _ROWS_OF_PRODUCTS))
        return np.asarray(np.sum(parts, axis=0, dtype=np.float64))

    def centred(self, U: Dense) -> Dense:
        return np.asarray(U - U.mean(axis=0, dtype=np.float64).astype(U.dtype))

    def nearest_centres(self, rows: Dense, centres: Dense) -> tuple[Labels, Floats]:
        points = centres.astype(rows.dtype)
        halves = 0.5 * np.einsum("ij,ij->i", points, points)
        # The squared norm of a row does not change which centre is nearest.
        products = rows @ points.T
        labels = np.subtract(halves, products, out=products).argmin(axis=1)
        return labels, sums_by_label(rows, labels, len(centres))

    def content_keys(self, X: Matrix, axis: int) -> NDArray[np.uint64]:
        if is_sparse(X):
            return sparse_content_keys(X, axis)
        return np.asarray(
            kernels.hashing.content_keys(X, kernels.hashing.largest_cells(X, axis), axis)
        )

    def copy(self, U: Dense) -> Dense:
        return U.copy()

    def empty_like(self, U: Dense) -> Dense:
        return np.empty_like(U)

    def zeros_like(self, U: Dense) -> Dense:
        return np.zeros_like(U)

    def squared_norm(self, U: Dense) -> float:
        return squared_norm(U)

    def dot(self, A: Dense, B: Dense) -> float:
        return float(np.vdot(A, B))

    def averaged(self, U: Dense, labels: Labels) -> Dense:
        order, starts = by_label(labels)
        sums = np.add.reduceat(U[order], starts[:-1], axis=0)
        return np.asarray((sums / np.diff(starts)[:, None])[labels])

    def edge_lengths(self, U: Dense, heads: Labels, tails: Labels, axis: int) -> Floats:
        measure = (
            kernels.linear_systems.column_edge_lengths
            if axis
            else kernels.linear_systems.row_edge_lengths
        )
        return np.asarray(measure(U, heads, tails))

    def squared_distance(self, X: Dense, U: Dense) -> float:
        return float(kernels.linear_systems.squared_distance(X, U))

    def operator(self, laplacian: LaplacianArrays, strength: float, dtype: DTypeLike) -> Operator:
        return Operator(
            laplacian.indptr,
            laplacian.indices,
            (strength * laplacian.values).astype(dtype),
            (strength * laplacian.degrees).astype(dtype),
        )

    def apply(self, system: System, U: Dense, out: Dense) -> float:
        arguments = (U, out, _shift(system), *system.rows, *system.columns)
        return float(sum(self._over_rows(kernels.linear_systems.apply, arguments)))

    def begin(self, system: System, U: Dense, R: Dense, D: Dense) -> Sums:
        arguments = (U, system.X, R, D, _shift(system), *system.rows, *system.columns)
        return _sums(self._over_rows(kernels.linear_systems.begin, arguments))

    def residual(self, system: System, image: Dense) -> None:
        kernels.linear_systems.residual(system.X, image, _shift(system))

    def direction(self, system: System, R: Dense, D: Dense, momentum: float) -> Sums:
        degrees = (system.rows.degrees, system.columns.degrees)
        arguments = (R, D, R.dtype.type(momentum), _shift(system), *degrees)
        return _sums(self._over_rows(kernels.linear_systems.direction, arguments))

    def advance(
        self, system: System, U: Dense, R: Dense, D: Dense, image: Dense, step: float
    ) -> Sums:
        degrees = (system.rows.degrees, system.columns.degrees)
        arguments = (U, R, D, image, R.dtype.type(step), _shift(system), *degrees)
        return _sums(self._over_rows(kernels.linear_systems.advance, arguments))

    def transpose(self, U: Any) -> Any:
        return U.T.tocsr() if is_sparse(U) else np.ascontiguousarray(U.T)

    def rotate(
        self, U: Any, V: Floats, transposed: bool = False, out: Dense | None = None
    ) -> Dense:
        rotation = V.T.astype(U.dtype) if transposed else V.astype(U.dtype)
        if is_sparse(U):
            return np.asarray(U @ rotation)
        image = np.empty((len(U), rotation.shape[1]), U.dtype) if out is None else out
        parts = slices(len(U), _ROWS_OF_PRODUCTS)
        in_threads(lambda rows: np.matmul(U[rows], rotation, out=image[rows]), parts)
        return image

    def over_panels(
        self, work: Callable[..., Any], operator: Operator, shifts: Floats, F: Dense, Y: Dense
    ) -> list[Any]:
        """Work on panels of one or two cache lines per row, in threads if they are long enough."""
        n_rows, n_columns = F.shape

        def solve(columns: slice) -> Any:
            panel = np.ascontiguousarray(Y[:, columns])
            fixed = np.ascontiguousarray(F[:, columns])
            outcome = work(operator, shifts[columns], fixed, panel, self)
            Y[:, columns] = panel
            return outcome

        # On short panels threads would wait for the interpreter.
        n_threads = self.n_threads if n_rows * PANEL >= _THREADED_VALUES else 1
        return _in_threads(solve, slices(n_columns, PANEL), n_threads)

    def overwrite(self, U: Dense, values: Dense) -> None:
        U[:] = values

    def shifted_residual(
        self, operator: Operator, shifts: Floats, F: Dense, Y: Dense
    ) -> tuple[Dense, Floats]:
        image = np.empty_like(Y)
        products = self.shifted_apply(operator, shifts, Y, image)
        return np.asarray(np.subtract(F, image, out=image)), products

    def shifted_apply(self, operator: Operator, shifts: Floats, Y: Dense, out: Dense) -> Floats:
        return np.asarray(
            kernels.linear_systems.shifted_apply(Y, out, shifts.astype(Y.dtype), *operator)
        )

    def panel_advance(
        self, operator: Operator, shifts: Floats, arrays: Iterates[Dense], steps: Floats
    ) -> tuple[Floats, Floats]:
        dtype = arrays[0].dtype
        weighted, plain = kernels.linear_systems.panel_advance(
            *arrays, steps.astype(dtype), shifts.astype(dtype), operator.degrees
        )
        return weighted, plain

    def panel_direction(
        self, operator: Operator, shifts: Floats, R: Dense, D: Dense, momenta: Floats
    ) -> None:
        kernels.linear_systems.panel_direction(
            R, D, momenta.astype(R.dtype), shifts.astype(R.dtype), operator.degrees
        )

    def _over_rows(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
        """Run a kernel on ranges of rows, in threads if there are enough of them."""
        n_rows, n_columns = arguments[0].shape
        n_threads = self.n_threads if n_rows * n_columns >= _THREADED_VALUES else 1
        # Ranges end at whole tiles, so that the split changes only the last sum.
        size = (
            -(-n_rows // (n_threads * kernels.linear_systems.TILE)) * kernels.linear_systems.TILE
        )
        ranges = [(a, min(a + size, n_rows)) for a in range(0, n_rows, size)]
        return _in_threads(lambda rows: work(*arguments, *rows), ranges, n_threads)


def slices(count: int, width: int) -> list[slice]:
    """Split `count` rows or columns into slices of `width`."""
    return [slice(start, min(start + width, count)) for start in range(0, count, width)]


def by_label(labels: Labels) -> tuple[Labels, Labels]:
    """Return the rows ordered by label, and where each label starts and the last one ends.

    Examples
    --------
    >>> [part.tolist() for part in by_label(np.array([1, 0, 1]))]
    [[1, 0, 2], [0, 1, 3]]
    """
    starts = np.cumsum(np.bincount(labels))
    return np.argsort(labels, kind="stable"), np.r_[0, starts].astype(np.intp)


def _in_threads(work: Callable[[Any], Any], items: list[Any], n_threads: int) -> list[Any]:
    if n_threads == 1 or len(items) == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, items))


def _sums(parts: list[Sums]) -> Sums:
    return float(sum(a for a, _ in parts)), float(sum(b for _, b in parts))


def _shift(system: System) -> Any:
    # A float64 scalar would promote every float32 product in the kernels to float64.
    return system.X.dtype.type(system.shift)
