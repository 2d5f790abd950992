"""Plot of the tree of nested clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike

from pyrocco._typing import Floats, Labels
from pyrocco.assign.nested import NestedSide
from pyrocco.plots.axis_labels import axis_inches
from pyrocco.plots.style import BLUE, FONT_SIZE, GREY, figure_of

__all__ = ["plot_tree"]

_MOST_BRANCHES = 200
_NUMBER = 0.2  # inches that the number of a cluster needs
_LINE = 4.0  # points between the axis and the lines under the clusters


def plot_tree(
    leaves: ArrayLike,
    merges: ArrayLike,
    heights: ArrayLike,
    ax: Axes,
    *,
    n_clusters: int,
    side: str = "rows",
) -> Axes:
    """Plot the tree in which the finest clusters merge into one.

    The width of a branch is its number of members. Merges within the clusters of the chosen
    cut are blue, merges of these clusters are grey, and their numbers are written below.

    Parameters
    ----------
    leaves : array-like of int
        Finest cluster of every row (``tree_.rows.finest``).
    merges : array-like of shape (n_leaves - 1, 2)
        Pairs of clusters that merge, in order (``tree_.rows.merges``).
    heights : array-like of shape (n_leaves - 1,)
        Distances at which they merge (``tree_.rows.heights``).
    ax : Axes
        Axes to draw on.
    n_clusters : int
        Number of clusters of the cut.
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
    tree = NestedSide(np.asarray(leaves), np.asarray(merges), np.asarray(heights), n_clusters)
    branches = _Branches.of(tree, max(_MOST_BRANCHES, n_clusters))
    links = branches.links()
    n_inside = len(links) - (n_clusters - 1)
    colours = [BLUE] * n_inside + [GREY] * (n_clusters - 1)
    width = 1.2 if len(links) < 60 else 0.6
    ax.add_collection(LineCollection(links, colors=colours, linewidths=width))
    ax.set_xlim(0, len(tree.finest))
    ax.set_ylim(0, 1.05 * float(np.max(tree.heights, initial=0.0)) or 1.0)
    _number_clusters(ax, tree, branches)
    _label_axes(ax, f"{n_clusters} clusters of {len(tree.finest)} {side}")
    return ax


@dataclass(frozen=True)
class _Branches:
    """The lowest branches that are drawn, and the merges above them.

    `centres` and `tops` map each of these branches to its position and to its height.
    """

    merges: Labels
    heights: Floats
    centres: dict[int, float]
    tops: dict[int, float]

    @classmethod
    def of(cls, tree: NestedSide, most: int) -> _Branches:
        """Return at most `most` branches; finer ones would be narrower than a line."""
        hidden = max(tree.n_finest - most, 0)
        sizes = dict(enumerate(np.bincount(tree.finest).tolist()))
        tops = dict.fromkeys(sizes, 0.0)
        for (first, second), height in zip(
            tree.merges[:hidden].tolist(), tree.heights, strict=False
        ):
            sizes[first] += sizes.pop(second)
            tops[first] = float(height)
        merges = tree.merges[hidden:]
        return cls(merges, tree.heights[hidden:], _centres(sizes, merges), tops)

    def links(self) -> list[Floats]:
        """Return the corners of the bracket that joins two branches, for every merge."""
        centres, tops = self.centres.copy(), self.tops.copy()
        links = []
        for (first, second), height in zip(
            self.merges.tolist(), self.heights.tolist(), strict=True
        ):
            left, right = centres[first], centres[second]
            corners = [(left, tops[first]), (left, height), (right, height), (right, tops[second])]
            links.append(np.array(corners))
            centres[first], tops[first] = (left + right) / 2, height
        return links


def _centres(sizes: dict[int, int], merges: Labels) -> dict[int, float]:
    """Place the branches side by side, those that merge next to each other."""
    order = {name: [name] for name in sizes}
    for first, second in merges.tolist():
        order[first] += order.pop(second)
    (names,) = order.values()
    ends = np.cumsum([sizes[name] for name in names])
    return {name: float(end - sizes[name] / 2) for name, end in zip(names, ends, strict=True)}


def _number_clusters(ax: Axes, tree: NestedSide, branches: _Branches) -> None:
    """Underline every cluster of the cut and write its number below if it fits."""
    cluster_of, sizes = tree.cut_finest(tree.n_fitted), np.bincount(tree.finest)
    totals = np.bincount(cluster_of, sizes)
    starts = np.full(tree.n_fitted, np.inf)
    names = np.array(list(branches.centres))
    lowest = np.array(list(branches.centres.values()))
    np.minimum.at(starts, cluster_of[names], lowest)
    begin, inches_per_row = 0.0, axis_inches(ax, "columns") / len(tree.finest)
    for cluster in np.argsort(starts):
        end = begin + totals[cluster]
        margin = min(0.02 / inches_per_row, 0.1 * (end - begin))
        number = str(cluster) if (end - begin) * inches_per_row >= _NUMBER else ""
        _underline(ax, (begin + margin, end - margin), number)
        begin = end


def _underline(ax: Axes, ends: tuple[float, float], number: str) -> None:
    """Draw a line below the axis and write a number under it."""
    lower = ScaledTranslation(0, -_LINE / 72, figure_of(ax).dpi_scale_trans)
    place = ax.get_xaxis_transform() + lower
    ax.plot(ends, [0, 0], color=BLUE, linewidth=2, transform=place, clip_on=False)
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
