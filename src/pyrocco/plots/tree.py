"""Plot of the tree of nested clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike

from pyrocco._typing import Floats, Labels
from pyrocco.assign.nested import NestedSide
from pyrocco.plots.axis_labels import axis_inches
from pyrocco.plots.branches import tree_links
from pyrocco.plots.order import clusters_in_order, member_order, sort_by_cluster, tree_of
from pyrocco.plots.style import FONT_SIZE, GREY, cluster_colours, figure_of, own_axes

__all__ = ["plot_tree"]

_NUMBER = 0.2  # inches that the number of a cluster needs
_LINE = 4.0  # points between the axis and the lines under the clusters


def plot_tree(
    leaves: Any,
    merges: ArrayLike | None = None,
    heights: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    n_clusters: int | None = None,
    side: str = "rows",
) -> Axes:
    """Plot the tree in which the finest clusters merge into one.

    The width of a branch is its number of members. Merges within the clusters of the chosen
    cut have their colours, merges of these clusters are grey, and their numbers are written
    below.

    Parameters
    ----------
    leaves : fitted ROCCO or array-like of int
        A fitted model or one of its cuts, which is drawn in the order of all plots; or the
        finest cluster of every row (``tree_.rows.finest``).
    merges : array-like of shape (n_leaves - 1, 2), optional
        Pairs of clusters that merge, in order (``tree_.rows.merges``).
    heights : array-like of shape (n_leaves - 1,), optional
        Distances at which they merge (``tree_.rows.heights``).
    ax : Axes, optional
        Axes to draw on; those of a new figure by default.
    n_clusters : int, optional
        Number of clusters of the cut; that of the model by default.
    side : {"rows", "columns"}, default="rows"
        What is clustered; written on the axis.

    Returns
    -------
    Axes
        `ax`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> ax = plot_tree([0, 0, 1, 2], [[0, 1], [0, 2]], [1.0, 3.0], ax, n_clusters=2)
    >>> [text.get_text() for text in ax.texts]
    ['0', '1']
    """
    ax = own_axes(ax)
    tree, places = _tree_and_places(leaves, merges, heights, n_clusters, side)
    links = tree_links(tree, places, tree.n_fitted)
    palette = cluster_colours(tree.n_fitted)
    colours = [GREY if link.cluster < 0 else palette[link.cluster] for link in links]
    width = 1.2 if len(links) < 60 else 0.6
    corners = [link.corners for link in links]
    ax.add_collection(LineCollection(corners, colors=colours, linewidths=width))
    ax.set_xlim(0, len(tree.finest))
    ax.set_ylim(0, 1.05 * float(np.max(tree.heights, initial=0.0)) or 1.0)
    _number_clusters(ax, tree, places)
    _label_axes(ax, f"{tree.n_fitted} clusters of {len(tree.finest)} {side}")
    return ax


def _tree_and_places(
    leaves: Any,
    merges: ArrayLike | None,
    heights: ArrayLike | None,
    n_clusters: int | None,
    side: str,
) -> tuple[NestedSide, Floats]:
    """Return the tree, cut as it is drawn, and the coordinate of every member."""
    nested = tree_of(leaves)
    if nested is not None:
        own = nested.rows if side == "rows" else nested.columns
        order = member_order(leaves)[0 if side == "rows" else 1]
        labels = leaves.row_labels_ if side == "rows" else leaves.column_labels_
        cut = n_clusters or int(np.max(labels)) + 1
        tree = NestedSide(own.finest, own.merges, own.heights, cut)
    elif merges is None or heights is None or n_clusters is None:
        raise TypeError("give merges, heights and n_clusters, or a fitted model as leaves.")
    else:
        tree = NestedSide(np.asarray(leaves), np.asarray(merges), np.asarray(heights), n_clusters)
        order = sort_by_cluster(tree.finest, _leaf_order(tree))
    places = np.empty(len(order))
    places[order] = np.arange(len(order)) + 0.5
    return tree, places


def _leaf_order(tree: NestedSide) -> Labels:
    """Place the finest clusters side by side, those that merge next to each other."""
    order = {leaf: [leaf] for leaf in range(tree.n_finest)}
    for first, second in tree.merges.tolist():
        order[first] += order.pop(second)
    (names,) = order.values()
    return np.array(names, dtype=np.intp)


def _number_clusters(ax: Axes, tree: NestedSide, places: Floats) -> None:
    """Underline every cluster of the cut and write its number below if it fits."""
    labels = tree.cut(tree.n_fitted)
    order = clusters_in_order(labels, np.argsort(places))
    totals = np.bincount(labels)[order]
    palette = cluster_colours(tree.n_fitted)
    begin, inches_per_row = 0, axis_inches(ax, "columns") / len(labels)
    for cluster, total in zip(order.tolist(), totals.tolist(), strict=True):
        end = begin + total
        margin = min(0.02 / inches_per_row, 0.1 * total)
        number = str(cluster) if total * inches_per_row >= _NUMBER else ""
        _underline(ax, (begin + margin, end - margin), number, palette[cluster])
        begin = end


def _underline(ax: Axes, ends: tuple[float, float], number: str, colour: str) -> None:
    """Draw a line below the axis and write a number under it."""
    lower = ScaledTranslation(0, -_LINE / 72, figure_of(ax).dpi_scale_trans)
    place = ax.get_xaxis_transform() + lower
    ax.plot(ends, [0, 0], color=colour, linewidth=2, transform=place, clip_on=False)
    if number:
        ax.annotate(
            number,
            xy=(sum(ends) / 2, 0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0, -_LINE - 4),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=FONT_SIZE,
            annotation_clip=False,
        )


def _label_axes(ax: Axes, below: str) -> None:
    ax.set_xticks([])
    ax.set_xlabel(below, labelpad=_LINE + 2 * FONT_SIZE, fontsize=FONT_SIZE)
    ax.set_ylabel("distance between merged clusters", fontsize=FONT_SIZE)
    ax.tick_params(labelsize=FONT_SIZE)
    ax.spines[["top", "right"]].set_visible(False)
