"""From a matrix of any size to as many numbers as a picture has pixels, and their colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from scipy import sparse

from pyrocco.fitting.result import block_means

__all__ = ["ColourScale", "bins", "colour_scale", "colour_table", "shrink"]

COARSEST = 150

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ColourScale:
    """Colours for numbers: a colormap that colour-blind readers can use, and its limits.

    Attributes
    ----------
    cmap : str
        Name of the colormap.
    low, high : float
        Numbers that get the first and the last colour.
    border : str
        A colour that stands out against all of the colormap.

    Examples
    --------
    >>> ColourScale("viridis", 0.0, 1.0, "white").cmap
    'viridis'
    """

    cmap: str
    low: float
    high: float
    border: str


def colour_scale(picture: Array, signed: bool) -> ColourScale:
    """Choose colours that a few outliers cannot wash out.

    Parameters
    ----------
    picture : ndarray
        The numbers to show.
    signed : bool
        Whether negative numbers occur: then colours diverge from white at 0, otherwise they
        run from dark to bright.

    Returns
    -------
    ColourScale

    Examples
    --------
    >>> colour_scale(np.array([[-3.0, 3.0]]), signed=True).low
    -3.0
    """
    # Where nearly all is 0 the quantiles are 0 too, and only the rest tells the range.
    picture = picture[~np.isnan(picture)]
    some = picture[picture != 0]
    parts = (picture.ravel(), some) if some.size else (np.array([0.0, 1.0]),)
    if signed:
        limit = next(
            q for p in parts if (q := float(np.quantile(np.abs(p), 0.98, method="higher"))) > 0
        )
        return ColourScale("RdBu_r", -limit, limit, "black")
    low = float(np.quantile(parts[0], 0.01, method="lower"))
    high = float(np.quantile(parts[0], 0.99, method="higher"))
    if high <= low:
        high = float(np.quantile(parts[-1], 0.99))
    if high <= low:  # one number everywhere
        low, high = 0.0, max(high, 1e-12)
    return ColourScale("viridis", low, high, "white")


def colour_table(scale: ColourScale) -> Array:
    """The colours of a scale, as numbers that need no matplotlib.

    Parameters
    ----------
    scale : ColourScale
        The scale.

    Returns
    -------
    ndarray of uint8, shape (256, 3)
        Red, green and blue, from the lowest number to the highest.

    Examples
    --------
    >>> colour_table(ColourScale("viridis", 0.0, 1.0, "white"))[0].tolist()
    [68, 1, 84]
    """
    colours: Array = colormaps[scale.cmap](np.arange(256), bytes=True)[:, :3]
    return colours


def shrink(X: Any, row_order: Array, column_order: Array, most: int = 600) -> Array:
    """Reorder a matrix and average neighbours until it is small enough to draw.

    Sparse matrices are never made dense at their full size.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The numbers.
    row_order, column_order : ndarray of int
        Rows from top to bottom, columns from left to right.
    most : int
        Largest number of rows and of columns of the picture.

    Returns
    -------
    ndarray
        At most ``most`` by ``most`` numbers.

    Examples
    --------
    >>> shrink(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]), np.array([0, 1]))
    array([[3., 4.],
           [1., 2.]])
    >>> shrink(np.arange(8.0).reshape(2, 4), np.arange(2), np.arange(4), most=2)
    array([[0.5, 2.5],
           [4.5, 6.5]])
    """
    if max(X.shape) > most:
        # A pixel with hardly a value in it is noise: the fewer there are, the coarser.
        nonzero = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
        most = int(np.clip(np.sqrt(nonzero), min(most, COARSEST), most))
    return block_means(X, bins(row_order, most), bins(column_order, most))


def bins(order: Array, most: int) -> Array:
    """Put neighbours of an order together until there are few enough.

    Parameters
    ----------
    order : ndarray of int
        Rows from top to bottom, or columns from left to right.
    most : int
        Bins at most.

    Returns
    -------
    ndarray of int
        Bin of every row or column, counting from 0 along the order.

    Examples
    --------
    >>> bins(np.array([3, 2, 1, 0]), 2)
    array([1, 1, 0, 0])
    """
    found = np.empty(len(order), dtype=np.intp)
    found[order] = np.arange(len(order)) * min(most, len(order)) // len(order)
    return found
