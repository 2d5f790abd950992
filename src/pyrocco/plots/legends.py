"""Legends beside or below a heat map: their size is known before they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from pyrocco.plots.style import MISSING
from pyrocco.plots.text_size import fitted, line_height, text_width, widest
from pyrocco.plots.tracks import Track

__all__ = ["Legend", "flow", "format_ticks", "legend_of", "nice_ticks"]

# Inches.
_SWATCH, _SPACE, _BETWEEN = 0.1, 0.05, 0.12
_SCALE_WIDTH, _SCALE_HEIGHT = 0.85, 0.09
_LONGEST = 1.7
_COLUMN_ENTRIES = 6  # of a legend below the heat map

Size = tuple[float, float]
Place = tuple[float, float]


@dataclass(frozen=True)
class Legend:
    """Colours and what they mean: a list of categories, or a scale of numbers."""

    title: str
    font: float
    entries: tuple[tuple[str, str], ...]  # colour and text
    scale: tuple[str, ...] = ()  # colours from the smallest number to the largest
    ends: tuple[str, str] = ("", "")  # the smallest and the largest number
    n_columns: int = 1

    @property
    def size(self) -> Size:
        """Width and height in inches."""
        width = text_width(self.title, self.font, bold=True)
        height, line = line_height(self.font) + 0.03, line_height(self.font)
        if self.scale:
            width = max(width, self._scale_width)
            height += _SCALE_HEIGHT + line
        if self.entries:
            width = max(width, self.n_columns * self._column_width - _BETWEEN)
            height += line * self._n_lines
        return width, height

    @property
    def _scale_width(self) -> float:
        needed = sum(text_width(end, self.font) for end in self.ends) + 0.12
        return max(_SCALE_WIDTH, needed)

    @property
    def _n_lines(self) -> int:
        return -(-len(self.entries) // self.n_columns)

    @property
    def _column_width(self) -> float:
        texts = widest((text for _, text in self.entries), self.font)
        return _SWATCH + _SPACE + texts + _BETWEEN

    def draw(self, canvas: Axes, place: Place) -> None:
        """Draw the legend on axes in inches; its upper left corner is at `place`."""
        x, y = place
        line = line_height(self.font)
        style: dict[str, Any] = {"fontsize": self.font, "va": "center", "parse_math": False}
        canvas.text(x, y - line / 2, self.title, fontweight="bold", **style)
        y -= line + 0.03
        if self.scale:
            self._draw_scale(canvas, x, y)
            y -= _SCALE_HEIGHT + line
        for k, (colour, text) in enumerate(self.entries):
            column, row = divmod(k, self._n_lines)
            left, middle = x + column * self._column_width, y - (row + 0.5) * line
            swatch = Rectangle((left, middle - 0.045), _SWATCH, 0.09, facecolor=colour)
            canvas.add_patch(swatch)
            canvas.text(left + _SWATCH + _SPACE, middle, text, ha="left", **style)

    def _draw_scale(self, canvas: Axes, x: float, y: float) -> None:
        width = self._scale_width
        extent = (x, x + width, y - _SCALE_HEIGHT, y)
        limits = canvas.get_xlim(), canvas.get_ylim()
        colours = np.array([[to_rgb(colour) for colour in self.scale]])
        canvas.imshow(colours, extent=extent, aspect="auto", interpolation="bilinear")
        canvas.set(xlim=limits[0], ylim=limits[1])
        style: dict[str, Any] = {"fontsize": self.font, "va": "center"}
        middle = y - _SCALE_HEIGHT - line_height(self.font) / 2 - 0.01
        canvas.text(x, middle, self.ends[0], ha="left", **style)
        canvas.text(x + width, middle, self.ends[1], ha="right", **style)


def legend_of(track: Track, font: float, *, below: bool) -> Legend:
    """Return the legend of an annotation track."""
    title = fitted(track.name, font, _LONGEST)
    missing = ((MISSING, "missing"),) if track.has_missing else ()
    if track.is_number:
        low, high = track.ends or format_ticks(track.limits)
        return Legend(title, font, missing, track.colours, (low, high))
    named = zip(track.colours, track.categories, strict=True)
    entries = tuple((colour, fitted(name, font, _LONGEST)) for colour, name in named)
    entries += missing if entries != ((MISSING, "missing"),) else ()
    n_columns = -(-len(entries) // _COLUMN_ENTRIES) if below else 1
    return Legend(title, font, entries, n_columns=n_columns)


def flow(sizes: Sequence[Size], room: float, *, below: bool) -> tuple[list[Place], Size]:
    """Place boxes in columns of a limited height, or in lines of a limited width.

    Returns the upper left corner of each, from (0, 0) to the right and down, and the size of
    all together.
    """
    places: list[Place] = []
    along = across = deepest = 0.0  # along a line or column, and where the next one begins
    total = 0.0
    for size in sizes:
        length, depth = size if below else (size[1], size[0])
        if along and along + length > room:
            across, along, deepest = across + deepest + 0.15, 0.0, 0.0
        places.append((along, -across) if below else (across, -along))
        total = max(total, along + length)
        along += length + (0.22 if below else 0.13)
        deepest = max(deepest, depth)
    size = (total, across + deepest)
    return places, size if below else (size[1], size[0])


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers within limits."""
    ticks = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    slack = 1e-9 * (high - low)
    return [float(tick) for tick in ticks if low - slack <= tick <= high + slack]


def format_ticks(ticks: Sequence[float]) -> list[str]:
    """Write numbers with as many digits as tell them apart."""
    largest = max(map(abs, ticks), default=0.0)
    step = min(np.diff(sorted(set(ticks))), default=largest or 1.0)
    if largest and not 1e-4 <= largest < 1e6:
        digits = int(np.clip(np.ceil(np.log10(largest / step)), 0, 3)) if step > 0 else 0
        texts = [_in_powers(tick, digits) for tick in ticks]
    else:
        decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
        decimals += round(step * 10**decimals, 6) % 1 != 0  # steps of 0.25 and 2.5
        # Ends of a scale are any numbers: three digits are enough.
        decimals = min(decimals, max(0, 2 - int(np.floor(np.log10(largest)))) if largest else 0)
        texts = [f"{tick:.{decimals}f}" for tick in ticks]
    return [text.replace("-", "\N{MINUS SIGN}") for text in texts]


def _in_powers(number: float, digits: int) -> str:
    text = f"{number:.{digits}e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return text if number else "0"
