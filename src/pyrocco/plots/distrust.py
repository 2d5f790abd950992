"""Cells that were not trusted, marked on a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from scipy import sparse

from pyrocco.plots.picture import shrink

__all__ = ["mark_distrust"]

# In neither colormap of `colour_scale`, and read as "left out".
COLOUR = "0.45"

Array = np.ndarray[Any, Any]


def mark_distrust(weights: Any, ax: Axes, orders: tuple[Array, Array]) -> Axes:
    """Lay grey over a heat map where cells were not trusted.

    Cells of which less than a quarter was taken off stay as they are.

    Parameters
    ----------
    weights : ndarray or sparse matrix
        Trust in every cell, from 0 to 1; cells that a sparse matrix does not store are
        trusted.
    ax : Axes
        A heat map.
    orders : pair of ndarray of int
        Order of its rows and of its columns.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> weights = np.array([[1.0, 0.25], [1.0, 1.0]])
    >>> ax = mark_distrust(weights, Figure().add_subplot(), (np.arange(2), np.arange(2)))
    >>> ax.images[-1].get_array()[..., 3].tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    if sparse.issparse(weights):
        doubt = weights.copy()
        doubt.data = 1 - doubt.data
    else:
        doubt = np.nan_to_num(1 - weights)  # a missing cell is not doubted
    opacity = np.clip(2 * shrink(doubt, *orders) - 0.5, 0, 1)
    layer = np.concatenate(
        [np.broadcast_to(to_rgb(COLOUR), (*opacity.shape, 3)), opacity[..., None]], axis=2
    )
    n_rows, n_columns = weights.shape
    ax.imshow(
        layer,
        aspect="auto",
        interpolation="nearest",
        extent=(0, n_columns, n_rows, 0),
    )
    return ax
