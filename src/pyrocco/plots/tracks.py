"""Annotation tracks: what is known of rows or columns, as colours beside a heat map."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_rgb

from pyrocco._typing import Floats, Labels
from pyrocco.plots.input import as_frame, is_table
from pyrocco.plots.style import MISSING, category_colours
from pyrocco.plots.text_size import one_line
from pyrocco.results.association import annotation_kind
from pyrocco.validation import shown

__all__ = ["MOST_COLOURED", "Track", "annotation_table", "make_tracks"]

# Categories beyond this number, the rarest, share a grey.
MOST_COLOURED = 20
_OTHER = "#8c8c8c"
# Colormaps of numbers, from light to dark. None is one of those of the heat map.
_COLORMAPS = ("Purples", "Greens", "Oranges", "Greys")

Colours = Mapping[str, Any]


@dataclass(frozen=True)
class Track:
    """One annotation of all rows or columns, in the order of the data.

    `values` are numbers, or positions in `categories`; NaN is a missing value. `colours` has
    the colour of each category, or of 256 steps from the smallest number to the largest.
    """

    name: str
    values: Floats
    categories: tuple[str, ...]  # none if the annotation is a number
    colours: tuple[str, ...]

    @property
    def is_number(self) -> bool:
        """Whether it is a number."""
        return not self.categories

    @property
    def has_missing(self) -> bool:
        """Whether values are missing."""
        return bool(np.isnan(self.values).any())

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest number."""
        known = self.values[np.isfinite(self.values)]
        return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)

    def rgb(self, rows: Labels) -> Floats:
        """Return the colours of some rows."""
        table = np.array([*map(to_rgb, self.colours), to_rgb(MISSING)])
        values = self.values[rows]
        if self.is_number:
            low, high = self.limits
            values = np.round(255 * np.clip((values - low) / ((high - low) or 1.0), 0, 1))
        return np.asarray(table[np.where(np.isnan(values), len(table) - 1, values).astype(int)])


def annotation_table(given: Any, index: pd.Index, argument: str) -> pd.DataFrame:
    """Return annotations as a DataFrame with one row for each name of an index.

    Parameters
    ----------
    given : DataFrame, Series, dict or array-like
        A table or column with the same index, in any order, or with as many rows and an index
        that only counts; or a dict from names to columns.
    index : Index
        Names of the rows (or columns) of the data.
    argument : str
        Name of the argument, for messages.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> ages = pd.Series([30.5, 41.0], index=["b", "a"], name="age")
    >>> annotation_table(ages, pd.Index(["a", "b", "c"]), "row_annotations")["age"].tolist()
    [41.0, 30.5, nan]
    """
    if is_table(given):
        return _aligned(as_frame(given), index, argument)
    if isinstance(given, pd.Series):
        name = _usual_name(argument) if given.name is None else given.name
        return _aligned(given.to_frame(name), index, argument)
    if isinstance(given, Mapping):
        columns = {
            name: _aligned(_as_series(column), index, f"{argument}[{name!r}]").iloc[:, 0]
            for name, column in given.items()
        }
        return pd.DataFrame(columns, index=index) if columns else pd.DataFrame(index=index)
    name = getattr(given, "name", None) or _usual_name(argument)
    return _aligned(_as_series(given).set_axis([name], axis=1), index, argument)


def _usual_name(argument: str) -> str:
    return argument.split("_", maxsplit=1)[0]


def _as_series(column: Any) -> pd.DataFrame:
    if isinstance(column, pd.Series):
        return column.to_frame()
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return pd.Series(values).to_frame()


def _aligned(table: pd.DataFrame, index: pd.Index, argument: str) -> pd.DataFrame:
    """Bring the rows of a table into the order of an index."""
    if table.index.equals(index):
        return table
    in_order = isinstance(table.index, pd.RangeIndex)
    if in_order and len(table) == len(index):
        return table.set_axis(index)
    if in_order and not index.isin(table.index).any():
        raise ValueError(f"{argument} has {len(table)} values for {len(index)} names.")
    if not table.index.is_unique:
        twice = table.index[table.index.duplicated()][0]
        raise ValueError(f"{argument} has several values for {shown(twice)}.")
    if not index.isin(table.index).any():
        raise ValueError(
            f"{argument} has none of the names of the data: it begins with "
            f"{shown(table.index[0])}, the data with {shown(index[0])}."
        )
    return table.reindex(index)


def make_tracks(
    table: pd.DataFrame, colours: Mapping[str, Any], others: Sequence[Track] = ()
) -> list[Track]:
    """Give every column of a table its colours.

    Parameters
    ----------
    table : DataFrame
        Annotations, one row for each row of the data.
    colours : mapping
        Colours that were chosen, by name of the annotation: a mapping from categories to
        colours, or a sequence of colours, or the name of a colormap for numbers.
    others : sequence of Track
        Tracks whose colours are left to them.

    Returns
    -------
    list of Track
    """
    tracks: list[Track] = []
    start = sum(len(track.categories) for track in others)
    maps = islice(cycle(_COLORMAPS), sum(track.is_number for track in others), None)
    for position, name in enumerate(table.columns):
        column, chosen = table.iloc[:, position], colours.get(str(name))
        if column.notna().any() and annotation_kind(column) == "number":
            tracks.append(_number_track(one_line(name), column, chosen or next(maps)))
        else:
            tracks.append(_category_track(one_line(name), column, start, chosen))
            start += len(tracks[-1].categories)
    return tracks


def _number_track(name: str, column: pd.Series[Any], cmap: Any) -> Track:
    values = pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan)
    values = np.where(np.isfinite(values), values, np.nan)
    steps = (colormaps[cmap] if isinstance(cmap, str) else cmap)(np.linspace(0.08, 0.95, 256))
    return Track(name, values, (), tuple(tuple(step) for step in steps[:, :3]))  # type: ignore[misc]


def _category_track(name: str, column: pd.Series[Any], start: int, chosen: Any) -> Track:
    codes, categories = _categories(column)
    counts = np.bincount(codes[codes >= 0], minlength=len(categories))
    if len(categories) > MOST_COLOURED:
        kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_COLOURED - 1])
        place = np.full(len(categories) + 1, len(kept))
        place[kept], place[-1] = np.arange(len(kept)), -1
        codes = place[codes]
        other = f"other ({len(categories) - len(kept)})"
        colours = (*_colours([categories[k] for k in kept], start, chosen), _OTHER)
        categories = [*(categories[k] for k in kept), other]
    else:
        colours = _colours(categories, start, chosen)
    values = np.where(codes < 0, np.nan, codes)
    return Track(name, values, tuple(categories) or ("missing",), colours or (MISSING,))


def _categories(column: pd.Series[Any]) -> tuple[Labels, list[str]]:
    """Return the position of each value among the categories that occur, and their names."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object).infer_objects()
        if column.dtype == object:
            column = column.map(str, na_action="ignore")
            names = sorted(column.dropna().unique(), key=_natural)
            column = column.astype(pd.CategoricalDtype(names))
    used = column.astype("category").cat.remove_unused_categories()
    return used.cat.codes.to_numpy().astype(np.intp), [
        _category_name(value) for value in used.cat.categories
    ]


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """Return what sorts "day 2" before "day 10"."""
    parts = re.split(r"(\d+)", text)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _category_name(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return one_line(value)


def _colours(categories: Sequence[str], start: int, chosen: Any) -> tuple[str, ...]:
    usual = category_colours(len(categories), start)
    if chosen is None:
        return tuple(usual)
    if isinstance(chosen, Mapping):
        named = {str(key): colour for key, colour in chosen.items()}
        return tuple(named.get(name, own) for name, own in zip(categories, usual, strict=True))
    given: list[Any] = list(
        colormaps[chosen](np.arange(colormaps[chosen].N)) if isinstance(chosen, str) else chosen
    )
    return tuple(given[k % len(given)] for k in range(len(categories)))
