"""The drawing of an annotated heat map: heat map, trees, cluster bars, tracks and legends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pyrocco._typing import Dense, Floats, Matrix, is_sparse, stored_values
from pyrocco.assign.nested import NestedSide
from pyrocco.plots.branches import tree_links
from pyrocco.plots.colour_values import ColourChoice, Colours
from pyrocco.plots.heatmap import outlier_opacity
from pyrocco.plots.layout import (
    BAR,
    GAP,
    LONGEST_NAME,
    NOTE_SPACE,
    PAD,
    SMALLEST_FONT,
    TICK,
    TRACK,
    TRACK_GAP,
    ClusterMapStyle,
    Contents,
    Layout,
    Names,
    Side,
    goes_below,
    has_tree,
    margin,
)
from pyrocco.plots.legends import Legend, Place, Size, format_ticks, legend_of, nice_ticks
from pyrocco.plots.places import Places, pixel_means, standing_out
from pyrocco.plots.style import GREY, MISSING, cluster_colours
from pyrocco.plots.text_size import fitted, line_height, text_width, widest
from pyrocco.plots.tracks import MOST_COLOURED, Track

__all__ = ["Drawing", "draw"]

# Pixels per inch of the heat map: what is finer is averaged.
_PIXELS = 300
# Rows whose mean differs from their cluster by this share of the colours keep their own pixel.
_STANDS_OUT = 0.15
_OUTLIER = 0.5
_BRANCH = "0.35"  # colour of merges above the clusters
# Inches of the colour bar: thickness and length.
_COLOUR_BAR = 0.12, 1.1

Parts = dict[str, Axes]


@dataclass(frozen=True)
class Drawing:
    """What is drawn."""

    X: Matrix
    rows: Side
    columns: Side
    choice: ColourChoice
    label: str
    style: ClusterMapStyle
    outliers: Matrix | None = None  # from 0 to 1: how far every cell is an outlier


def draw(drawing: Drawing, figsize: Size | None, title: str | None) -> tuple[Figure, Parts]:
    """Draw a heat map with all that belongs to it."""
    rows, columns, style = drawing.rows, drawing.columns, drawing.style
    below = goes_below(style, figsize)
    tracks = [*rows.tracks, *columns.tracks]
    legends = [legend_of(track, style.font_size, below=below) for track in tracks]
    colours, extend = _colours(drawing)
    bar = _ColourBar(colours, drawing.label, style.font_size, below, extend)
    contents = Contents(rows, columns, style, legends, bar.size, title, figsize)
    legends = [*_names_without_room(contents), *legends, *_legend_of_greys(drawing)]
    layout = replace(contents, legends=legends).plan()
    figure = Figure(figsize=layout.figure)
    page = _Page(figure, layout)
    places = _places(drawing, layout, colours)
    parts = {"canvas": page.canvas, "heatmap": _draw_heat(page, drawing, places, colours)}
    for side, along in zip((rows, columns), places, strict=True):
        parts |= _draw_side(page, side, along, style)
    _write_names(parts["heatmap"], page, (rows, columns), places, style.font_size)
    if layout.colour_bar is not None:
        parts["colorbar"] = bar.draw(page, layout.colour_bar)
    if style.legend != "none":
        for legend, place in zip(legends, layout.legends, strict=True):
            legend.draw(page.canvas, page.up(place))
    _write_title(page, style.font_size)
    return figure, parts


def _names_without_room(contents: Contents) -> list[Legend]:
    """Return legends of the clusters whose names do not fit into their bars."""
    layout, font, legends = contents.plan(), contents.style.font_size, []
    inches = layout.heat[3], layout.heat[2]
    for side, length in zip((contents.rows, contents.columns), inches, strict=True):
        palette, sizes = cluster_colours(int(side.clusters.max()) + 1), side.drawn_sizes
        gaps = contents.style.gap / 72 * (len(sizes) - 1)
        room = 0.98 * (length - min(gaps, 0.15 * length)) * sizes / sizes.sum()
        left_out = tuple(
            (palette[cluster], fitted(name, font, LONGEST_NAME))
            for cluster, name, inside in zip(
                side.clusters, side.drawn_cluster_names, room, strict=True
            )
            if not _inside(name, font, float(inside), side.axis == "rows")[0]
        )
        if left_out and side.is_clustered and len(left_out) <= MOST_COLOURED:
            title = f"{side.word[:-1]} clusters"
            n_columns = -(-len(left_out) // 6) if contents.below else 1
            legends.append(Legend(title, font, left_out, n_columns=n_columns))
    return legends


@dataclass(frozen=True)
class _Page:
    """A figure, and axes over all of it whose unit is an inch."""

    figure: Figure
    layout: Layout

    @property
    def canvas(self) -> Axes:
        """The axes over the whole figure."""
        for ax in self.figure.axes:
            if ax.get_label() == "canvas":
                return ax
        ax = self.figure.add_axes((0, 0, 1, 1), label="canvas", zorder=3)
        width, height = self.layout.figure
        ax.set(xlim=(0, width), ylim=(0, height), xticks=[], yticks=[])
        ax.set_axis_off()
        ax.patch.set_alpha(0)
        return ax

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Make axes without frame or ticks at a place from the upper left corner."""
        total = self.layout.figure
        box = (left / total[0], 1 - (top + height) / total[1], width / total[0], height / total[1])
        ax = self.figure.add_axes(box)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.patch.set_alpha(0)
        return ax

    def up(self, place: tuple[float, float]) -> tuple[float, float]:
        """Return a place from the upper left corner in the coordinates of the canvas."""
        return place[0], self.layout.figure[1] - place[1]


def _places(drawing: Drawing, layout: Layout, colours: Colours) -> tuple[Places, Places]:
    """Place the rows and the columns; those that stand out keep a pixel of their own."""
    lengths = layout.heat[3], layout.heat[2]
    least = _STANDS_OUT * (float(colours.norm.vmax or 0) - float(colours.norm.vmin or 0))
    sides = drawing.rows, drawing.columns
    rows, columns = (
        Places.spaced(side.order, side.drawn_sizes, drawing.style.gap / 72, inches)
        for side, inches in zip(sides, lengths, strict=True)
    )
    marked = [
        standing_out(drawing.X, (rows, columns), k, round(inches * _PIXELS), least)
        for k, inches in enumerate(lengths)
    ]
    return replace(rows, alone=marked[0]), replace(columns, alone=marked[1])


def _colours(drawing: Drawing) -> tuple[Colours, str]:
    """Choose the colours by means over the cells that share a pixel; say which ends are cut."""
    stored = stored_values(drawing.X)
    known = stored[np.isfinite(stored)]
    if isinstance(drawing.outliers, np.ndarray) and not is_sparse(drawing.X):
        # Outlier cells are grey, and must not make all others pale.
        known = stored[np.isfinite(stored) & (drawing.outliers < _OUTLIER)]
    signed = bool((known < 0).any())
    values = known if known.size <= 4_000_000 else known[:: known.size // 2_000_000]
    if known.size < drawing.X.shape[0] * drawing.X.shape[1] and stored.ndim == 1:
        share = min(1.0, 2_000_000 / (drawing.X.shape[0] * drawing.X.shape[1] - known.size))
        zeros = int(share * (drawing.X.shape[0] * drawing.X.shape[1] - known.size))
        values = np.concatenate([values.ravel(), np.zeros(max(zeros, 1))])
    colours = Colours.chosen(values, signed, drawing.choice)
    low, high = float(colours.norm.vmin or 0), float(colours.norm.vmax or 0)
    cut = bool((known < low).any()), bool((known > high).any())
    ends = {(False, False): "neither", (True, False): "min", (False, True): "max"}
    return colours, ends.get(cut, "both")


def _draw_heat(
    page: _Page, drawing: Drawing, places: tuple[Places, Places], colours: Colours
) -> Axes:
    left, top, width, height = page.layout.heat
    ax = page.axes(left, top, width, height)
    pixels = round(height * _PIXELS), round(width * _PIXELS)
    means, gaps = pixel_means(drawing.X, *places, pixels)
    image = colours.rgb(means)
    if drawing.outliers is not None:
        image = _greyed(image, pixel_means(drawing.outliers, *places, pixels)[0])
    image[gaps] = (255, 255, 255, 0)
    rows, columns = places
    ax.imshow(
        image,
        extent=(0, columns.length, rows.length, 0),
        aspect="auto",
        interpolation="antialiased",
    )
    return ax


def _greyed(image: Dense, degrees: Floats) -> Dense:
    """Draw grey over the pixels of outlier cells."""
    opacity = outlier_opacity(degrees)[..., None]
    grey = np.array([*(255 * channel for channel in to_rgb(GREY)), 255])
    return np.asarray((1 - opacity) * image + opacity * grey).round().astype(image.dtype)


def _legend_of_greys(drawing: Drawing) -> list[Legend]:
    """Say which cells are grey because they are missing, or outliers."""
    greys = []
    if np.isnan(stored_values(drawing.X)).any():
        greys.append((MISSING, "missing"))
    if drawing.outliers is not None:
        greys.append((to_hex(GREY), "outlier, left out of the fit"))
    # Where rows are called cells, a cell of the matrix is a value.
    title = "values" if drawing.rows.word == "cells" else "cells"
    return [Legend(title, drawing.style.font_size, tuple(greys))] if greys else []


def _draw_side(page: _Page, side: Side, places: Places, style: ClusterMapStyle) -> Parts:
    """Draw tree, cluster bar and tracks, from the outside to the heat map."""
    name = side.axis[:-1]
    left, top, width, height = page.layout.heat
    start = (left if side.axis == "rows" else top) - margin(side, style)
    parts = {}

    def strip(depth: float) -> Axes:
        if side.axis == "rows":
            return page.axes(start, top, depth, height)
        return page.axes(left, start, width, depth)

    if side.tree is not None and has_tree(side, style):
        parts[f"{name}_tree"] = _draw_tree(strip(style.tree_size), side, side.tree, places)
        start += style.tree_size + 0.02
    if side.is_clustered:
        parts[f"{name}_clusters"] = _draw_bar(
            strip(BAR), side, places, style.font_size, height if side.axis == "rows" else width
        )
        start += BAR + GAP
    if side.tracks:
        depth = len(side.tracks) * (TRACK + TRACK_GAP) - TRACK_GAP
        parts[f"{name}_annotations"] = _draw_tracks(strip(depth), page, side, places, start, style)
    return parts


def _along(ax: Axes, axis: str, places: Places, depth: tuple[float, float]) -> None:
    """Set the limits of axes beside a heat map."""
    if axis == "rows":
        ax.set(ylim=(places.length, 0), xlim=depth)
    else:
        ax.set(xlim=(0, places.length), ylim=depth)


def _draw_tree(ax: Axes, side: Side, tree: NestedSide, places: Places) -> Axes:
    n_clusters = len(side.clusters)
    links = tree_links(tree, places.centres, n_clusters)
    palette = cluster_colours(n_clusters)
    corners = [link.corners[:, ::-1] if side.axis == "rows" else link.corners for link in links]
    colours = [_BRANCH if link.cluster < 0 else palette[link.cluster] for link in links]
    ax.add_collection(
        LineCollection(corners, colors=colours, linewidths=0.6 if len(links) > 40 else 0.8),
        autolim=False,
    )
    highest = 1.02 * float(tree.heights.max(initial=0.0)) or 1.0
    _along(ax, side.axis, places, (highest, 0) if side.axis == "rows" else (0, highest))
    return ax


def _draw_bar(ax: Axes, side: Side, places: Places, font: float, inches: float) -> Axes:
    """Draw a bar for every cluster, with its name if that fits."""
    palette = cluster_colours(int(side.clusters.max()) + 1)
    _along(ax, side.axis, places, (0, 1))
    for cluster, name, start, size in zip(
        side.clusters, side.drawn_cluster_names, places.starts, places.sizes, strict=True
    ):
        colour, rows = palette[cluster], side.axis == "rows"
        box = (0, start, 1, size) if rows else (start, 0, size, 1)
        ax.add_patch(Rectangle(box[:2], *box[2:], facecolor=colour, linewidth=0))
        length = size / places.length * inches
        text, size_of_text, rotation = _inside(name, font, length, rows)
        if text:
            centre = start + size / 2
            x, y = (0.5, centre) if rows else (centre, 0.5)
            ax.text(
                x,
                y,
                text,
                fontsize=size_of_text,
                color=_contrast(colour),
                ha="center",
                va="center_baseline" if not rotation else "center",
                rotation=rotation,
                rotation_mode="anchor" if not rotation else "default",
                parse_math=False,
            )
    return ax


def _inside(name: str, font: float, length: float, rows: bool) -> tuple[str, float, int]:
    """Return the text that fits into the bar of a cluster, its size and its rotation."""
    for size in (font, max(font - 1, SMALLEST_FONT), SMALLEST_FONT):
        width, height = text_width(name, size) + 0.03, 0.72 * size / 72 + 0.02
        if rows and width <= BAR and height <= length:
            return name, size, 0
        if width <= length:
            return name, size, 90 if rows else 0
    text = fitted(name, SMALLEST_FONT, length - 0.04)
    # Too little of a name says less than none.
    return text if len(text) >= 5 else "", SMALLEST_FONT, 90 if rows else 0


def _contrast(colour: str) -> str:
    return "black" if np.dot(to_rgb(colour), [0.299, 0.587, 0.114]) > 0.5 else "white"


def _draw_tracks(
    ax: Axes, page: _Page, side: Side, places: Places, start: float, style: ClusterMapStyle
) -> Axes:
    """Draw the tracks beside each other, and write their names at their end."""
    rows = side.axis == "rows"
    left, top, width, height = page.layout.heat
    depth = len(side.tracks) * (TRACK + TRACK_GAP) - TRACK_GAP
    _along(ax, side.axis, places, (0, depth) if rows else (depth, 0))
    limits = ax.get_xlim(), ax.get_ylim()
    n_pixels = round((height if rows else width) * _PIXELS)
    for k, track in enumerate(side.tracks):
        near = k * (TRACK + TRACK_GAP)
        strip = _track_pixels(track, places, n_pixels)
        image = strip[:, None] if rows else strip[None]
        across = (near, near + TRACK), (near + TRACK, near)
        extent = (*across[0], places.length, 0.0) if rows else (0.0, places.length, *across[1])
        ax.imshow(image, extent=extent, aspect="auto", interpolation="antialiased")
        middle = start + near + TRACK / 2
        at = (middle, top + height + TICK) if rows else (left + width + TICK, middle)
        page.canvas.text(
            *page.up(at),
            track.name,
            fontsize=style.font_size,
            rotation=90 if rows else 0,
            ha="center" if rows else "left",
            va="top" if rows else "center",
            parse_math=False,
        )
    ax.set(xlim=limits[0], ylim=limits[1])
    return ax


def _track_pixels(track: Track, places: Places, n_pixels: int) -> Dense:
    """Return the colours of a track, one pixel after another; gaps are transparent.

    Where rows share a pixel it has the colour of one of them, so that shares are kept.
    """
    row_bin, pixel_bin = places.pixels(n_pixels)
    members = np.argsort(row_bin[places.order], kind="stable")
    bounds = np.searchsorted(row_bin[places.order][members], np.arange(row_bin.max() + 2))
    middle = places.order[members[(bounds[:-1] + bounds[1:]) // 2]]
    colours: Floats = np.ones((len(pixel_bin), 4))
    colours[:, :3] = track.rgb(middle)[pixel_bin]
    colours[pixel_bin < 0] = (1, 1, 1, 0)
    return colours


def _write_names(
    ax: Axes,
    page: _Page,
    sides: tuple[Side, Side],
    places: tuple[Places, Places],
    font: float,
) -> None:
    """Write the names of rows on the right and those of columns below."""
    layout = page.layout
    ax.yaxis.tick_right()
    for side, names, along in zip(sides, layout.names, places, strict=True):
        centres = along.centres[side.order]
        if names.marked:
            _draw_marks(page, side.axis, names, centres / along.length)
        else:
            _set_ticks(ax, side.axis, names, centres, upright=layout.upright)
        if names.note:
            _write_note(page, side.axis, names, font)


def _set_ticks(ax: Axes, axis: str, names: Names, centres: Floats, *, upright: bool) -> None:
    ticks = ax.yaxis if axis == "rows" else ax.xaxis
    ticks.set_ticks(
        centres[names.places],
        labels=names.texts,
        fontsize=names.font,
        rotation=90 if axis == "columns" and upright else 0,
        parse_math=False,  # a gene named $A$ is not a formula
    )
    length = 1.5 if names.is_thinned else 0.0
    ticks.set_tick_params(length=length, pad=72 * TICK - length, width=0.5)


def _draw_marks(page: _Page, axis: str, names: Names, where: Floats) -> None:
    """Write chosen names, apart from each other, with a line to the row of each."""
    left, top, width, height = page.layout.heat
    rows = axis == "rows"
    length, origin = (height, top) if rows else (width, left)
    exact = origin + where[names.places] * length
    apart = _spread(exact, line_height(names.font) * 0.9, origin, origin + length)
    edge = left + width if rows else top + height
    for place, text_place, text in zip(exact, apart, names.texts, strict=True):
        steps = [
            (edge, place),
            (edge + 0.05, place),
            (edge + 0.17, text_place),
            (edge + 0.2, text_place),
        ]
        points = [page.up(step if rows else step[::-1]) for step in steps]
        page.canvas.plot(*zip(*points, strict=True), color="0.4", linewidth=0.5)
        at = (edge + 0.2 + TICK / 2, text_place)
        page.canvas.text(
            *page.up(at if rows else at[::-1]),
            text,
            fontsize=names.font,
            ha="left" if rows else "center",
            va="center" if rows else "top",
            rotation=0 if rows else 90,
            parse_math=False,
        )


def _spread(places: Floats, least: float, low: float, high: float) -> Floats:
    """Move sorted places as little as needed so that they are apart and within limits."""
    if len(places) < 2:
        return places
    least = min(least, (high - low) / (len(places) - 1))
    # Pools of neighbours that touch stand around the mean of where they want to be.
    pools: list[list[float]] = []  # [sum of wanted starts, count]
    offsets = np.arange(len(places)) * least
    for wanted in places - offsets:
        pools.append([float(wanted), 1.0])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            total, n = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += n
    starts = np.concatenate([np.full(int(n), total / n) for total, n in pools])
    return np.asarray(np.clip(starts, low, high - offsets[-1]) + offsets)


def _write_note(page: _Page, axis: str, names: Names, font: float) -> None:
    """Write what the rows or columns are, beyond their names."""
    left, top, width, height = page.layout.heat
    rows = axis == "rows"
    bare = Names(names.places, names.texts, names.font, names.marked)
    beyond = bare.depth(font, upright=rows or page.layout.upright) + NOTE_SPACE
    at = (
        (left + width + beyond, top + height / 2)
        if rows
        else (left + width / 2, top + height + beyond)
    )
    page.canvas.text(
        *page.up(at),
        names.note,
        fontsize=font,
        ha="left" if rows else "center",
        va="center" if rows else "top",
        rotation=270 if rows else 0,
        parse_math=False,
    )


def _write_title(page: _Page, font: float) -> None:
    size = font + 2
    for k, line in enumerate(page.layout.title):
        at = page.up((PAD, PAD + (k + 0.5) * line_height(size)))
        page.canvas.text(
            *at, line, fontsize=size, fontweight="bold", va="center", parse_math=False
        )


@dataclass(frozen=True)
class _ColourBar:
    """The colour bar of the heat map, whose size is known before it is drawn."""

    colours: Colours
    label: str
    font: float
    below: bool
    extend: str

    @property
    def ticks(self) -> list[float]:
        """Round numbers within the limits."""
        low, high = self.colours.norm.vmin, self.colours.norm.vmax
        return nice_ticks(float(low or 0), float(high or 0), 4 if self.below else 5)

    @property
    def _title(self) -> Legend:
        return Legend(fitted(self.label, self.font, 1.7), self.font, ())

    @property
    def size(self) -> Size:
        """Width and height in inches, with the label above and the numbers."""
        thick, long = _COLOUR_BAR
        title, numbers = self._title.size, widest(format_ticks(self.ticks), self.font)
        if self.below:
            return max(long + numbers, title[0]), title[1] + 0.09 + 0.05 + line_height(self.font)
        return max(title[0], thick + 0.06 + numbers), title[1] + 0.05 + long + 0.05

    def draw(self, page: _Page, place: Place) -> Axes:
        """Draw the colour bar at a place."""
        self._title.draw(page.canvas, page.up(place))
        thick, long = _COLOUR_BAR
        texts = format_ticks(self.ticks)
        under = place[1] + self._title.size[1] + (0.0 if self.below else 0.05)
        indent = widest(texts, self.font) / 2 if self.below else 0.0
        box = (long, 0.09) if self.below else (thick, long)
        ax = page.axes(place[0] + indent, under, *box)
        mappable: Any = ScalarMappable(self.colours.norm, self.colours.cmap)
        bar = page.figure.colorbar(
            mappable,
            cax=ax,
            orientation="horizontal" if self.below else "vertical",
            extend=self.extend,
            extendfrac=0.06,
        )
        bar.set_ticks(self.ticks, labels=texts)
        bar.outline.set_linewidth(0.4)
        ax.tick_params(labelsize=self.font, length=2, width=0.4, pad=1.5)
        return ax
