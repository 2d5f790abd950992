"""A matrix of any size as the few tiles that the page's heat map is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco.io.named_matrix import stored_values
from pyrocco.plots.order import block_means
from pyrocco.plots.picture import bins

__all__ = ["Tiles", "make_tiles"]

# A million tiles are about 2 MB of page.
SIDE = 1_000

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Tiles:
    """Means of neighbouring cells.

    Attributes
    ----------
    values : ndarray of shape (tiles down, tiles across)
        Mean of the cells of a tile that are not missing; NaN where all are.
    doubt : None or ndarray of the same shape
        Mean distrust of the cells of a tile, from 0 to 1; None where all were trusted.
    has_negative : bool
        Whether a single cell is below zero.

    Examples
    --------
    >>> Tiles(np.eye(2), None, False).values.shape
    (2, 2)
    """

    values: Array
    doubt: Array | None
    has_negative: bool


def make_tiles(
    X: Any, orders: tuple[Array, Array], weights: Any = None, *, side: int = SIDE
) -> Tiles:
    """Reorder a matrix and average neighbours until few tiles are left.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The numbers; NaN where a cell is missing.
    orders : pair of ndarray of int
        Rows from top to bottom, columns from left to right.
    weights : None, ndarray or sparse matrix
        Trust in every cell (`ROCCO.cell_weights_`).
    side : int, default=1000
        Tiles on a side at most, where the other side has as many.

    Returns
    -------
    Tiles

    Examples
    --------
    >>> X = np.array([[1.0, np.nan], [3.0, 8.0]])
    >>> make_tiles(X, (np.array([1, 0]), np.arange(2)), side=1).values
    array([[4.]])
    """
    n_rows, n_columns = X.shape
    groups = (
        bins(orders[0], _most(n_columns, side)),
        bins(orders[1], _most(n_rows, side)),
    )
    missing = _where_missing(X)
    filled = X if missing is None else _fill(X, missing)
    values = block_means(filled, *groups)
    seen = np.ones_like(values) if missing is None else 1 - block_means(missing, *groups)
    # What is left of 1 when all cells of a tile are missing is rounding.
    seen = np.where(seen < 1e-9, np.nan, seen)
    doubt = None if weights is None else _doubt(weights, missing, groups)
    return Tiles(values / seen, doubt, bool(filled.min() < 0))


def _most(other: int, side: int) -> int:
    """Tiles along one side: more where the other side is short, as many in all."""
    return max(side, side * side // min(other, side))


def _where_missing(X: Any) -> Any:
    """Mark missing cells with 1, as sparse or dense as the matrix; None where none is."""
    marks = np.isnan(stored_values(X))
    if not marks.any():
        return None
    marks = marks.astype(np.float32)
    return sparse.csr_array((marks, X.indices, X.indptr), X.shape) if sparse.issparse(X) else marks


def _fill(X: Any, missing: Any) -> Any:
    if not sparse.issparse(X):
        return np.where(missing > 0, 0, X)
    filled = X.copy()
    filled.data[missing.data > 0] = 0
    return filled


def _doubt(weights: Any, missing: Any, groups: tuple[Array, Array]) -> Array:
    """Distrust of cells that are there; a missing cell was not distrusted."""
    if sparse.issparse(weights):
        doubt = weights.copy()
        doubt.data = 1 - doubt.data
    else:
        doubt = 1 - weights if missing is None else np.where(missing > 0, 0, 1 - weights)
    return block_means(doubt, *groups).clip(0, 1)
