"""How sure the labels are."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pyrocco.plots.colours import BLUE, SKY
from pyrocco.plots.margins import FONT_SIZE, label_clusters
from pyrocco.plots.order import averaging
from pyrocco.plots.picture import bins

__all__ = ["plot_confidence"]

# Steps of the outline at most: about one a pixel.
_MOST = 600


def plot_confidence(confidence: Any, labels: Any, ax: Axes, *, side: str = "rows") -> Axes:
    """Draw the confidence of every label, cluster by cluster, the surest first.

    A cluster is as wide as it has members. Where there are more of them than pixels,
    neighbours are averaged.

    Parameters
    ----------
    confidence : array of float
        Probability of every label (`ROCCO.row_membership_`).
    labels : array of int
        Cluster of every row, counting from 0.
    ax : Axes
        Where to draw.
    side : {"rows", "columns"}, default="rows"
        What is labelled, for the words at the axis.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_confidence([0.6, 1.0, 0.9], [0, 0, 1], Figure().add_subplot())
    >>> ax.get_xlabel(), [patch.get_data().values.tolist() for patch in ax.patches]
    ('3 rows, by cluster and confidence', [[1.0, 0.6], [0.9]])
    """
    confidence, labels = np.asarray(confidence, dtype=float), np.asarray(labels)
    edges = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    for cluster in np.flatnonzero(np.diff(edges)):
        inside = np.sort(confidence[labels == cluster])[::-1]
        room = max(1, round(_MOST * len(inside) / len(labels)))
        _draw_steps(ax, inside, edges[cluster], room, BLUE if cluster % 2 == 0 else SKY)
    ax.set(xlim=(0, len(labels)), ylim=(0, 1.02))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="y", color="white", linewidth=0.5, alpha=0.6)
    ax.set_ylabel("confidence", fontsize=FONT_SIZE)
    ax.set_xlabel(f"{len(labels)} {side}, by cluster and confidence", fontsize=FONT_SIZE)
    ax.tick_params(labelsize=FONT_SIZE)
    label_clusters(ax, "columns", range(len(edges) - 1), edges, f"{side[:-1]} clusters")
    return ax


def _draw_steps(
    ax: Axes, values: np.ndarray[Any, Any], start: int, room: int, colour: str
) -> None:
    groups = bins(np.arange(len(values)), room)
    heights = averaging(groups, int(groups.max()) + 1) @ values
    steps = start + np.concatenate([[0], np.cumsum(np.bincount(groups))])
    ax.stairs(heights, steps, fill=True, color=colour, linewidth=0)
