"""The means of the blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from pyrocco.plots.blocks import draw_blocks, write_blocks
from pyrocco.plots.order import order_by_means
from pyrocco.plots.picture import colour_scale

__all__ = ["plot_block_means"]


def plot_block_means(
    block_means: Any, ax: Axes, *, row_sizes: Any = None, column_sizes: Any = None
) -> Axes:
    """Draw the mean of every block, high blocks as near the diagonal as possible.

    Parameters
    ----------
    block_means : array of shape (row clusters, column clusters)
        Mean of every block (`ROCCO.block_means_`); NaN where all its cells are missing.
    ax : Axes
        Where to draw.
    row_sizes, column_sizes : array of int, optional
        Rows, and columns, of every cluster, written beside its number; clusters are taken
        to be numbered by size where not given.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_block_means([[0.0, 5.0], [4.0, 0.0]], Figure().add_subplot())
    >>> ax.images[0].get_array().tolist()
    [[5.0, 0.0], [0.0, 4.0]]
    """
    values = np.asarray(block_means, dtype=float)
    known = values[~np.isnan(values)]
    ranks = [np.arange(size, 0, -1) for size in values.shape]
    sizes = (
        ranks[0] if row_sizes is None else np.asarray(row_sizes),
        ranks[1] if column_sizes is None else np.asarray(column_sizes),
    )
    clusters = order_by_means(np.nan_to_num(values, nan=np.mean(known)), *sizes)
    scale = colour_scale(known, signed=bool(known.min() < 0))
    draw_blocks(values, ax, scale, clusters, (row_sizes, column_sizes), "mean")
    write_blocks(values, ax, clusters)
    return ax
