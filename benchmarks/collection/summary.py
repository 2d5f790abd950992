"""Tables of means over groups of sets, of differences between methods, and of single sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from benchmarks.paper import markdown

Groups = Mapping[str, Sequence[str]]


def per_set(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Mean over seeds: one line for each method, one column for each set."""
    return frame.pivot_table(column, "method", "dataset", aggfunc="mean", dropna=False)


def mean_and_error(values: pd.Series) -> str:
    """Mean and standard error of the mean; the mean alone for one value.

    Examples
    --------
    >>> mean_and_error(pd.Series([0.1, 0.3]))
    '0.200 ± 0.100'
    """
    if len(values) == 1:
        return f"{values.iloc[0]:.3f}"
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def group_table(
    values: pd.DataFrame,
    methods: Sequence[str],
    groups: Groups,
    show: Callable[[pd.Series], str],
) -> str:
    """Show the values of every method in every group of sets."""
    computed = _computed(values, groups)
    rows = [
        [method, *(_shown(values.loc[method], sets, show) for sets in computed.values())]
        for method in methods
        if method in values.index
    ]
    return markdown.table(["method", *_titles(computed)], rows)


def paired_table(values: pd.DataFrame, pairs: Sequence[tuple[str, str]], groups: Groups) -> str:
    """Show mean differences between two methods on the same sets."""
    computed = _computed(values, groups)
    rows = [
        [f"{one} - {other}",
         *(_shown(values.loc[one] - values.loc[other], sets, _difference)
           for sets in computed.values())]
        for one, other in pairs
        if {one, other} <= set(values.index)
    ]  # fmt: skip
    return markdown.table(["difference", *_titles(computed)], rows)


def set_table(
    frame: pd.DataFrame, column: str, methods: Sequence[str], sets: Sequence[str], digits: int
) -> str:
    """Show every method on every set, one line for each set, with the true number of clusters."""
    rows = []
    for name in sets:
        part = frame[frame["dataset"] == name]
        cells = [markdown.spread(part[part["method"] == m][column], digits) for m in methods]
        rows.append([name, f"{part['row_classes'].max():g}".replace("nan", "-"), *cells])
    return markdown.table(["set", "true K", *methods], rows)


def _computed(values: pd.DataFrame, groups: Groups) -> dict[str, list[str]]:
    """Keep the sets for which there are results."""
    return {group: [s for s in sets if s in values.columns] for group, sets in groups.items()}


def _titles(groups: Groups) -> list[str]:
    return [f"{group} ({len(sets)})" for group, sets in groups.items()]


def _shown(values: pd.Series, sets: Sequence[str], show: Callable[[pd.Series], str]) -> str:
    found = values.reindex(sets).dropna()
    if found.empty:
        return "-"
    some = "" if len(found) == len(sets) else f" ({len(found)} of {len(sets)})"
    return show(found) + some


def _difference(values: pd.Series) -> str:
    text = mean_and_error(values)
    return text if text.startswith("-") else f"+{text}"
