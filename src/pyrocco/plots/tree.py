"""Nested clusters as a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.transforms import ScaledTranslation

from pyrocco.assign.nested import NestedSide
from pyrocco.plots.colours import BLUE, GREY
from pyrocco.plots.margins import FONT_SIZE, axis_inches

__all__ = ["plot_tree"]

Array = np.ndarray[Any, Any]

# Branches at most: finer ones would be narrower than a line.
_MOST = 200
# Inches that a number of a cluster takes.
_NUMBER = 0.2
# Points below the axis at which clusters are underlined.
_LINE = 4.0


def plot_tree(
    leaves: Any, merges: Any, heights: Any, ax: Axes, *, n_clusters: int, side: str = "rows"
) -> Axes:
    """Draw how the finest clusters merge to one, with the clusters of one cut below.

    A branch is as wide as it has members. Merges within the clusters of the cut are blue,
    those above are grey.

    Parameters
    ----------
    leaves : array of int
        Finest cluster of every row (``tree_.rows.finest``).
    merges : array of shape (n_leaves - 1, 2)
        Pairs that merge, in order (``tree_.rows.merges``).
    heights : array of shape (n_leaves - 1,)
        How far apart they are (``tree_.rows.heights``).
    ax : Axes
        Where to draw.
    n_clusters : int
        Clusters of the cut.
    side : {"rows", "columns"}, default="rows"
        What is merged, for the words at the axis.

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
    branches = _Branches.of(tree, max(_MOST, n_clusters))
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
    """The lowest branches drawn, where they stand, and the merges above them.

    `centres` and `tops` tell, for the name of every branch, its place and how high it ends.
    """

    merges: Array
    heights: Array
    centres: dict[int, float]
    tops: dict[int, float]

    @classmethod
    def of(cls, tree: NestedSide, most: int) -> _Branches:
        hidden = max(tree.n_finest - most, 0)
        sizes = dict(enumerate(np.bincount(tree.finest).tolist()))
        tops = dict.fromkeys(sizes, 0.0)
        for (kept, gone), height in zip(tree.merges[:hidden].tolist(), tree.heights, strict=False):
            sizes[kept] += sizes.pop(gone)
            tops[kept] = float(height)
        merges = tree.merges[hidden:]
        return cls(merges, tree.heights[hidden:], _centres(sizes, merges), tops)

    def links(self) -> list[Array]:
        """Up from one branch, across, and down to the other, for every merge."""
        centres, tops = self.centres.copy(), self.tops.copy()
        links = []
        for (kept, gone), height in zip(self.merges.tolist(), self.heights.tolist(), strict=True):
            left, right = centres[kept], centres[gone]
            corners = [(left, tops[kept]), (left, height), (right, height), (right, tops[gone])]
            links.append(np.array(corners))
            centres[kept], tops[kept] = (left + right) / 2, height
        return links


def _centres(sizes: dict[int, int], merges: Array) -> dict[int, float]:
    """Middles of the branches side by side, those that merge next to each other."""
    order = {name: [name] for name in sizes}
    for kept, gone in merges.tolist():
        order[kept] += order.pop(gone)
    (names,) = order.values()
    ends = np.cumsum([sizes[name] for name in names])
    return {name: float(end - sizes[name] / 2) for name, end in zip(names, ends, strict=True)}


def _number_clusters(ax: Axes, tree: NestedSide, branches: _Branches) -> None:
    """Underline every cluster of the cut and write its number below where there is room."""
    groups, sizes = tree.cut_finest(tree.n_fitted), np.bincount(tree.finest)
    totals = np.bincount(groups, sizes)
    starts = np.full(tree.n_fitted, np.inf)
    names = np.array(list(branches.centres))
    lowest = np.array(list(branches.centres.values()))
    np.minimum.at(starts, groups[names], lowest)
    begin, inch = 0.0, axis_inches(ax, "columns") / len(tree.finest)
    for cluster in np.argsort(starts):
        end = begin + totals[cluster]
        gap = min(0.02 / inch, 0.1 * (end - begin))
        number = str(cluster) if (end - begin) * inch >= _NUMBER else ""
        _below(ax, (begin + gap, end - gap), number)
        begin = end


def _below(ax: Axes, ends: tuple[float, float], number: str) -> None:
    """Draw a line a few points below the axis, and a number below that."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes we draw on belongs to a figure
    lower = ScaledTranslation(0, -_LINE / 72, figure.dpi_scale_trans)
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
    ax.set_ylabel("distance of what is merged", fontsize=FONT_SIZE)
    ax.tick_params(labelsize=FONT_SIZE)
    ax.spines[["top", "right"]].set_visible(False)
