"""Text beside a matrix: only what fits, so that labels never overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

__all__ = ["FONT_SIZE", "axis_inches", "label_clusters", "label_names", "names_font"]

Array = np.ndarray[Any, Any]

FONT_SIZE = 8.0
SMALLEST_FONT = 5.0
LONGEST_NAME = 28
_LINE_HEIGHT = 1.25 * FONT_SIZE / 72  # inches
_DIGIT_WIDTH = 0.75 * FONT_SIZE / 72  # inches
_NUMBERS = 9  # points from the frame: there are bars between


def names_font(count: int, inches: float) -> float:
    """Largest font, in points, that gives each row or column a line of text.

    Parameters
    ----------
    count : int
        Number of rows or columns.
    inches : float
        Length of the side they share.

    Returns
    -------
    float
        0 where the text would be too small to read.

    Examples
    --------
    >>> names_font(30, 5.0), names_font(50, 5.0), names_font(3000, 5.0)
    (8.0, 5.76, 0.0)
    """
    size = min(FONT_SIZE, inches * 72 / (1.25 * count))
    return size if size >= SMALLEST_FONT else 0.0


def axis_inches(ax: Axes, axis: str) -> float:
    """Length of the side of an Axes along which the rows, or the columns, lie.

    Parameters
    ----------
    ax : Axes
        In a figure.
    axis : {"rows", "columns"}
        Which side.

    Returns
    -------
    float
        In inches.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axis_inches(Figure(figsize=(6, 4)).add_axes((0, 0, 0.5, 1)), "columns")
    3.0
    """
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes we draw on belongs to a figure
    box = ax.get_position()
    width, height = figure.get_size_inches()
    return float(box.height * height if axis == "rows" else box.width * width)


def label_names(ax: Axes, axis: str, names: Sequence[str] | None) -> None:
    """Write the names of the rows on the left, or of the columns below, where they fit.

    Parameters
    ----------
    ax : Axes
        Where the matrix is drawn.
    axis : {"rows", "columns"}
        Which side.
    names : sequence of str or None
        Names in the order drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> label_names(ax, "rows", ["a", "b"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a', 'b']
    """
    side = ax.yaxis if axis == "rows" else ax.xaxis
    font = names_font(len(names), axis_inches(ax, axis)) if names is not None else 0.0
    if names is None or not font:
        side.set_ticks([])
        return
    # Names are text, never formulae: a gene called $A$ is not mathematics.
    side.set_ticks(
        np.arange(len(names)) + 0.5,
        labels=[_shorten(name) for name in names],
        fontsize=font,
        parse_math=False,
        rotation=0 if axis == "rows" else 90,
    )
    side.set_tick_params(length=0)


def label_clusters(
    ax: Axes, axis: str, clusters: Sequence[Any], edges: Array, title: str | None = None
) -> None:
    """Write what clusters are called on the right or on top, leaving out those too narrow.

    Parameters
    ----------
    ax : Axes
        Where the matrix is drawn.
    axis : {"rows", "columns"}
        Which side.
    clusters : sequence of int or str
        Their numbers or names, in the order drawn.
    edges : ndarray of int
        Where each begins, and where the last ends.
    title : str, optional
        What they are; "row clusters" or "column clusters" where not given.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> label_clusters(ax, "rows", [1, 0], np.array([0, 70, 100]))
    >>> [text.get_text() for text in ax.texts]
    ['1', '0', 'row clusters']
    """
    lengths = np.diff(edges) / edges[-1] * axis_inches(ax, axis)
    centres = (edges[:-1] + edges[1:]) / 2 / edges[-1]
    for cluster, length, centre in zip(clusters, lengths, centres, strict=True):
        needed = _LINE_HEIGHT if axis == "rows" else _DIGIT_WIDTH * (len(str(cluster)) + 0.5)
        if length >= needed:
            _beside(ax, axis, centre, str(cluster), offset=_NUMBERS)
    longest = max(len(str(cluster)) for cluster in clusters) if axis == "rows" else 0
    offset = _NUMBERS + max(14, 4 + 0.6 * FONT_SIZE * longest)
    _beside(ax, axis, 0.5, title or f"{axis[:-1]} clusters", offset=offset, turned=True)


def _beside(
    ax: Axes, axis: str, centre: float, text: str, offset: float, turned: bool = False
) -> None:
    """Put text a few points outside the frame: right of it for rows, above it for columns."""
    rows = axis == "rows"
    ax.annotate(
        text,
        xy=(1, 1 - centre) if rows else (centre, 1),
        xycoords="axes fraction",
        xytext=(offset, 0) if rows else (0, offset),
        textcoords="offset points",
        ha="left" if rows else "center",
        va="center" if rows else "bottom",
        rotation=270 if rows and turned else 0,
        fontsize=FONT_SIZE,
        annotation_clip=False,
    )


def _shorten(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
