"""Bars beside a heat map that show where clusters begin and end."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.transforms import ScaledTranslation

from pyrocco.plots.colours import BLUE, SKY

__all__ = ["BAR", "draw_bars"]

# Points: thickness of a bar, and of the gap between it and the picture.
BAR, _GAP = 4.0, 2.0


def draw_bars(ax: Axes, axis: str, edges: np.ndarray[Any, Any]) -> None:
    """Draw a bar for every cluster, dark and light in turn: at the right or on top.

    Parameters
    ----------
    ax : Axes
        Where the matrix is drawn.
    axis : {"rows", "columns"}
        Which side.
    edges : ndarray of int
        Where each cluster begins, and where the last ends.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> draw_bars(ax, "rows", np.array([0, 70, 100]))
    >>> len(ax.collections[0].get_segments())
    2
    """
    rows, ends = axis == "rows", edges / edges[-1]
    along = 1 - ends if rows else ends
    corners = np.stack([along, np.ones_like(along)][:: -1 if rows else 1], axis=1)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes we draw on belongs to a figure
    out = (_GAP + BAR / 2) / 72
    outside = ScaledTranslation(out * rows, out * (not rows), figure.dpi_scale_trans)
    bars = LineCollection(
        list(np.stack([corners[:-1], corners[1:]], axis=1)),
        colors=list(islice(cycle([BLUE, SKY]), len(edges) - 1)),
        linewidths=BAR,
        capstyle="butt",
        transform=ax.transAxes + outside,
        clip_on=False,
    )
    ax.add_collection(bars, autolim=False)
