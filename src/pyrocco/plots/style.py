"""Colours, font size and wording of plots, and saving of figures."""

from __future__ import annotations

import io
import os
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from pyrocco._typing import Dense

__all__ = [
    "BLUE",
    "FONT_SIZE",
    "GREY",
    "MISSING",
    "ORANGE",
    "SKY",
    "VERMILION",
    "ColourScale",
    "NotebookFigure",
    "category_colours",
    "cluster_colours",
    "colour_scale",
    "colour_table",
    "figure_of",
    "own_axes",
    "rendered",
    "save_figure",
    "show_image",
]

# A palette for colour-blind readers (Okabe and Ito, 2008). Neither colormap of
# `colour_scale` contains the grey.
BLUE = "#0072B2"
ORANGE = "#E69F00"
SKY = "#56B4E9"
VERMILION = "#D55E00"
GREY = "0.45"
# Missing values and missing annotations; no colormap or palette contains it.
MISSING = "#d9d9d9"

# Colours of clusters and of categories. The first seven are those of Okabe and Ito; each of the
# others is the one that differs most from all before it, for usual and for red-green blind
# readers, and from white, black and the two greys of missing values and outlier cells.
_COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#87001e",
    "#4b8700", "#780069", "#ffb487", "#69f096", "#004b0f", "#2d2d96", "#a587ff", "#f04b69",
    "#00e1e1", "#87693c", "#ff96ff", "#004b5a", "#a50f5a", "#a5d25a", "#a5b487", "#a55ab4",
    "#0096a5", "#b4963c", "#ff96a5", "#5a3c2d", "#3cf0c3", "#963c00", "#c3b4e1", "#0069d2",
)  # fmt: skip

# Muted colours for categories, so that they are not taken for clusters (Paul Tol's palette for
# colour-blind readers), and after them the later ones of the clusters, those of the last clusters
# first: 16 clusters and 25 categories share no colour.
_CATEGORIES = (
    "#cc6677", "#332288", "#ddcc77", "#117733", "#88ccee", "#882255", "#44aa99", "#999933",
    "#aa4499", *_COLOURS[16:], *_COLOURS[7:16],
)  # fmt: skip

FONT_SIZE = 8.0  # points


# Text in PDF and SVG files stays text, and the same figure gives the same file.
_EDITABLE: dict[Any, Any] = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "pyrocco"}
_WITHOUT_DATE: dict[str, dict[str, Any]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}


def cluster_colours(n: int, start: int = 0) -> list[str]:
    """Return a colour for each of `n` clusters: that of a cluster is the same in every plot.

    Parameters
    ----------
    n : int
        Number of clusters. The 33rd has the colour of the first.
    start : int, default=0
        Number of colours to leave out, because something else has them.

    Returns
    -------
    list of str
        Colours as matplotlib and HTML write them.

    Examples
    --------
    >>> cluster_colours(3)
    ['#0072b2', '#e69f00', '#009e73']
    """
    return [_COLOURS[(start + k) % len(_COLOURS)] for k in range(n)]


def category_colours(n: int, start: int = 0) -> list[str]:
    """Return a colour for each of `n` categories of an annotation.

    The first 25 are none of those of the first 16 clusters.

    Parameters
    ----------
    n : int
        Number of categories.
    start : int, default=0
        Number of colours to leave out, because another annotation has them. If the colours
        would not suffice, none is left out.

    Returns
    -------
    list of str

    Examples
    --------
    >>> category_colours(2), category_colours(1, start=2)
    (['#cc6677', '#332288'], ['#ddcc77'])
    """
    start = start if start + n <= len(_CATEGORIES) else 0
    return [_CATEGORIES[(start + k) % len(_CATEGORIES)] for k in range(n)]


@dataclass(frozen=True)
class ColourScale:
    """A colormap for colour-blind readers and the values at its two ends."""

    cmap: str
    low: float
    high: float
    border: str  # a colour that contrasts with the whole colormap


def colour_scale(values: Dense, signed: bool) -> ColourScale:
    """Choose a colour scale whose limits ignore a few extreme values.

    If negative values occur (`signed`), the colours diverge from white at 0; otherwise they
    range from dark to bright.
    """
    values = values[~np.isnan(values)]
    # If nearly all values are 0, so are the quantiles: take those of the other values.
    nonzero = values[values != 0]
    samples = (values.ravel(), nonzero) if nonzero.size else (np.array([0.0, 1.0]),)
    if signed:
        limits = (float(np.quantile(np.abs(s), 0.98, method="higher")) for s in samples)
        limit = next(limit for limit in limits if limit > 0)
        return ColourScale("RdBu_r", -limit, limit, "black")
    low = float(np.quantile(samples[0], 0.01, method="lower"))
    high = float(np.quantile(samples[0], 0.99, method="higher"))
    if high <= low:
        high = float(np.quantile(samples[-1], 0.99))
    if high <= low:  # all values are equal
        low, high = 0.0, max(high, 1e-12)
    return ColourScale("viridis", low, high, "white")


def colour_table(scale: ColourScale) -> Dense:
    """Return the 256 colours of a scale as an array of red, green and blue (uint8)."""
    colours: Dense = colormaps[scale.cmap](np.arange(256), bytes=True)[:, :3]
    return colours


def show_image(
    ax: Axes, image: Dense, shape: tuple[int, int], scale: ColourScale | None = None
) -> AxesImage:
    """Draw an image over as many rows and columns as `shape` says, without blending neighbours.

    An image without `scale` consists of colours.
    """
    n_rows, n_columns = shape
    extent = (0, n_columns, n_rows, 0)
    drawn = ax.imshow(image, aspect="auto", interpolation="nearest", extent=extent)
    if scale is not None:
        drawn.set(cmap=scale.cmap, clim=(scale.low, scale.high))
    return drawn


def figure_of(ax: Axes) -> Figure:
    """Return the figure that an Axes belongs to."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("ax belongs to no figure: it was removed from its figure.")
    return figure


def own_axes(ax: Axes | None, figsize: tuple[float, float] = (6.0, 4.5)) -> Axes:
    """Return the given axes, or those of a new figure of pyplot."""
    if ax is not None:
        return ax
    # pyplot chooses a window system, so it is imported only for figures of its own.
    pyplot = import_module("matplotlib.pyplot")
    new: Axes = pyplot.subplots(figsize=figsize, layout="constrained")[1]
    return new


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Save a figure to a file. No display is needed.

    Parameters
    ----------
    figure : Figure
        Figure to save.
    path : str or path
        The file; its extension determines the format.
    dpi : int
        Pixels per inch.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(Figure(), Path(folder) / "empty.png")
    ...     (Path(folder) / "empty.png").stat().st_size > 0
    True
    """
    with warnings.catch_warnings(), rc_context(_EDITABLE):
        # Names in scripts that the font lacks are drawn as boxes; the tables have them in full.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(path, dpi=dpi, metadata=_WITHOUT_DATE.get(Path(path).suffix))


class NotebookFigure(Figure):
    """A figure that a notebook shows as a picture, whether or not pyplot is used there."""

    def _repr_png_(self) -> bytes:
        """Return the picture."""
        return rendered(self, dpi=100)


def rendered(figure: Figure, dpi: int) -> bytes:
    """Return a figure as the bytes of a PNG file."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
