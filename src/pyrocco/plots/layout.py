"""The layout of an annotated heat map, in inches: every text is measured before it is placed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pyrocco._typing import Labels
from pyrocco.assign.nested import NestedSide
from pyrocco.plots.legends import Legend, Place, Size, flow
from pyrocco.plots.text_size import fitted, line_height, text_width, widest
from pyrocco.plots.tracks import Track
from pyrocco.texts import one_line

__all__ = [
    "ClusterMapStyle",
    "Contents",
    "Layout",
    "Names",
    "Side",
    "goes_below",
    "has_tree",
    "margin",
]

SMALLEST_FONT = 5.0
# Inches.
PAD, GAP = 0.08, 0.04
BAR, TRACK, TRACK_GAP = 0.15, 0.11, 0.025
TICK = 0.04
NOTE_SPACE = 0.06
_MARK = 0.2  # length of the line from a row to its name
_LEGEND_SPACE, _SPACE_ABOVE_LEGENDS = 0.22, 0.12
LONGEST_NAME = 1.6
_LEAST = 0.5  # of the heat map
# Names that do not fit are thinned down to one of so many, and left out beyond that.
_MOST_THINNED = 10
# Names of an index that programs choose, which say nothing.
_NO_TITLES = {"index", "_index", "unnamed: 0", "__index_level_0__"}
# Below this width the legends are below the heat map.
_NARROW = 4.6


@dataclass(frozen=True)
class ClusterMapStyle:
    """Sizes and colours of `clustermap` that are seldom changed.

    Parameters
    ----------
    trees : bool, default=True
        Draw the nested clusters on the margins.
    gap : float, default=2
        Width of the gaps between clusters, in points.
    font_size : float, default=7
        Size of all texts but the title, in points.
    tree_size : float, default=0.45
        Height of the trees, in inches.
    legend : {"auto", "right", "below", "none"}, default="auto"
        Where the legends are; ``"auto"`` is on the right unless the figure is narrow.
    colours : dict, optional
        Colours of annotations, by name: a dict from categories to colours, a list of colours,
        or the name of a colormap.

    Examples
    --------
    >>> ClusterMapStyle(gap=0, colours={"treatment": {"drug": "black", "none": "0.8"}}).gap
    0
    """

    trees: bool = True
    gap: float = 2.0
    font_size: float = 7.0
    tree_size: float = 0.45
    legend: str = "auto"
    colours: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = ("auto", "right", "below", "none")
        if self.legend not in places:
            raise ValueError(f"legend must be one of {', '.join(places)}, not {self.legend!r}.")


@dataclass(frozen=True)
class Side:
    """Rows or columns: their names, clusters, order, tree and annotations."""

    axis: str  # "rows" or "columns"
    names: pd.Index
    has_names: bool
    word: str  # what they are, such as "cells"
    order: Labels  # positions in the data, as they are drawn
    labels: Labels
    clusters: Labels  # in the order drawn
    cluster_names: Sequence[str]  # by number
    is_clustered: bool
    tree: NestedSide | None
    tracks: tuple[Track, ...]
    wanted: bool | str | Sequence[object] = "auto"  # which names are written

    @property
    def drawn_sizes(self) -> Labels:
        """Sizes of the clusters, in the order drawn."""
        return np.bincount(self.labels)[self.clusters]

    @property
    def drawn_cluster_names(self) -> list[str]:
        """Names of the clusters, in the order drawn."""
        return [one_line(self.cluster_names[k]) for k in self.clusters]


@dataclass(frozen=True)
class Names:
    """Names that are written beside an axis."""

    places: Labels  # along the order drawn
    texts: list[str]
    font: float
    marked: bool = False  # chosen names, with a line to the row of each
    note: str = ""  # beside them

    @property
    def is_thinned(self) -> bool:
        """Whether a name stands for its neighbours too."""
        return len(self.places) > 1 and bool(np.diff(self.places).max() > 1)

    def depth(self, font: float, *, upright: bool) -> float:
        """Return the inches that names and note need away from the heat map."""
        depth = 0.0
        if self.texts:
            longest = widest(self.texts, self.font)
            depth += TICK + (longest if upright else line_height(self.font))
            depth += _MARK if self.marked else 0.0
        return depth + (line_height(font) + NOTE_SPACE if self.note else 0.0)


@dataclass(frozen=True)
class Layout:
    """Where everything is, in inches from the upper left corner of the figure."""

    figure: Size
    heat: tuple[float, float, float, float]  # left, top, width, height
    names: tuple[Names, Names]  # of rows and of columns
    upright: bool  # whether column names are written from bottom to top
    colour_bar: Place | None
    legends: list[Place]
    title: list[str]  # lines


@dataclass(frozen=True)
class Contents:
    """What a figure contains."""

    rows: Side
    columns: Side
    style: ClusterMapStyle
    legends: Sequence[Legend]
    colour_bar: Size
    title: str | None
    figsize: Size | None

    @property
    def below(self) -> bool:
        """Whether the legends are below the heat map."""
        return goes_below(self.style, self.figsize)

    @property
    def legend_sizes(self) -> list[Size]:
        """Sizes of the colour bar and of the legends."""
        if self.style.legend == "none":
            return []
        return [self.colour_bar, *(legend.size for legend in self.legends)]

    def plan(self) -> Layout:
        """Place everything; the heat map gets the room that is left."""
        heat = self._usual_heat()
        for _ in range(2):  # the names that fit depend on the size of the heat map
            heat = self._plan_around(heat).heat[2:]
        return self._plan_around(heat)

    def _usual_heat(self) -> Size:
        if self.figsize is not None:
            return 0.6 * self.figsize[0], 0.6 * self.figsize[1]
        width = float(np.clip(0.2 * len(self.columns.names), 1.5, 4.2))
        height = float(np.clip(0.14 * len(self.rows.names), 1.2, 4.8))
        return width, min(height, max(2.8, 2.2 * width))  # few columns make no tall stripe

    def _plan_around(self, heat: Size) -> Layout:
        """Place everything, if the names are those that fit beside a heat map of this size."""
        font, tracks = self.style.font_size, (self.rows.tracks, self.columns.tracks)
        names = (
            choose_names(self.rows, heat[1], font),
            choose_names(self.columns, heat[0], font, self._longest_name),
        )
        upright = _is_upright(names[1], heat[0] / len(self.columns.names))
        right = max(names[0].depth(font, upright=True), _track_names(tracks[1], font)) + PAD
        under = max(names[1].depth(font, upright=upright), _track_names(tracks[0], font)) + PAD
        left, top = (PAD + margin(side, self.style) for side in (self.rows, self.columns))
        natural = left + heat[0] + right, top + heat[1] + under
        lines, title_height = _wrapped(self.title, font, (self.figsize or natural)[0])
        top += title_height
        places, taken = self._flow(natural, title_height)
        around = left + right, top + under
        if taken[0] and self.below:
            around = around[0], around[1] + taken[1] + _SPACE_ABOVE_LEGENDS
        elif taken[0]:
            around = around[0] + taken[0] + _LEGEND_SPACE, around[1]
        heat = self._heat(heat, around)
        beyond = (PAD, top + heat[1] + under + _SPACE_ABOVE_LEGENDS / 2)
        if not self.below:
            beyond = (left + heat[0] + right + _LEGEND_SPACE - PAD, PAD + title_height)
        at = [(beyond[0] + x, beyond[1] - y) for x, y in places]
        return Layout(
            figure=self._total(heat, around, taken, title_height),
            heat=(left, top, *heat),
            names=names,
            upright=upright,
            colour_bar=at[0] if at else None,
            legends=at[1:],
            title=lines,
        )

    @property
    def _longest_name(self) -> float:
        """Inches of the longest name of a column."""
        return LONGEST_NAME if self.figsize is None else min(LONGEST_NAME, self.figsize[1] / 4)

    def _flow(self, natural: Size, title_height: float) -> tuple[list[Place], Size]:
        """Place the legends in lines below the heat map, or in columns beside it."""
        width, height = self.figsize or (natural[0], natural[1] + title_height)
        if self.below:
            return flow(self.legend_sizes, width - 2 * PAD, below=True)
        least = 2.5 if self.figsize is None else 0.0
        return flow(self.legend_sizes, max(height, least) - title_height - 2 * PAD, below=False)

    def _heat(self, heat: Size, around: Size) -> Size:
        """Return the size of the heat map, given what is around it."""
        if self.figsize is None:
            return heat
        width, height = self.figsize
        left = width - around[0], height - around[1]
        if min(left) < _LEAST:
            raise ValueError(
                f"figsize=({width:g}, {height:g}) leaves too little for the heat map beside "
                f"names, tracks and legends: choose at least ({around[0] + 2 * _LEAST:.1f}, "
                f"{around[1] + 2 * _LEAST:.1f}), or fewer of them."
            )
        return left

    def _total(self, heat: Size, around: Size, taken: Size, title_height: float) -> Size:
        """Return the size of the figure, in which the legends have room too."""
        if self.figsize is not None:
            return self.figsize
        width, height = around[0] + heat[0], around[1] + heat[1]
        if self.below:
            return max(width, taken[0] + 2 * PAD), height
        return width, max(height, taken[1] + title_height + 2 * PAD)


def _track_names(tracks: Sequence[Track], font: float) -> float:
    """Return the inches that the names of tracks need beyond their end."""
    return max((text_width(track.name, font) + TICK for track in tracks), default=0.0)


def goes_below(style: ClusterMapStyle, figsize: Size | None) -> bool:
    """Whether the legends are below the heat map."""
    narrow = figsize is not None and figsize[0] < _NARROW
    return style.legend == "below" or (style.legend == "auto" and narrow)


def margin(side: Side, style: ClusterMapStyle) -> float:
    """Return the inches that tree, bar and tracks of a side need."""
    tree = style.tree_size + 0.02 if has_tree(side, style) else 0.0
    bar = BAR + GAP if side.is_clustered else 0.0
    tracks = len(side.tracks) * (TRACK + TRACK_GAP)
    return tree + bar + tracks + (GAP - TRACK_GAP if tracks else 0.0)


def has_tree(side: Side, style: ClusterMapStyle) -> bool:
    """Whether a tree of the side is drawn."""
    return style.trees and side.is_clustered and side.tree is not None and side.tree.n_finest > 1


def _is_upright(names: Names, cell: float) -> bool:
    """Whether names of columns are too wide to be written from left to right."""
    if not names.texts or names.marked:
        return True
    step = int(np.diff(names.places).min()) if len(names.places) > 1 else 1
    return widest(names.texts, names.font) > step * cell - 0.06


def _wrapped(title: str | None, font: float, width: float) -> tuple[list[str], float]:
    """Divide a title into lines, and return them with their height."""
    if not title:
        return [], 0.0
    size, lines = font + 2, [""]
    for word in title.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size, bold=True) > width - 2 * PAD:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines, len(lines) * line_height(size) + 0.06


def choose_names(side: Side, inches: float, font: float, longest: float = LONGEST_NAME) -> Names:
    """Return the names that are written beside an axis of so many inches."""
    wanted, n = side.wanted, len(side.names)
    title = _title(side)
    if not isinstance(wanted, (bool, str)):
        return _marked(side, list(wanted), inches, font, longest)
    if isinstance(wanted, str) and wanted != "auto":
        raise ValueError(
            f"{side.axis[:-1]}_names must be 'auto', True, False or a list of names, "
            f"not {wanted!r}."
        )
    count = f"{title} ({n:,})" if title else f"{n:,} {_word(side, n)}"
    size = min(font, inches * 72 / (1.15 * n))
    step = 1
    if size < SMALLEST_FONT:
        size = max(SMALLEST_FONT, min(font, 6.0))
        step = int(np.ceil(n * 1.25 * size / 72 / inches))
    hidden = wanted == "auto" and (not side.has_names or step > _MOST_THINNED)
    if wanted is False or hidden:
        return Names(np.empty(0, dtype=np.intp), [], font, note="" if wanted is False else count)
    places = np.arange(n)[step // 2 :: step] if step > 1 else np.arange(n)
    note = count if step > 1 else title
    return Names(places, _texts(side, places, size, longest), size, note=note)


def _title(side: Side) -> str:
    """Return what the names are, such as ``gene``, unless a program only called them index."""
    title = one_line(side.names.name) if side.names.name is not None else ""
    return "" if title.lower() in _NO_TITLES else title


def _word(side: Side, n: int) -> str:
    return side.word[:-1] if n == 1 else side.word


def _texts(side: Side, places: Labels, size: float, longest: float) -> list[str]:
    names = [one_line(side.names[i]) for i in side.order[places].tolist()]
    texts = [fitted(name, size, longest) for name in names]
    if len(set(texts)) == len(set(names)):
        return texts
    times = Counter(dict(zip(names, texts, strict=True)).values())
    alike = {text for text, n in times.items() if n > 1}
    return [
        fitted(name, size, longest, keep_end=True) if text in alike else text
        for name, text in zip(names, texts, strict=True)
    ]


def _marked(side: Side, chosen: list[object], inches: float, font: float, longest: float) -> Names:
    """Return chosen names, in the order drawn."""
    found = side.names.isin(chosen)
    missing = [name for name in chosen if name not in side.names]
    argument = f"{side.axis[:-1]}_names"
    if missing:
        raise ValueError(f"{argument}: the data has no {side.axis[:-1]} named {missing[0]!r}.")
    places = np.flatnonzero(found[side.order])
    size = min(font, inches * 72 / (1.15 * max(len(places), 1)))
    if size < SMALLEST_FONT:
        raise ValueError(
            f"{argument} has {len(places)} names, and there is room for "
            f"{int(inches * 72 / (1.15 * SMALLEST_FONT))}: choose fewer, or a larger figure."
        )
    return Names(places, _texts(side, places, size, longest), size, marked=True, note=_title(side))
