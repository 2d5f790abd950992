"""The lines of a tree of nested clusters, for members that have a given place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyrocco._typing import Floats, Labels
from pyrocco.assign.nested import NestedSide

__all__ = ["Link", "tree_links"]

MOST_BRANCHES = 200


@dataclass(frozen=True)
class Link:
    """The bracket that joins two branches: four corners (place, height), and its cluster."""

    corners: Floats
    cluster: int  # -1 above the clusters


def tree_links(
    tree: NestedSide, places: Floats, n_clusters: int, most: int = MOST_BRANCHES
) -> list[Link]:
    """Return the brackets of a tree whose members have the given places.

    Parameters
    ----------
    tree : NestedSide
        Nested clusters of rows or of columns.
    places : ndarray of float
        Coordinate of every member, in the order of the data. Members of a branch are
        neighbours.
    n_clusters : int
        Number of clusters of the cut, whose numbers the brackets below it get.
    most : int
        Number of branches that are drawn; the lowest merges are left out.

    Returns
    -------
    list of Link
    """
    most = max(most, n_clusters)
    hidden = max(tree.n_finest - most, 0)
    merges, heights = tree.merges.tolist(), tree.heights.tolist()
    cluster_of = tree.cut_finest(n_clusters)
    first, last = _extents(tree.finest, places)
    tops = np.zeros(tree.n_finest)
    centres = (first + last) / 2
    links = []
    for step, ((a, b), height) in enumerate(zip(merges, heights, strict=True)):
        if step < hidden:
            first[a], last[a] = min(first[a], first[b]), max(last[a], last[b])
            centres[a], tops[a] = (first[a] + last[a]) / 2, height
            continue
        x, y = (centres[a], centres[b]), (tops[a], tops[b])
        corners = np.array([(x[0], y[0]), (x[0], height), (x[1], height), (x[1], y[1])])
        inside = step < tree.n_finest - n_clusters
        links.append(Link(corners, int(cluster_of[a]) if inside else -1))
        centres[a], tops[a] = (x[0] + x[1]) / 2, height
    return links


def _extents(finest: Labels, places: Floats) -> tuple[Floats, Floats]:
    """Return the places of the first and of the last member of each finest cluster."""
    n = int(finest.max()) + 1
    first, last = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(first, finest, places)
    np.maximum.at(last, finest, places)
    return first, last
