"""Names, cluster numbers and cluster bars beside a heat map.

Only text that fits is drawn, so that labels never overlap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.transforms import ScaledTranslation

from pyrocco._typing import Labels
from pyrocco.plots.style import FONT_SIZE, cluster_colours, figure_of

__all__ = [
    "LONGEST_NAME",
    "axis_inches",
    "draw_cluster_bars",
    "label_clusters",
    "label_names",
    "names_font",
]

SMALLEST_FONT = 5.0
LONGEST_NAME = 28
_LINE_HEIGHT = 1.25 * FONT_SIZE / 72  # inches
_DIGIT_WIDTH = 0.75 * FONT_SIZE / 72  # inches
# Points: thickness of a bar, space between it and the heat map, distance of the numbers.
_BAR, _SPACE, _NUMBERS = 4.0, 2.0, 9.0


def names_font(count: int, inches: float) -> float:
    """Return the largest font size, in points, that gives each name a line of its own.

    It is 0 if the text would be too small to read. `inches` is the length of the side.
    """
    size = min(FONT_SIZE, inches * 72 / (1.25 * count))
    return size if size >= SMALLEST_FONT else 0.0


def axis_inches(ax: Axes, axis: str) -> float:
    """Return the height ("rows") or width ("columns") of an Axes in inches."""
    box = ax.get_position()
    width, height = figure_of(ax).get_size_inches()
    return float(box.height * height if axis == "rows" else box.width * width)


def label_names(ax: Axes, axis: str, names: Sequence[str] | None) -> None:
    """Write row names, in the order drawn, on the left, or column names below, if they fit."""
    side = ax.yaxis if axis == "rows" else ax.xaxis
    font = names_font(len(names), axis_inches(ax, axis)) if names is not None else 0.0
    if names is None or not font:
        side.set_ticks([])
        return
    side.set_ticks(
        np.arange(len(names)) + 0.5,
        labels=[_shorten(name) for name in names],
        fontsize=font,
        parse_math=False,  # a gene named $A$ is not a formula
        rotation=0 if axis == "rows" else 90,
    )
    side.set_tick_params(length=0)


def label_clusters(
    ax: Axes,
    axis: str,
    clusters: Sequence[int] | Sequence[str],
    edges: Labels,
    title: str | None = None,
) -> None:
    """Write cluster names on the right or on top, except those of narrow clusters.

    `edges` are the start of each cluster, in the order drawn, and the end of the last.
    """
    names = [str(cluster) for cluster in clusters]
    lengths = np.diff(edges) / edges[-1] * axis_inches(ax, axis)
    centres = (edges[:-1] + edges[1:]) / 2 / edges[-1]
    for name, length, centre in zip(names, lengths, centres, strict=True):
        needed = _LINE_HEIGHT if axis == "rows" else _DIGIT_WIDTH * (len(name) + 0.5)
        if length >= needed:
            _write_outside(ax, axis, centre, name, offset=_NUMBERS)
    longest = max(map(len, names)) if axis == "rows" else 0
    offset = _NUMBERS + max(14, 4 + 0.6 * FONT_SIZE * longest)
    title = title or f"{axis[:-1]} clusters"
    _write_outside(ax, axis, 0.5, title, offset=offset, vertical=axis == "rows")


def draw_cluster_bars(ax: Axes, axis: str, edges: Labels, clusters: Labels) -> None:
    """Draw a bar in the colour of every cluster, on the right or on top."""
    palette = cluster_colours(int(clusters.max()) + 1)
    rows, ends = axis == "rows", edges / edges[-1]
    along = 1 - ends if rows else ends
    corners = np.stack([along, np.ones_like(along)][:: -1 if rows else 1], axis=1)
    out = (_SPACE + _BAR / 2) / 72
    outside = ScaledTranslation(out * rows, out * (not rows), figure_of(ax).dpi_scale_trans)
    bars = LineCollection(
        list(np.stack([corners[:-1], corners[1:]], axis=1)),
        colors=[palette[cluster] for cluster in clusters],
        linewidths=_BAR,
        capstyle="butt",
        transform=ax.transAxes + outside,
        clip_on=False,
    )
    ax.add_collection(bars, autolim=False)


def _write_outside(
    ax: Axes, axis: str, centre: float, text: str, offset: float, vertical: bool = False
) -> None:
    """Write text a few points outside the frame: on the right for rows, on top for columns."""
    rows = axis == "rows"
    ax.annotate(
        text,
        xy=(1, 1 - centre) if rows else (centre, 1),
        xycoords="axes fraction",
        xytext=(offset, 0) if rows else (0, offset),
        textcoords="offset points",
        ha="left" if rows else "center",
        va="center" if rows else "bottom",
        rotation=270 if vertical else 0,
        fontsize=FONT_SIZE,
        annotation_clip=False,
    )


def _shorten(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
