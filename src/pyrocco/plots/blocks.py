"""One number for every block, drawn as a table of colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from pyrocco.plots.margins import FONT_SIZE, axis_inches, names_font
from pyrocco.plots.picture import ColourScale, shrink

__all__ = ["draw_blocks", "write_blocks"]

Array = np.ndarray[Any, Any]

# Blocks of which nothing is known: no colour of any scale.
_UNKNOWN = "0.85"
_WIDTH_OF_NUMBER = 0.5  # inches
_HEIGHT_OF_NUMBER = 0.16


def draw_blocks(
    values: Array,
    ax: Axes,
    scale: ColourScale,
    clusters: tuple[Array, Array],
    sizes: tuple[Any, Any],
    what: str,
) -> Axes:
    """Colour a cell for every block, clusters named at the margins where names fit.

    Parameters
    ----------
    values : ndarray of shape (row clusters, column clusters)
        One number a block; NaN where nothing is known.
    ax : Axes
        Where to draw.
    scale : ColourScale
        Colours.
    clusters : pair of ndarray of int
        The clusters from top to bottom and from left to right.
    sizes : pair of array of int or None
        Rows, or columns, of every cluster, written beside its number.
    what : str
        What the numbers are, written beside the colours.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> order = np.array([1, 0]), np.array([0, 1])
    >>> scale = ColourScale("viridis", 0.0, 1.0, "white")
    >>> ax = draw_blocks(np.eye(2), Figure().add_subplot(), scale, order, (None, None), "x")
    >>> ax.images[0].get_array().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    picture = shrink(values, *clusters)
    ax.set_facecolor(_UNKNOWN)
    n_rows, n_columns = values.shape
    image = ax.imshow(
        np.ma.masked_invalid(picture),
        cmap=scale.cmap,
        vmin=scale.low,
        vmax=scale.high,
        aspect="auto",
        interpolation="nearest",
        extent=(0, n_columns, n_rows, 0),
    )
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes we draw on belongs to a figure
    bar = figure.colorbar(image, ax=ax)
    bar.set_label(what, fontsize=FONT_SIZE)
    bar.ax.tick_params(labelsize=FONT_SIZE)
    for axis, order, size in zip(("rows", "columns"), clusters, sizes, strict=True):
        _name_clusters(ax, axis, order, size)
    return ax


def write_blocks(values: Array, ax: Axes, clusters: tuple[Array, Array]) -> None:
    """Write the numbers into the cells, if all of them fit.

    Parameters
    ----------
    values : ndarray of shape (row clusters, column clusters)
        The numbers.
    ax : Axes
        Where `draw_blocks` drew.
    clusters : pair of ndarray of int
        The clusters from top to bottom and from left to right.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax, order = Figure().add_subplot(), (np.array([0]), np.array([1, 0]))
    >>> scale = ColourScale("viridis", 0.0, 3.0, "white")
    >>> ax = draw_blocks(np.array([[1.0, 2.5]]), ax, scale, order, (None, None), "x")
    >>> write_blocks(np.array([[1.0, 2.5]]), ax, order)
    >>> [text.get_text() for text in ax.texts]
    ['2.50', '1.00']
    """
    image = ax.images[0]
    wide = axis_inches(ax, "columns") >= _WIDTH_OF_NUMBER * values.shape[1]
    if not (wide and axis_inches(ax, "rows") >= _HEIGHT_OF_NUMBER * values.shape[0]):
        return
    form = _number_format(values)
    for (i, j), value in np.ndenumerate(values[np.ix_(*clusters)]):
        red, green, blue, _ = image.cmap(image.norm(value))
        # Perceived brightness: dark text on light cells, light text on dark ones.
        light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 or np.isnan(value)
        ax.text(
            j + 0.5,
            i + 0.5,
            "missing" if np.isnan(value) else form.format(value),
            ha="center",
            va="center",
            fontsize=FONT_SIZE,
            color="black" if light else "white",
        )


def _number_format(values: Array) -> str:
    """Three digits of the largest number, and as many places for all the others."""
    largest = float(np.nanmax(np.abs(values)))
    magnitude = int(np.floor(np.log10(largest))) if largest > 0 else 0
    return f"{{:z.{max(2 - magnitude, 0)}f}}" if -3 <= magnitude <= 4 else "{:.1e}"


def _name_clusters(ax: Axes, axis: str, clusters: Array, sizes: Any) -> None:
    """Number the clusters, with their sizes, as many as fit."""
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
        rotation=90 if axis == "columns" and inches < _WIDTH_OF_NUMBER * len(clusters) else 0,
    )
    side.set_tick_params(length=0)
