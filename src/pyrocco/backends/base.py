"""What a back end must offer: the few operations on arrays that the algorithm is written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Operator(NamedTuple):
    """A Laplacian times its strength: rows of neighbours, the diagonal apart."""

    indptr: Any
    indices: Any
    values: Any
    degrees: Any


class Backend(Protocol):
    """Where the n x p arrays live. Edge values and scalars always come back to NumPy."""

    name: str
    # Whether a whole array may be brought to one place, as some solvers must.
    in_one_place: bool

    def asarray(self, X: Any) -> Any:
        """Bring a dense or CSR matrix here, dense, row-major, float32 or float64."""

    def to_numpy(self, U: Any) -> NDArray[Any]:
        """Bring an array back."""

    def narrow(self, U: Any) -> Any:
        """Something of few columns, as `over_rows` and `map_rows` take it."""

    def kept(self, U: Any) -> Any:
        """A copy that outlives what happens to `U`, as a checkpoint holds it."""

    def dtype(self, U: Any) -> np.dtype[Any]:
        """NumPy's name of the type of an array."""

    def matrix_norm(self, U: Any) -> float:
        """Largest singular value."""

    def project(self, U: Any, Y: Any) -> NDArray[np.float64]:
        """U^T Y."""

    def centred(self, U: Any) -> Any:
        """Columns less their means."""

    def nearest_centres(
        self, rows: Any, centres: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Label of the nearest centre of every row, and the sum of the rows of each label."""

    def content_keys(self, X: Any, axis: int) -> NDArray[np.uint64]:
        """A number for every row (axis 0) or column, of its cells over the largest of them.

        It does not depend on the order of the cells or on the back end.
        """

    def copy(self, U: Any) -> Any:
        """Return a new array with the same values."""

    def empty_like(self, U: Any) -> Any:
        """Return a new array of the same shape and type, its values unset."""

    def squared_norm(self, U: Any) -> float:
        """||U||_F^2."""

    def edge_lengths(
        self, U: Any, heads: NDArray[np.intp], tails: NDArray[np.intp], axis: int
    ) -> NDArray[np.float64]:
        """Squared lengths of edges among the rows (axis 0) or columns (axis 1)."""

    def squared_distance(self, X: Any, U: Any) -> float:
        """||X - U||_F^2."""

    def operator(self, laplacian: Any, strength: float, dtype: Any) -> Operator:
        """A Laplacian times its strength, here."""

    def transpose(self, U: Any) -> Any:
        """Return the transpose, row-major."""

    def rotate(
        self, U: Any, V: NDArray[np.float64], transposed: bool = False, out: Any = None
    ) -> Any:
        """Return U V, or U V^T, in `out` where that is given."""

    def over_panels(
        self,
        work: Callable[..., Any],
        operator: Operator,
        shifts: NDArray[np.float64],
        F: Any,
        Y: Any,
    ) -> list[Any]:
        """Do ``work(operator, shifts, F, Y, backend)`` on panels of columns of all of them.

        A panel has the width that suits this place. Work leaves its solution in Y.
        """

    def overwrite(self, U: Any, values: Any) -> None:
        """Let `U` have the values of another array."""


class ArrayBackend(Backend, Protocol):
    """A place with arrays in one piece, where whole systems are solved by small steps."""

    def zeros_like(self, U: Any) -> Any:
        """Return a new array of the same shape and type, filled with zeros."""

    def apply(self, system: Any, U: Any, out: Any) -> float:
        """Write the left-hand side of `system` at U into `out`; return <U, out>."""

    def begin(self, system: Any, U: Any, R: Any, D: Any) -> tuple[float, float]:
        """R = right-hand side - left-hand side at U, D = R / diagonal; return as `direction`."""

    def residual(self, system: Any, image: Any) -> None:
        """Turn the left-hand side `image` into the right-hand side minus it, in place."""

    def direction(self, system: Any, R: Any, D: Any, momentum: float) -> tuple[float, float]:
        """D = R / diagonal + momentum D; return <R, R / diagonal> and <R, R>."""

    def advance(
        self, system: Any, U: Any, R: Any, D: Any, image: Any, step: float
    ) -> tuple[float, float]:
        """U += step D, R -= step image; return <R, R / diagonal> and <R, R>."""

    def shifted_residual(self, operator: Operator, shifts: Any, F: Any, Y: Any) -> Any:
        """F - P Y - Y diag(shifts)."""

    def shifted_apply(
        self, operator: Operator, shifts: Any, Y: Any, out: Any
    ) -> NDArray[np.float64]:
        """Write P Y + Y diag(shifts) into `out`; return <y_j, out_j> of every column."""

    def panel_advance(
        self, operator: Operator, shifts: Any, arrays: tuple[Any, Any, Any, Any], steps: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As `advance`, a step for each column, on (Y, R, D, image)."""

    def panel_direction(
        self, operator: Operator, shifts: Any, R: Any, D: Any, momenta: Any
    ) -> None:
        """As `direction`, a momentum for each column."""
