"""What is done to one block of rows, or to one panel of columns, where it lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pyrocco.backends.base import Operator
from pyrocco.backends.kernels import system as kernels
from pyrocco.backends.kernels.bits import content_keys, largest_cells
from pyrocco.backends.numpy import NumpyBackend
from pyrocco.backends.rowblocks import dense

# Each takes plain arrays and gives new ones: a block that is lost is made again from others.


def squared_norm(block: Any) -> float:
    """||block||_F^2."""
    return float(
        kernels.squared_norm(np.atleast_2d(block.data if sparse.issparse(block) else block))
    )


def squared_distance(block: Any, other: Any) -> float:
    """||block - other||_F^2."""
    return float(kernels.squared_distance(dense(block), dense(other)))


def product(block: Any, other: Any) -> NDArray[np.float64]:
    """block^T other."""
    return np.asarray(dense(block.T @ other), dtype=np.float64)


def gram(block: Any) -> NDArray[np.float64]:
    """block^T block."""
    return product(block, block)


def column_sums(block: Any) -> NDArray[np.float64]:
    """Sum of every column."""
    return np.asarray(block.sum(axis=0, dtype=np.float64)).ravel()


def less_row_means(block: Any) -> NDArray[Any]:
    """Rows less their means."""
    means = block.mean(axis=1, dtype=np.float64, keepdims=True)
    return np.asarray(block - means.astype(block.dtype))


def column_edge_lengths(
    block: Any, heads: NDArray[np.intp], tails: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Part of the squared lengths of edges among columns."""
    return np.asarray(kernels.column_edge_lengths(dense(block), heads, tails))


def row_edge_lengths(
    pieces: list[Any], heads: NDArray[np.intp], tails: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Part of the squared lengths of edges among rows, from some columns of all rows."""
    return np.asarray(kernels.row_edge_lengths(np.concatenate(pieces), heads, tails))


def nearest_centres(
    block: Any, centres: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Nearest centre of every row, and the sum of the rows of each."""
    return NumpyBackend().nearest_centres(dense(block), centres)


def row_keys(block: Any) -> NDArray[np.uint64]:
    """A number for every row, of its cells."""
    return NumpyBackend().content_keys(dense(block), 0)


def column_sizes(block: Any) -> NDArray[np.float64]:
    """Size of the largest cell of every column."""
    return np.asarray(largest_cells(dense(block), 1))


def column_keys(block: Any, largest: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Part of the number for every column."""
    return np.asarray(content_keys(dense(block), largest, 1))


def solve_panel(
    work: Callable[..., Any],
    operator: Operator,
    shifts: NDArray[np.float64],
    fixed: list[Any] | float,
    start: list[Any],
) -> tuple[NDArray[Any], list[Any]]:
    """Work on some columns of all rows; returns what it leaves, and its outcomes.

    `fixed` may be a number: that many times the start.
    """
    Y = np.concatenate(start)
    F = Y * Y.dtype.type(fixed) if isinstance(fixed, float) else np.concatenate(fixed)
    outcomes = NumpyBackend().over_panels(work, operator, shifts, F, Y)
    return Y, outcomes


def on_panel(work: Callable[..., Any], pieces: list[Any], *arguments: Any) -> NDArray[Any]:
    """What some work on some columns of all rows gives."""
    return np.asarray(work(np.concatenate(pieces), *arguments))


def rows_of(panel: Any, rows: slice) -> NDArray[Any]:
    """Some rows of a panel, or of the solution that work on it left."""
    whole = panel[0] if isinstance(panel, tuple) else panel
    return np.array(whole[rows])


def columns_of(piece: NDArray[Any], columns: slice) -> NDArray[Any]:
    """Some columns of a piece."""
    return np.array(piece[:, columns])


def outcomes_of(panel: tuple[NDArray[Any], list[Any]]) -> list[Any]:
    """Outcomes of the work on a panel."""
    return panel[1]
