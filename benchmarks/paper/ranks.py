"""Average ranks of methods over data sets, as in the last row of the paper's tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def means(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return means over seeds, methods by data sets; NaN if a method gave no labels."""
    return frame.pivot_table(
        index="method", columns="dataset", values=metric, aggfunc="mean", dropna=False
    )


def average_ranks(values: pd.DataFrame, methods: Sequence[str]) -> pd.Series:
    """Compute average ranks: 1 is the best, ties share, a method without labels is last.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"x": [0.9, 0.5, 0.5], "y": [0.2, None, 0.1]}, list("abc"))
    >>> average_ranks(scores, ["a", "b", "c"]).tolist()
    [1.0, 2.75, 2.25]
    """
    ranked = values.loc[list(methods)].fillna(-1.0).rank(ascending=False)
    return ranked.mean(axis=1)


def ranked_sets(frame: pd.DataFrame, methods: Sequence[str]) -> list[str]:
    """Return the data sets on which all `methods` were tried, successfully or not."""
    tried = frame.groupby("dataset")["method"].agg(set)
    return [str(name) for name, found in tried.items() if found >= set(methods)]


def line_up_ranks(
    values: pd.DataFrame, line_up: Sequence[str], stand_ins: Sequence[str]
) -> dict[str, float]:
    """Compute ranks among the paper's methods, with each of `stand_ins` in turn as ROCCO.

    The ranks of the other methods are those with the first of `stand_ins`.
    """
    found: dict[str, float] = {}
    others = [name for name in line_up if name not in stand_ins and name in values.index]
    for name in stand_ins:
        if name in values.index:
            found = {**average_ranks(values, [*others, name]).to_dict(), **found}
    return found
