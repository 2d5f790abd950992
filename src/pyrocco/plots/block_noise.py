"""The noise of the blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from pyrocco.plots.blocks import draw_blocks, write_blocks
from pyrocco.plots.order import order_by_means
from pyrocco.plots.picture import ColourScale
from pyrocco.results.statistics import Moments

__all__ = ["plot_block_noise"]


def plot_block_noise(X: Any, row_labels: Any, column_labels: Any, ax: Axes) -> Axes:
    """Draw the standard deviation within every block, in the order of `plot_block_means`.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        The numbers; NaN where missing.
    row_labels, column_labels : array of int
        Cluster of every row and of every column, counting from 0.
    ax : Axes
        Where to draw.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> X = np.array([[1.0, 3.0, 0.0], [3.0, 1.0, 8.0]])
    >>> ax = plot_block_noise(X, [0, 0], [0, 0, 1], Figure().add_subplot())
    >>> ax.images[0].get_array().tolist()
    [[1.0, 4.0]]
    """
    rows, columns = np.asarray(row_labels), np.asarray(column_labels)
    blocks = Moments.of(X, rows).T.merged(columns).T
    seen = blocks.counts > 0
    noise = np.sqrt(np.where(seen, blocks.scatter, np.nan) / np.maximum(blocks.counts, 1))
    sizes = np.bincount(rows), np.bincount(columns)
    clusters = order_by_means(blocks.means, *sizes)
    # From nothing at all: twice as bright is twice as noisy.
    scale = ColourScale("viridis", 0.0, float(np.nanmax(noise)) or 1.0, "white")
    draw_blocks(noise, ax, scale, clusters, sizes, "standard deviation")
    write_blocks(noise, ax, clusters)
    return ax
