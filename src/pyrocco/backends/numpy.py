"""The CPU back end: NumPy arrays and numba kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.base import Operator
from pyrocco.backends.kernels import system as kernels


class NumpyBackend:
    """NumPy arrays in this process (see `Backend` for what each method means)."""

    name = "numpy"

    def asarray(self, X: Any) -> NDArray[Any]:
        """Dense, row-major copy or view of `X`."""
        dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
        dtype = np.float32 if dense.dtype == np.float32 else np.float64
        return np.ascontiguousarray(dense, dtype=dtype)

    def to_numpy(self, U: NDArray[Any]) -> NDArray[Any]:
        """Return `U` itself."""
        return U

    def copy(self, U: NDArray[Any]) -> NDArray[Any]:
        """Return a copy."""
        return U.copy()

    def empty_like(self, U: NDArray[Any]) -> NDArray[Any]:
        """Return an array like `U`."""
        return np.empty_like(U)

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
        return float(kernels.apply(U, out, _shift(system), *system.rows, *system.columns))

    def residual(self, system: Any, image: NDArray[Any]) -> None:
        """Right-hand side minus `image`."""
        kernels.residual(system.X, image, _shift(system))

    def direction(
        self, system: Any, R: NDArray[Any], D: NDArray[Any], momentum: float
    ) -> tuple[float, float]:
        """Jacobi-preconditioned direction."""
        scale = R.dtype.type(momentum)
        result: tuple[float, float] = kernels.precondition(
            R, D, scale, _shift(system), system.rows.degrees, system.columns.degrees
        )
        return result

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
        size = R.dtype.type(step)
        degrees = (system.rows.degrees, system.columns.degrees)
        result: tuple[float, float] = kernels.advance(
            U, R, D, image, size, _shift(system), *degrees
        )
        return result


def _shift(system: Any) -> Any:
    # A float64 scalar would lift every float32 product in the kernels to float64.
    return system.X.dtype.type(system.shift)
