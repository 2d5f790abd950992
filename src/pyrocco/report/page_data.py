"""The data of the page's script: names, labels, explanations and the values of the heat map."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyrocco._typing import Dense, FittedCoClustering, Floats, Labels, Matrix, stored_values
from pyrocco.fitting.result import block_means
from pyrocco.plots.heatmap import outlier_degree
from pyrocco.plots.order import bins, member_order
from pyrocco.plots.style import colour_scale, colour_table
from pyrocco.report.levels import Level

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReportInput", "Tiles", "make_tiles", "pack_floats", "pack_integers", "page_data"]

# A million tiles add about 2 MB to the page.
TILES_PER_SIDE = 1_000
# Up to this number of tiles, values are stored in single precision; above it, in half of it.
MOST_EXACT = 250_000
# Values with a power of ten beyond this are stored in another unit: single precision ends at 38.
MOST_DIGITS = 30
# The page shows this as infinite: the effect if neither side varies.
INFINITE = 1e300
_BLOCK_COLUMNS = ("mean", "rest_mean", "effect", "p_adjusted", "homogeneity", "membership")
_COLUMN_COLUMNS = ("mean", "rest_mean", "effect", "p_adjusted")

Packed = dict[str, Any]


@dataclass(frozen=True, eq=False)
class ReportInput:
    """What a report is about."""

    model: FittedCoClustering
    X: Matrix
    row_names: Sequence[str]
    column_names: Sequence[str]
    levels: list[Level]  # co-clusterings that the slider offers, from coarse to fine
    fitted: int  # index of the level that was fitted


@dataclass(frozen=True, eq=False)
class Tiles:
    """Means over neighbouring cells, from which the heat map is drawn."""

    values: Floats  # mean of each tile; NaN if all its values are missing
    outliers: Floats | None  # mean of 1 minus the weight of the cells
    has_negative: bool  # whether any value is negative


def page_data(report: ReportInput) -> dict[str, Any]:
    """Return the data of the page as JSON can store them.

    Names occur only in packed form, so that they cannot be mistaken for HTML.
    """
    orders = member_order(report.model, report.X)
    weights = getattr(report.model, "cell_weights_", None)
    finest = report.levels[-1]
    text = {
        "rows": list(report.row_names),
        "columns": list(report.column_names),
        "levels": [_level_data(level, finest) for level in report.levels],
    }
    memberships = (
        getattr(report.model, "row_membership_", None),
        getattr(report.model, "column_membership_", None),
    )
    return {
        "fitted": report.fitted,
        "text": _pack_json(text),
        "tiles": _tile_data(make_tiles(report.X, orders, weights)),
        "rows": _side_data(orders[0], finest.row_labels, memberships[0]),
        "columns": _side_data(orders[1], finest.column_labels, memberships[1]),
    }


def make_tiles(
    X: Matrix,
    orders: tuple[Labels, Labels],
    weights: Matrix | None = None,
    *,
    side: int = TILES_PER_SIDE,
) -> Tiles:
    """Reorder a matrix and average neighbours until about ``side`` by ``side`` tiles are left.

    A side has more tiles if the other is shorter than `side`.
    """
    most = [max(side, side * side // min(other, side)) for other in X.shape[::-1]]
    tiles = bins(orders[0], most[0]), bins(orders[1], most[1])
    outliers = None if weights is None else block_means(outlier_degree(weights), *tiles).clip(0, 1)
    return Tiles(block_means(X, *tiles), outliers, bool((stored_values(X) < 0).any()))


def pack_integers(numbers: Dense) -> Packed:
    """Pack non-negative integers of at most 32 bits."""
    return _pack(np.ascontiguousarray(numbers, dtype="<u4"), "uint32", 4)


def pack_floats(numbers: Dense, *, exact: bool = True) -> Packed:
    """Pack numbers in single precision, or in half as many bits with two to three digits."""
    bits = np.ascontiguousarray(numbers, dtype="<f4").view("<u4")
    if exact:
        return _pack(bits, "float32", 4)
    # Round to nearest; a carry correctly increases the exponent.
    return _pack(bits + np.uint32(0x7FFF) + ((bits >> 16) & 1), "float32", 2)


def _pack(bits: Dense, kind: str, n_bytes: int) -> Packed:
    # First the lowest bytes of all numbers, then the next: this compresses better.
    planes = bits.reshape(-1).view("u1").reshape(-1, 4)[:, 4 - n_bytes :].T
    data = _compress(np.ascontiguousarray(planes).tobytes())
    return {"kind": kind, "length": int(bits.size), "bytes": n_bytes, "data": data}


def _pack_json(value: dict[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _compress(text.encode("utf-8", "replace"))


def _compress(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw, 6)).decode("ascii")


def _side_data(order: Labels, leaves: Labels, membership: Floats | None) -> dict[str, Packed]:
    side = {"order": pack_integers(order), "leaves": pack_integers(leaves)}
    if membership is not None:
        side["membership"] = pack_floats(np.round(membership, 3))
    return side


def _tile_data(tiles: Tiles) -> dict[str, Any]:
    scale = colour_scale(_usual_values(tiles), signed=tiles.has_negative)
    largest = float(np.nanmax(np.abs(tiles.values), initial=0))
    power = int(np.floor(np.log10(largest))) if largest > 0 else 0
    unit = 10.0**power if abs(power) > MOST_DIGITS else 1.0
    data = {
        "shape": list(tiles.values.shape),
        "values": pack_floats(tiles.values / unit, exact=tiles.values.size <= MOST_EXACT),
        "unit": unit,
        "low": scale.low / unit,
        "high": scale.high / unit,
        "border": scale.border,
        "colours": colour_table(scale).ravel().tolist(),
    }
    if tiles.outliers is not None:
        data["outliers"] = pack_integers(np.round(255 * tiles.outliers))
    return data


def _usual_values(tiles: Tiles) -> Floats:
    """Return the values that determine the colours: without outlier cells, if others remain."""
    known = ~np.isnan(tiles.values)
    usual = known if tiles.outliers is None else known & (tiles.outliers < 0.5)
    return tiles.values[usual if usual.any() else known]


def _level_data(level: Level, finest: Level) -> dict[str, Any]:
    data: dict[str, Any] = {
        "rows": _cluster_of_each(finest.row_labels, level.row_labels),
        "columns": _cluster_of_each(finest.column_labels, level.column_labels),
        "means": [_rounded(means) for means in level.block_means],
    }
    table = level.explanation
    if table is not None:
        blocks, columns = table[table["kind"] == "block"], table[table["kind"] == "column"]
        data["blocks"] = _records(blocks, ("row_cluster", "column_cluster"), _BLOCK_COLUMNS)
        data["distinctive"] = _records(columns, ("row_cluster", "column"), _COLUMN_COLUMNS)
    return data


def _cluster_of_each(fine: Labels, coarse: Labels) -> list[int]:
    """Return the coarse cluster that contains each fine one."""
    cluster = np.zeros(int(fine.max()) + 1, dtype=int)
    cluster[fine] = coarse
    return [int(label) for label in cluster]


def _records(
    table: pd.DataFrame, integers: Sequence[str], numbers: Sequence[str]
) -> list[list[int | float | None]]:
    places = table[list(integers)].astype(int).to_numpy().tolist()
    values = table[list(numbers)].to_numpy(dtype=float)
    return [[*place, *_rounded(row)] for place, row in zip(places, values, strict=True)]


def _rounded(numbers: Floats) -> list[float | None]:
    """Round to four digits; JSON has neither NaN nor infinity."""
    within = np.clip(numbers, -INFINITE, INFINITE)
    return [None if np.isnan(number) else float(f"{number:.4g}") for number in within]
