"""Annotation tracks: what is known of rows or columns, as colours beside a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

from pyrocco._typing import Floats, Labels
from pyrocco.plots.input import as_frame, is_table
from pyrocco.plots.style import MISSING, category_colours
from pyrocco.results.association import annotation_kind, categories_of, days_of
from pyrocco.texts import one_line, plain_text
from pyrocco.validation import shown

__all__ = ["MOST_COLOURED", "Track", "annotation_table", "make_tracks"]

# Categories beyond this number, the rarest, share a grey.
MOST_COLOURED = 20
_OTHER = "#8c8c8c"
_FEW_DAYS = 3  # dates that are less apart are written with their time
# Colormaps of numbers, from light to dark. None is one of those of the heat map.
_COLORMAPS = ("Purples", "Greens", "Oranges", "Greys")

Colours = Mapping[str, Any]


@dataclass(frozen=True)
class Track:
    """One annotation of all rows or columns, in the order of the data.

    `values` are numbers, days since the first of January 1970 of dates, or positions in
    `categories`; NaN is a missing value. `colours` has the colour of each category, or of 256
    steps from the smallest number to the largest.
    """

    name: str
    values: Floats
    categories: tuple[str, ...]  # none if the annotation is a number or a date
    colours: tuple[str, ...]
    is_date: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is a number, or the number of days of a date."""
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

    @property
    def ends(self) -> tuple[str, str] | None:
        """The first and the last date, with times if they are close; None without dates."""
        if not self.is_date:
            return None
        low, high = self.limits
        form = "%Y-%m-%d %H:%M" if high - low < _FEW_DAYS else "%Y-%m-%d"
        first, last = (pd.Timestamp(day, unit="D").round("s") for day in (low, high))
        return first.strftime(form), last.strftime(form)

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
        A table or column with the same index, in any order; a table with a column of these
        names; or as many rows in the same order, with an index that only counts. Or a dict from
        names to columns.
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
    >>> table = pd.DataFrame({"sample": ["b", "a"], "age": [30.5, 41.0]})
    >>> annotation_table(table, pd.Index(["a", "b"]), "row_annotations").to_dict("list")
    {'age': [41.0, 30.5]}
    """
    if is_table(given):
        return _aligned(_named_by_a_column(as_frame(given), index), index, argument)
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


def _named_by_a_column(table: pd.DataFrame, index: pd.Index) -> pd.DataFrame:
    """Make the column with names of the data the index, if the index of a table has none.

    It has at least half of the names, or half of the table are names.
    """
    if isinstance(index, pd.RangeIndex) or index.isin(table.index).any():
        return table
    names = index.map(plain_text)
    shared = [
        len(set(names).intersection(table.iloc[:, k].map(plain_text)))
        for k in range(table.shape[1])
    ]
    best = int(np.argmax(shared)) if shared else 0
    if table.shape[1] < 2 or 2 * shared[best] < min(len(table), len(names)):
        return table
    wanted = dict(zip(names, index, strict=True))
    key = [wanted.get(name, name) for name in table.iloc[:, best].map(plain_text)]
    columns = [k for k in range(table.shape[1]) if k != best]
    return table.iloc[:, columns].set_axis(pd.Index(key, dtype=object), axis=0)


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
    tables: Sequence[pd.DataFrame], colours: Mapping[str, Any]
) -> list[tuple[Track, ...]]:
    """Give every column of tables its colours; no two of them share any if they suffice.

    Parameters
    ----------
    tables : sequence of DataFrame
        Annotations of rows and of columns.
    colours : mapping
        Colours that were chosen, by name of the annotation: a mapping from categories to
        colours, or a sequence of colours, or the name of a colormap for numbers.

    Returns
    -------
    list of tuple of Track
        The tracks of each table.

    Examples
    --------
    >>> ((track,),) = make_tracks([pd.DataFrame({"treatment": ["drug", "none", "drug"]})], {})
    >>> track.categories, track.colours, track.values.tolist()
    (('drug', 'none'), ('#cc6677', '#332288'), [0.0, 1.0, 0.0])
    """
    columns = [table.iloc[:, k] for table in tables for k in range(table.shape[1])]
    found = [_Values.of(column) for column in columns]
    tracks: dict[int, Track] = {}
    maps, start = cycle(_COLORMAPS), 0
    # Those with few categories come first: they get the colours that are easiest to tell apart.
    for k in sorted(range(len(found)), key=lambda k: len(found[k].categories)):
        values = found[k]
        chosen = colours.get(values.name)
        if values.is_number:
            tracks[k] = _number_track(values, chosen or next(maps))
        else:
            tracks[k] = _category_track(values, start, chosen)
            start += 0 if chosen else len(tracks[k].categories)
    ends = np.cumsum([0, *(table.shape[1] for table in tables)])
    return [tuple(tracks[k] for k in range(*ends[side : side + 2])) for side in range(len(tables))]


@dataclass(frozen=True)
class _Values:
    """An annotation without colours: numbers, or positions of categories, -1 if missing."""

    name: str
    is_number: bool
    values: Floats
    categories: list[str]
    is_date: bool = False

    @classmethod
    def of(cls, column: pd.Series[Any]) -> _Values:
        name = one_line(column.name)
        kind = annotation_kind(column) if column.notna().any() else "category"
        if kind == "date":
            return cls(name, True, np.asarray(days_of(column)), [], is_date=True)
        if kind == "number":
            values = pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan)
            return cls(name, True, np.where(np.isfinite(values), values, np.nan), [])
        codes, categories = categories_of(column)
        return cls(name, False, codes.astype(float), [one_line(value) for value in categories])


def _number_track(annotation: _Values, cmap: Any) -> Track:
    steps = (colormaps[cmap] if isinstance(cmap, str) else cmap)(np.linspace(0.08, 0.95, 256))
    colours = tuple(map(to_hex, steps))
    return Track(annotation.name, annotation.values, (), colours, annotation.is_date)


def _category_track(annotation: _Values, start: int, chosen: Any) -> Track:
    codes, categories = annotation.values.astype(np.intp), annotation.categories
    n_other = len(categories) - MOST_COLOURED + 1 if len(categories) > MOST_COLOURED else 0
    if n_other:
        counts = np.bincount(codes[codes >= 0], minlength=len(categories))
        kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_COLOURED - 1])
        place = np.full(len(categories) + 1, len(kept))  # the last is that of missing values
        place[kept], place[-1] = np.arange(len(kept)), -1
        codes, categories = place[codes], [categories[k] for k in kept]
    colours = _colours(categories, start, chosen)
    if n_other:
        categories, colours = [*categories, f"other ({n_other})"], (*colours, _OTHER)
    values = np.where(codes < 0, np.nan, codes)
    return Track(annotation.name, values, tuple(categories) or ("missing",), colours or (MISSING,))


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
