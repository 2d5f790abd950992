"""Everything that the page's script needs, gathered and packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrocco.plots.picture import colour_scale, colour_table
from pyrocco.report.levels import Level, nested_orders
from pyrocco.report.pack import pack_floats, pack_json, pack_whole
from pyrocco.report.tiles import Tiles, make_tiles

__all__ = ["Subject", "make_payload"]

# Up to so many tiles carry all their digits.
EXACT = 250_000
# Single precision ends at 1e38; numbers far from 1 are carried in a unit of their own.
FAR = 30
# Shown as infinite: the effect where neither side varies.
INFINITE = 1e300
_BLOCK = ("mean", "rest_mean", "effect", "p_adjusted", "homogeneity", "confidence")
_COLUMN = ("mean", "rest_mean", "effect", "p_adjusted")

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Subject:
    """What a page is about.

    Attributes
    ----------
    model : estimator
        Fitted.
    X : ndarray or sparse matrix
        What it was fitted to.
    row_names, column_names : sequence of str
        One for every row and every column.
    levels : list of Level
        The co-clusterings that the slider offers, from coarse to fine.
    fitted : int
        Which of them is that of the fit.

    Examples
    --------
    >>> Subject(None, np.eye(2), ("a", "b"), ("x", "y"), [], 0).X.shape
    (2, 2)
    """

    model: Any
    X: Any
    row_names: Sequence[str]
    column_names: Sequence[str]
    levels: list[Level]
    fitted: int


def make_payload(subject: Subject) -> dict[str, Any]:
    """Gather and pack.

    Parameters
    ----------
    subject : Subject
        The fit, its matrix and names.

    Returns
    -------
    dict
        What JSON can hold; the names of rows and columns are inside packed parts only.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> X = np.kron(np.eye(2), np.ones((20, 15))) + np.random.default_rng(0).random((40, 30))
    >>> model = ROCCO(2).fit(X)
    >>> level = Level(model.row_labels_, model.column_labels_, model.block_means_)
    >>> payload = make_payload(Subject(model, X, ["r"] * 40, ["c"] * 30, [level], 0))
    >>> payload["tiles"]["shape"]
    [40, 30]
    """
    orders = nested_orders(subject.levels)
    weights = getattr(subject.model, "cell_weights_", None)
    tiles = make_tiles(subject.X, orders, weights)
    finest, model = subject.levels[-1], subject.model
    about = {
        "rows": list(subject.row_names),
        "columns": list(subject.column_names),
        "levels": [_level(level, finest) for level in subject.levels],
    }
    row_confidence = getattr(model, "row_membership_", None)
    column_confidence = getattr(model, "column_membership_", None)
    return {
        "fitted": subject.fitted,
        "text": pack_json(about),
        "tiles": _tiles(tiles),
        "rows": _side(orders[0], finest.row_labels, row_confidence),
        "columns": _side(orders[1], finest.column_labels, column_confidence),
    }


def _side(order: Array, leaves: Array, confidence: Array | None) -> dict[str, Any]:
    side: dict[str, Any] = {"order": pack_whole(order), "leaves": pack_whole(leaves)}
    if confidence is not None:
        side["confidence"] = pack_floats(np.round(confidence, 3))
    return side


def _tiles(tiles: Tiles) -> dict[str, Any]:
    seen = tiles.values[~np.isnan(tiles.values)]
    scale = colour_scale(_trusted(tiles), signed=tiles.has_negative)
    largest = float(np.abs(seen).max(initial=0))
    power = int(np.floor(np.log10(largest))) if largest > 0 else 0
    unit = 10.0**power if abs(power) > FAR else 1.0
    packed = {
        "shape": list(tiles.values.shape),
        "values": pack_floats(tiles.values / unit, exact=tiles.values.size <= EXACT),
        "unit": unit,
        "low": scale.low / unit,
        "high": scale.high / unit,
        "border": scale.border,
        "colours": colour_table(scale).ravel().tolist(),
    }
    if tiles.doubt is not None:
        packed["doubt"] = pack_whole(np.round(255 * tiles.doubt).astype(np.uint32))
    return packed


def _trusted(tiles: Tiles) -> Array:
    """The numbers that colours are made for: wild cells would wash out all others."""
    is_seen = ~np.isnan(tiles.values)
    is_trusted = is_seen if tiles.doubt is None else is_seen & (tiles.doubt < 0.5)
    return tiles.values[is_trusted if is_trusted.any() else is_seen]


def _level(level: Level, finest: Level) -> dict[str, Any]:
    coded = {
        "rows": _coarsening(finest.row_labels, level.row_labels),
        "columns": _coarsening(finest.column_labels, level.column_labels),
        "means": [_rounded(line) for line in level.block_means],
    }
    return coded if level.explanation is None else coded | _explained(level.explanation)


def _coarsening(fine: Array, coarse: Array) -> list[int]:
    """Which coarse cluster each fine one is in."""
    found = np.zeros(int(fine.max()) + 1, dtype=int)
    found[fine] = coarse
    return [int(label) for label in found]


def _explained(frame: Any) -> dict[str, Any]:
    blocks, columns = frame[frame["kind"] == "block"], frame[frame["kind"] == "column"]
    return {
        "blocks": _lines(blocks, ("row_cluster", "column_cluster"), _BLOCK),
        "apart": _lines(columns, ("row_cluster", "column"), _COLUMN),
    }


def _lines(frame: Any, whole: Sequence[str], numbers: Sequence[str]) -> list[list[Any]]:
    places = frame[list(whole)].astype(int).to_numpy().tolist()
    values = frame[list(numbers)].to_numpy(dtype=float)
    return [[*place, *_rounded(line)] for place, line in zip(places, values, strict=True)]


def _rounded(numbers: Array) -> list[float | None]:
    """Four digits are what a reader can use; JSON has neither NaN nor infinity."""
    within = np.clip(numbers, -INFINITE, INFINITE)
    return [None if np.isnan(number) else float(f"{number:.4g}") for number in within]
