"""Plots with one coloured cell for every block: means and noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from pyrocco._typing import FittedCoClustering, Floats, Labels, MatrixLike
from pyrocco.plots.axis_labels import axis_inches, names_font
from pyrocco.plots.input import read_data
from pyrocco.plots.order import Arrangement, display_order, downsample, order_by_means
from pyrocco.plots.style import (
    FONT_SIZE,
    ColourScale,
    colour_scale,
    figure_of,
    own_axes,
    show_image,
)
from pyrocco.results.statistics import Moments

__all__ = ["plot_block_means", "plot_block_noise"]

# Colour of blocks whose values are all missing; no colormap contains it.
_MISSING = "0.85"
_NUMBER_WIDTH, _NUMBER_HEIGHT = 0.5, 0.16  # inches


def plot_block_means(
    block_means: ArrayLike | FittedCoClustering,
    ax: Axes | None = None,
    *,
    row_sizes: ArrayLike | None = None,
    column_sizes: ArrayLike | None = None,
) -> Axes:
    """Plot the mean of every block, with high blocks as near the diagonal as possible.

    Parameters
    ----------
    block_means : fitted ROCCO or array-like of shape (n_row_clusters, n_column_clusters)
        A fitted model or one of its cuts, which is drawn in the order of all plots; or the mean
        of every block, NaN if all its values are missing.
    ax : Axes, optional
        Axes to draw on; those of a new figure by default.
    row_sizes, column_sizes : array-like of int, optional
        Sizes of the clusters, written beside their numbers. By default the clusters are
        assumed to be numbered from the largest to the smallest.

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
    ax, model = own_axes(ax), block_means
    if hasattr(model, "row_labels_"):
        return _plot_means_of(model, ax)
    values = np.asarray(block_means, dtype=float)
    given = [None if size is None else np.asarray(size) for size in (row_sizes, column_sizes)]
    sizes = [
        np.arange(n, 0, -1) if size is None else size
        for n, size in zip(values.shape, given, strict=True)
    ]
    mean = np.mean(values[~np.isnan(values)])
    clusters = order_by_means(np.nan_to_num(values, nan=mean), *sizes)
    return _draw_means(values, ax, clusters, (given[0], given[1]))


def _plot_means_of(model: Any, ax: Axes) -> Axes:
    sizes = np.bincount(model.row_labels_), np.bincount(model.column_labels_)
    return _draw_means(np.asarray(model.block_means_), ax, display_order(model), sizes)


def _draw_means(
    values: Floats,
    ax: Axes,
    clusters: tuple[Labels, Labels],
    sizes: tuple[Labels | None, Labels | None],
) -> Axes:
    known = values[~np.isnan(values)]
    scale = colour_scale(known, signed=bool(known.min() < 0))
    _draw_blocks(values, ax, scale, clusters, sizes, "mean")
    return ax


def plot_block_noise(
    X: MatrixLike,
    row_labels: ArrayLike | None = None,
    column_labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    model: FittedCoClustering | None = None,
) -> Axes:
    """Plot the standard deviation within every block, in the order of `plot_block_means`.

    Parameters
    ----------
    X : DataFrame of pandas or polars, array, sparse matrix or AnnData
        The matrix; missing values are NaN.
    row_labels, column_labels : array-like of int, optional
        Cluster of every row and of every column, counting from 0.
    ax : Axes, optional
        Axes to draw on; those of a new figure by default.
    model : fitted estimator, optional
        Model to draw instead of labels.

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
    data, ax = read_data(X).X, own_axes(ax)
    found = Arrangement.of(data, row_labels, column_labels, model)
    rows, columns = found.labels
    blocks = Moments.of(data, rows).T.merged(columns).T
    scatter = np.where(blocks.counts > 0, blocks.scatter, np.nan)
    noise = np.sqrt(scatter / np.maximum(blocks.counts, 1))
    sizes = np.bincount(rows), np.bincount(columns)
    scale = ColourScale("viridis", 0.0, float(np.nanmax(noise)) or 1.0, "white")
    _draw_blocks(noise, ax, scale, found.clusters, sizes, "standard deviation")
    return ax


def _draw_blocks(
    values: Floats,
    ax: Axes,
    scale: ColourScale,
    clusters: tuple[Labels, Labels],
    sizes: tuple[Labels | None, Labels | None],
    title: str,
) -> None:
    """Draw a coloured cell for every block, with cluster names and numbers that fit."""
    ax.set_facecolor(_MISSING)
    n_rows, n_columns = values.shape
    drawn = np.ma.masked_invalid(downsample(values, *clusters))
    image = show_image(ax, drawn, (n_rows, n_columns), scale)
    bar = figure_of(ax).colorbar(image, ax=ax)
    bar.set_label(title, fontsize=FONT_SIZE)
    bar.ax.tick_params(labelsize=FONT_SIZE)
    for axis, order, size in zip(("rows", "columns"), clusters, sizes, strict=True):
        _label_clusters(ax, axis, order, size)
    wide = axis_inches(ax, "columns") >= _NUMBER_WIDTH * n_columns
    if wide and axis_inches(ax, "rows") >= _NUMBER_HEIGHT * n_rows:
        _write_values(values[np.ix_(*clusters)], ax)


def _write_values(values: Floats, ax: Axes) -> None:
    """Write every value into its cell."""
    image, number_format = ax.images[0], _number_format(values)
    # Perceived brightness: dark text on light cells, light text on dark ones.
    brightness = np.asarray(image.to_rgba(values))[..., :3] @ [0.299, 0.587, 0.114]
    is_light = np.isnan(values) | (brightness > 0.5)
    for (i, j), value in np.ndenumerate(values):
        ax.text(
            j + 0.5,
            i + 0.5,
            "missing" if np.isnan(value) else number_format.format(value),
            ha="center",
            va="center",
            fontsize=FONT_SIZE,
            color="black" if is_light[i, j] else "white",
        )


def _number_format(values: Floats) -> str:
    """Return a format with three digits for the largest value and as many decimals for all."""
    largest = float(np.nanmax(np.abs(values)))
    magnitude = int(np.floor(np.log10(largest))) if largest > 0 else 0
    return f"{{:z.{max(2 - magnitude, 0)}f}}" if -3 <= magnitude <= 4 else "{:.1e}"


def _label_clusters(ax: Axes, axis: str, clusters: Labels, sizes: Labels | None) -> None:
    """Write the numbers and sizes of the clusters, of as many as fit."""
    side = ax.yaxis if axis == "rows" else ax.xaxis
    side.set_label_text(f"{axis[:-1]} clusters", fontsize=FONT_SIZE)
    inches = axis_inches(ax, axis)
    font = names_font(len(clusters), inches)
    shown = slice(None) if font else slice(None, None, -(-len(clusters) // 20))
    names = [str(c) if sizes is None else f"{c} ({sizes[c]})" for c in clusters]
    side.set_ticks(
        (np.arange(len(clusters)) + 0.5)[shown],
        labels=names[shown],
        fontsize=font or FONT_SIZE,
        rotation=90 if axis == "columns" and inches < _NUMBER_WIDTH * len(clusters) else 0,
    )
    side.set_tick_params(length=0)
