"""The size of text in inches, and text that is shortened to fit."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

__all__ = ["LINE", "fitted", "line_height", "text_width", "widest"]

LINE = 1.3  # height of a line in units of the font size
_DPI = 300


@lru_cache(maxsize=20_000)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a text in inches."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    renderer: Any = RendererAgg(1, 1, _DPI)  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        width, _, _ = renderer.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / _DPI


def line_height(size: float) -> float:
    """Return the height of a line of text in inches."""
    return LINE * size / 72


def widest(texts: Iterable[str], size: float) -> float:
    """Return the width of the widest text in inches; 0 if there is none."""
    return max((text_width(text, size) for text in texts), default=0.0)


def fitted(text: str, size: float, inches: float, *, keep_end: bool = False) -> str:
    """Shorten a text, with an ellipsis, until it is at most so wide.

    With `keep_end` the ellipsis is in the middle, for names that differ at their ends.
    """
    if text_width(text, size) <= inches:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = text_width(_shortened(text, middle, keep_end), size) <= inches
        low, high = (middle, high) if fits else (low, middle - 1)
    return _shortened(text, low, keep_end)


def _shortened(text: str, length: int, keep_end: bool) -> str:
    """Return so many characters of a text: all from its start, or half of them from its end."""
    n_last = length // 2 if keep_end else 0
    last = text[len(text) - n_last :].lstrip()
    return f"{text[: length - n_last].rstrip()}…{last}"
