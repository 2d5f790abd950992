"""Plot of the membership probabilities of the labels."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from pyrocco._typing import Floats
from pyrocco.deprecation import warn_deprecated
from pyrocco.plots.axis_labels import label_clusters
from pyrocco.plots.order import bins
from pyrocco.plots.style import BLUE, FONT_SIZE, SKY

__all__ = ["plot_confidence", "plot_membership"]

# Largest number of steps of the outline: about one per pixel.
_MOST = 600


def plot_membership(
    membership: ArrayLike, labels: ArrayLike, ax: Axes, *, side: str = "rows"
) -> Axes:
    """Plot the membership probability of every label, cluster by cluster.

    The width of a cluster is its number of members, which are sorted from the highest
    probability to the lowest. If there are more of them than pixels, neighbours are averaged.

    Parameters
    ----------
    membership : array-like of float
        Probability of every label under the fitted model (`ROCCO.row_membership_`).
    labels : array-like of int
        Cluster of every row, counting from 0.
    ax : Axes
        Axes to draw on.
    side : {"rows", "columns"}, default="rows"
        What the labels belong to; written on the axis.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_membership([0.6, 1.0, 0.9], [0, 0, 1], Figure().add_subplot())
    >>> ax.get_xlabel(), [patch.get_data().values.tolist() for patch in ax.patches]
    ('3 rows, by cluster and membership', [[1.0, 0.6], [0.9]])
    """
    membership, labels = np.asarray(membership, dtype=float), np.asarray(labels)
    edges = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    for cluster in np.flatnonzero(np.diff(edges)):
        inside = np.sort(membership[labels == cluster])[::-1]
        steps = max(1, round(_MOST * len(inside) / len(labels)))
        _draw_steps(ax, inside, edges[cluster], steps, BLUE if cluster % 2 == 0 else SKY)
    ax.set(xlim=(0, len(labels)), ylim=(0, 1.02))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="y", color="white", linewidth=0.5, alpha=0.6)
    ax.set_ylabel("membership probability", fontsize=FONT_SIZE)
    ax.set_xlabel(f"{len(labels)} {side}, by cluster and membership", fontsize=FONT_SIZE)
    ax.tick_params(labelsize=FONT_SIZE)
    label_clusters(ax, "columns", range(len(edges) - 1), edges, f"{side[:-1]} clusters")
    return ax


def plot_confidence(
    confidence: ArrayLike, labels: ArrayLike, ax: Axes, *, side: str = "rows"
) -> Axes:
    """Plot membership probabilities; the deprecated name of `plot_membership`."""
    warn_deprecated("plot_confidence", "plot_membership", since="0.2")
    return plot_membership(confidence, labels, ax, side=side)


def _draw_steps(ax: Axes, values: Floats, start: int, most: int, colour: str) -> None:
    """Draw sorted values as at most `most` steps, from `start` on."""
    step_of = bins(np.arange(len(values)), most)
    widths = np.bincount(step_of)
    ends = start + np.concatenate([[0], np.cumsum(widths)])
    ax.stairs(np.bincount(step_of, values) / widths, ends, fill=True, color=colour, linewidth=0)
