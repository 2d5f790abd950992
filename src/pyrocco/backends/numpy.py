"""The CPU back end: NumPy arrays and numba kernels."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.base import Operator
from pyrocco.backends.kernels import panel as panels
from pyrocco.backends.kernels import system as kernels
from pyrocco.backends.kernels.bits import content_keys, largest_cells
from pyrocco.backends.kernels.partition import nearest_by_products
from pyrocco.backends.norms import matrix_norm

# Columns solved together by the decoupled solver.
PANEL = 16
# Below this many cells a thread costs more than it brings.
_THREADED_CELLS = 500_000


class NumpyBackend:
    """NumPy arrays in this process (see `Backend` for what each method means).

    Parameters
    ----------
    n_threads : int
        Threads of the kernels that can use them.
    """

    name = "numpy"
    in_one_place = True

    def __init__(self, n_threads: int = 1):
        self.n_threads = n_threads

    def asarray(self, X: Any) -> NDArray[Any]:
        """Dense, row-major copy or view of `X`."""
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
        dtype = np.float32 if dense.dtype == np.float32 else np.float64
        return np.ascontiguousarray(dense, dtype=dtype)

    def to_numpy(self, U: NDArray[Any]) -> NDArray[Any]:
        """Return `U` itself."""
        return U

    def narrow(self, U: NDArray[Any]) -> NDArray[Any]:
        """Return `U` itself."""
        return U

    def kept(self, U: NDArray[Any]) -> NDArray[Any]:
        """A copy that outlives what happens to `U`, as a checkpoint holds it."""
        return U.copy()

    def dtype(self, U: NDArray[Any]) -> np.dtype[Any]:
        """Type of `U`."""
        return U.dtype

    def matrix_norm(self, U: NDArray[Any]) -> float:
        """Spectral norm."""
        return matrix_norm(U)

    def project(self, U: NDArray[Any], Y: NDArray[Any]) -> NDArray[np.float64]:
        """U^T Y."""
        return np.asarray(U.T @ Y, dtype=np.float64)

    def centred(self, U: NDArray[Any]) -> NDArray[Any]:
        """Columns less their means."""
        return np.asarray(U - U.mean(axis=0, dtype=np.float64).astype(U.dtype))

    def nearest_centres(
        self, rows: NDArray[Any], centres: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Nearest centre of every row, and the sum of the rows of each."""
        points = centres.astype(rows.dtype)
        halves = 0.5 * np.einsum("ij,ij->i", points, points)
        labels, sums = nearest_by_products(rows @ points.T, halves, rows)
        return labels, sums

    def content_keys(self, X: NDArray[Any], axis: int) -> NDArray[np.uint64]:
        """A number for every row or column, of its cells."""
        return np.asarray(content_keys(X, largest_cells(X, axis), axis))

    def copy(self, U: NDArray[Any]) -> NDArray[Any]:
        """Return a copy."""
        return U.copy()

    def empty_like(self, U: NDArray[Any]) -> NDArray[Any]:
        """Return an array like `U`."""
        return np.empty_like(U)

    def zeros_like(self, U: NDArray[Any]) -> NDArray[Any]:
        """Return zeros like `U`."""
        return np.zeros_like(U)

    def squared_norm(self, U: NDArray[Any]) -> float:
        """Squared Frobenius norm."""
        return float(kernels.squared_norm(U))

    def edge_lengths(
        self, U: NDArray[Any], heads: NDArray[np.intp], tails: NDArray[np.intp], axis: int
    ) -> NDArray[np.float64]:
        """Squared lengths of edges."""
        measure = kernels.column_edge_lengths if axis else kernels.row_edge_lengths
        return np.asarray(measure(U, heads, tails))

    def squared_distance(self, X: NDArray[Any], U: NDArray[Any]) -> float:
        """Squared Frobenius distance."""
        return float(kernels.squared_distance(X, U))

    def operator(self, laplacian: Any, strength: float, dtype: Any) -> Operator:
        """Scale a Laplacian and cast it to the type of U."""
        return Operator(
            laplacian.indptr,
            laplacian.indices,
            (strength * laplacian.values).astype(dtype),
            (strength * laplacian.degrees).astype(dtype),
        )

    def apply(self, system: Any, U: NDArray[Any], out: NDArray[Any]) -> float:
        """Left-hand side of the system."""
        arguments = (U, out, _shift(system), *system.rows, *system.columns)
        return float(sum(self._over_rows(kernels.apply, arguments)))

    def begin(
        self, system: Any, U: NDArray[Any], R: NDArray[Any], D: NDArray[Any]
    ) -> tuple[float, float]:
        """Residual and first direction."""
        arguments = (U, system.X, R, D, _shift(system), *system.rows, *system.columns)
        return _sums(self._over_rows(kernels.begin, arguments))

    def residual(self, system: Any, image: NDArray[Any]) -> None:
        """Right-hand side minus `image`."""
        kernels.residual(system.X, image, _shift(system))

    def direction(
        self, system: Any, R: NDArray[Any], D: NDArray[Any], momentum: float
    ) -> tuple[float, float]:
        """Jacobi-preconditioned direction."""
        degrees = (system.rows.degrees, system.columns.degrees)
        arguments = (R, D, R.dtype.type(momentum), _shift(system), *degrees)
        return _sums(self._over_rows(kernels.direction, arguments))

    def advance(
        self,
        system: Any,
        U: NDArray[Any],
        R: NDArray[Any],
        D: NDArray[Any],
        image: NDArray[Any],
        step: float,
    ) -> tuple[float, float]:
        """One step along the direction."""
        degrees = (system.rows.degrees, system.columns.degrees)
        arguments = (U, R, D, image, R.dtype.type(step), _shift(system), *degrees)
        return _sums(self._over_rows(kernels.advance, arguments))

    def transpose(self, U: NDArray[Any]) -> NDArray[Any]:
        """Row-major transpose."""
        flipped: NDArray[Any] = np.ascontiguousarray(U.T)
        return flipped

    def rotate(
        self, U: NDArray[Any], V: NDArray[np.float64], transposed: bool = False, out: Any = None
    ) -> NDArray[Any]:
        """Product with an orthogonal matrix."""
        rotation = V.astype(U.dtype)
        return np.asarray(np.matmul(U, rotation.T if transposed else rotation, out=out))

    def over_panels(
        self,
        work: Callable[..., Any],
        operator: Operator,
        shifts: NDArray[np.float64],
        F: NDArray[Any],
        Y: NDArray[Any],
    ) -> list[Any]:
        """Panels of a cache line or two a row; in threads where they are long enough."""
        n_rows, n_columns = F.shape

        def solve(columns: slice) -> Any:
            panel = np.ascontiguousarray(Y[:, columns])
            fixed = np.ascontiguousarray(F[:, columns])
            outcome = work(operator, shifts[columns], fixed, panel, self)
            Y[:, columns] = panel
            return outcome

        # On short panels the interpreter would be the bottleneck.
        n_threads = self.n_threads if n_rows * PANEL >= _THREADED_CELLS else 1
        return _in_threads(solve, cut_columns(n_columns, PANEL), n_threads)

    def overwrite(self, U: NDArray[Any], values: NDArray[Any]) -> None:
        """Copy into `U`."""
        U[:] = values

    def shifted_residual(
        self, operator: Operator, shifts: NDArray[Any], F: NDArray[Any], Y: NDArray[Any]
    ) -> NDArray[Any]:
        """Residual of the decoupled systems."""
        image = np.empty_like(Y)
        panels.shifted_apply(Y, image, shifts.astype(Y.dtype), *operator)
        return np.asarray(np.subtract(F, image, out=image))

    def shifted_apply(
        self, operator: Operator, shifts: NDArray[Any], Y: NDArray[Any], out: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Left-hand sides of the decoupled systems."""
        return np.asarray(panels.shifted_apply(Y, out, shifts.astype(Y.dtype), *operator))

    def panel_advance(
        self,
        operator: Operator,
        shifts: NDArray[Any],
        arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]],
        steps: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One step for each column."""
        dtype = arrays[0].dtype
        result: tuple[NDArray[np.float64], NDArray[np.float64]] = panels.panel_advance(
            *arrays, steps.astype(dtype), shifts.astype(dtype), operator.degrees
        )
        return result

    def panel_direction(
        self,
        operator: Operator,
        shifts: NDArray[Any],
        R: NDArray[Any],
        D: NDArray[Any],
        momenta: NDArray[np.float64],
    ) -> None:
        """Next direction of each column."""
        panels.panel_direction(
            R, D, momenta.astype(R.dtype), shifts.astype(R.dtype), operator.degrees
        )

    def _over_rows(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
        """Run a kernel on ranges of rows, in threads where there is enough to share."""
        n_rows, n_columns = arguments[0].shape
        n_threads = self.n_threads if n_rows * n_columns >= _THREADED_CELLS else 1
        # Ranges end at whole tiles, so that the split changes no sum but the last one.
        size = -(-n_rows // (n_threads * kernels.TILE)) * kernels.TILE
        ranges = [(a, min(a + size, n_rows)) for a in range(0, n_rows, size)]
        return _in_threads(lambda rows: work(*arguments, *rows), ranges, n_threads)


def cut_columns(n_columns: int, width: int) -> list[slice]:
    """Columns in stretches of `width`.

    Examples
    --------
    >>> cut_columns(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(j, min(j + width, n_columns)) for j in range(0, n_columns, width)]


def _in_threads(work: Callable[[Any], Any], items: list[Any], n_threads: int) -> list[Any]:
    if n_threads == 1 or len(items) == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, items))


def _sums(parts: list[tuple[float, float]]) -> tuple[float, float]:
    return float(sum(a for a, _ in parts)), float(sum(b for _, b in parts))


def _shift(system: Any) -> Any:
    # A float64 scalar would lift every float32 product in the kernels to float64.
    return system.X.dtype.type(system.shift)
