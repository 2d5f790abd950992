"""The data of the page's script: names, labels, explanations and the values of the heat map."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pyrocco._typing import FittedCoClustering, Floats, Labels, Matrix, stored_values
from pyrocco.fitting.result import block_means
from pyrocco.plots.colour_values import standardised
from pyrocco.plots.heatmap import outlier_degree
from pyrocco.plots.order import bins, member_order
from pyrocco.plots.style import cluster_colours, colour_scale, colour_table
from pyrocco.plots.tracks import Track
from pyrocco.report.annotations import track_data, track_text
from pyrocco.report.levels import Levels, Pair
from pyrocco.report.packing import pack_floats, pack_integers, pack_json
from pyrocco.texts import Words

__all__ = ["ReportInput", "Tiles", "make_tiles", "page_data"]

# A million tiles add about 2 MB to the page.
TILES_PER_SIDE = 1_000
# Up to this number of tiles, values are stored in single precision; above it, in half of it.
MOST_EXACT = 250_000
# Values with a power of ten beyond this are stored in another unit: single precision ends at 38.
MOST_DIGITS = 30
# The page shows this as infinite: the effect if neither side varies.
INFINITE = 1e300
_BLOCK_COLUMNS = ("rest_mean", "effect", "p_adjusted", "homogeneity")
_COLUMN_COLUMNS = ("mean", "rest_mean", "effect", "homogeneity")


@dataclass(frozen=True, eq=False)
class ReportInput:
    """What a report is about."""

    model: FittedCoClustering
    X: Matrix
    row_names: Sequence[str]
    column_names: Sequence[str]
    levels: Levels  # co-clusterings that the sliders offer
    words: Words = field(default_factory=Words)
    tracks: tuple[tuple[Track, ...], tuple[Track, ...]] = ((), ())


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
    levels = report.levels
    text = {
        "rows": list(report.row_names),
        "columns": list(report.column_names),
        "words": [report.words.row, report.words.column, report.words.entry],
        "annotations": [[track_text(track) for track in side] for side in report.tracks],
        "levels": {
            "rows": [_cluster_of_each(levels.rows[-1], labels) for labels in levels.rows],
            "columns": [_cluster_of_each(levels.columns[-1], labels) for labels in levels.columns],
            "pairs": [[_pair_data(pair) for pair in pairs] for pairs in levels.pairs],
            "distinctive": [_distinctive(table) for table in levels.distinctive],
        },
    }
    return {
        "fitted": list(levels.fitted),
        "text": pack_json(text),
        "tiles": _drawn_tiles(report, orders),
        "rows": _side_data(report, 0, orders[0]),
        "columns": _side_data(report, 1, orders[1]),
    }


def _drawn_tiles(report: ReportInput, orders: tuple[Labels, Labels]) -> dict[str, Any]:
    """Return what the heat map shows: scaled values if the columns have different units."""
    weights = getattr(report.model, "cell_weights_", None)
    if getattr(report.model, "cells_", None) != "different units":
        return _tile_data(make_tiles(report.X, orders, weights))
    tiles = _tile_data(make_tiles(standardised(report.X, 1, None), orders, weights))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without values
        values = report.X if isinstance(report.X, np.ndarray) else report.X.toarray()
        scales = np.nanmean(values, axis=0), np.nanstd(values, axis=0, ddof=1)
    # From which the page computes the values themselves.
    tiles["means"], tiles["deviations"] = (pack_floats(np.nan_to_num(scale)) for scale in scales)
    return tiles


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


def _side_data(report: ReportInput, side: int, order: Labels) -> dict[str, Any]:
    kind, labels = ("row", "column")[side], (report.levels.rows, report.levels.columns)[side]
    data = {
        "order": pack_integers(order),
        "leaves": pack_integers(labels[-1]),
        # Of the cluster with each number, at every level; plots use the same.
        "colours": cluster_colours(int(labels[-1].max()) + 1),
        "annotations": [track_data(track) for track in report.tracks[side]],
    }
    membership = getattr(report.model, f"{kind}_membership_", None)
    if membership is not None:
        data["membership"] = pack_floats(np.round(membership, 3))
    return data


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


def _pair_data(pair: Pair) -> dict[str, Any]:
    """Return the means of the blocks, row by row, and what else is known of each block."""
    data: dict[str, Any] = {"means": [_rounded(means) for means in pair.means]}
    if pair.blocks is not None and pair.p_columns is not None:
        columns = pair.blocks[list(_BLOCK_COLUMNS)]
        data["blocks"] = [_rounded(columns[name].to_numpy(float)) for name in columns]
        data["p"] = _rounded(pair.p_columns)
    return data


def _distinctive(table: pd.DataFrame) -> list[list[int | float | None]]:
    places = table[["row_cluster", "column"]].astype(int).to_numpy().tolist()
    values = table[list(_COLUMN_COLUMNS)].to_numpy(dtype=float)
    return [[*place, *_rounded(row)] for place, row in zip(places, values, strict=True)]


def _cluster_of_each(fine: Labels, coarse: Labels) -> list[int]:
    """Return the coarse cluster that contains each fine one."""
    cluster = np.zeros(int(fine.max()) + 1, dtype=int)
    cluster[fine] = coarse
    return [int(label) for label in cluster]


def _rounded(numbers: Floats) -> list[float | None]:
    """Round to four digits; JSON has neither NaN nor infinity."""
    within = np.clip(numbers, -INFINITE, INFINITE)
    return [None if np.isnan(number) else float(f"{number:.4g}") for number in within]
