"""Plot of the membership probabilities of the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from pyrocco._typing import Floats, Labels
from pyrocco.deprecation import warn_deprecated
from pyrocco.plots.axis_labels import label_clusters
from pyrocco.plots.order import bins, display_order
from pyrocco.plots.style import FONT_SIZE, cluster_colours, own_axes

__all__ = ["plot_confidence", "plot_membership"]

# Largest number of steps of the outline: about one per pixel.
_MOST = 600


def plot_membership(
    membership: Any,
    labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    side: str = "rows",
) -> Axes:
    """Plot the membership probability of every label, cluster by cluster.

    The width of a cluster is its number of members, which are sorted from the highest
    probability to the lowest. If there are more of them than pixels, neighbours are averaged.

    Parameters
    ----------
    membership : fitted ROCCO or array-like of float
        A fitted model, whose clusters are drawn in the order of all plots; or the probability
        of every label (`ROCCO.row_membership_`).
    labels : array-like of int, optional
        Cluster of every row, counting from 0, if `membership` is an array.
    ax : Axes, optional
        Axes to draw on; those of a new figure by default.
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
    ax = own_axes(ax)
    membership, labels, clusters = _memberships(membership, labels, side)
    sizes = np.bincount(labels)[clusters]
    edges = np.concatenate([[0], np.cumsum(sizes)])
    palette = cluster_colours(int(clusters.max()) + 1)
    for cluster, start in zip(clusters, edges[:-1], strict=True):
        inside = np.sort(membership[labels == cluster])[::-1]
        steps = max(1, round(_MOST * len(inside) / len(labels)))
        _draw_steps(ax, inside, start, steps, palette[cluster])
    ax.set(xlim=(0, len(labels)), ylim=(0, 1.02))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(axis="y", color="white", linewidth=0.5, alpha=0.6)
    ax.set_ylabel("membership probability", fontsize=FONT_SIZE)
    ax.set_xlabel(f"{len(labels)} {side}, by cluster and membership", fontsize=FONT_SIZE)
    ax.tick_params(labelsize=FONT_SIZE)
    label_clusters(ax, "columns", clusters.tolist(), edges, f"{side[:-1]} clusters")
    return ax


def _memberships(
    membership: Any, labels: ArrayLike | None, side: str
) -> tuple[Floats, Labels, Labels]:
    """Return the probabilities, the labels, and the clusters in the order drawn."""
    if hasattr(membership, "row_labels_"):
        model, place = membership, ("rows", "columns").index(side)
        name = side[:-1]
        values = getattr(model, f"{name}_membership_")
        return values, getattr(model, f"{name}_labels_"), display_order(model)[place]
    if labels is None:
        raise TypeError("give labels, or a fitted model as membership.")
    numbers = np.asarray(labels)
    return np.asarray(membership, dtype=float), numbers, np.flatnonzero(np.bincount(numbers))


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
