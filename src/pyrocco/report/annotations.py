"""Annotations on the page: what the tests of association say, and the data of the tracks."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from pyrocco._typing import Labels
from pyrocco.plots.tracks import Track
from pyrocco.report.packing import Packed, pack_floats, pack_integers
from pyrocco.results.association import association
from pyrocco.texts import Words

__all__ = [
    "ABOUT_TESTS",
    "association_sentence",
    "tests_of_annotations",
    "track_data",
    "track_text",
]

_CLEAR = 0.05
_STEPS = 64  # colours of the scale of a number
_LARGEST = 3e38  # of single precision
_TITLES = ("annotation", "test", "statistic", "p-value", "adjusted p-value", "effect", "{rows}")
ABOUT_TESTS = (
    "The clusters were found without the annotations. A small p-value says that the fitted "
    "clusters differ in an annotation by more than chance explains. It does not say that one "
    "causes the other, or that the clusters are right. The tests take {rows} and {columns} as "
    "independent: if several come from the same source, such as one patient or one batch, the "
    "p-values are too small. P-values are adjusted for the number of annotations of a side "
    "(Benjamini and Hochberg). "
    "The effect is Cramer's V for categories and eta squared for numbers and dates: 0 is no "
    "association, 1 a perfect one."
)


def tests_of_annotations(table: pd.DataFrame, labels: Labels, words: Words, side: str) -> str:
    """Return sentences and a table about the annotations of one side as HTML."""
    if not table.shape[1]:
        return ""
    noun = words.row if side == "row" else words.column
    of_side = Words(noun, "")
    tests: Any = association(labels, table).to_dict("records")
    lines = "".join(f"<li>{escape(association_sentence(test, noun))}</li>" for test in tests)
    head = "".join(f'<th scope="col">{of_side.replaced(title)}</th>' for title in _TITLES)
    rows = "".join(_test_row(test) for test in tests)
    return (
        f"<h3>Annotations of the {noun}s</h3>"
        f"<ul>{lines}</ul>"
        "<details><summary>All tests</summary>"
        f'<div class="scroll" tabindex="0" role="group" aria-label="Tests of annotations">'
        f'<table class="numbers"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        "</details>"
    )


def association_sentence(test: Mapping[str, Any], noun: str) -> str:
    """Say whether the clusters differ in an annotation.

    Parameters
    ----------
    test : mapping
        A row of the table that `association` returns.
    noun : str
        What is clustered, such as ``"row"``.

    Returns
    -------
    str

    Examples
    --------
    >>> table = association([0] * 10 + [1] * 10, pd.Series(["a"] * 10 + ["b"] * 10, name="drug"))
    >>> association_sentence(table.iloc[0], "row")
    "drug: associated with the row clusters (Cramer's V 1, adjusted p-value 7.7e-06)."
    """
    name = test["annotation"]
    if test["test"] == "none":
        return f"{name}: not tested, because there is only one cluster, or only one value."
    measure = "Cramer's V" if test["kind"] == "category" else "eta squared"
    effect = "" if np.isnan(test["effect"]) else f"{measure} {test['effect']:.2g}, "
    numbers = f"{effect}adjusted p-value {_p_value(test['p_adjusted'])}"
    if test["p_adjusted"] < _CLEAR:
        return f"{name}: associated with the {noun} clusters ({numbers})."
    return f"{name}: no association with the {noun} clusters was found ({numbers})."


def _p_value(p: float) -> str:
    if np.isnan(p):
        return "\N{EN DASH}"
    return f"{p:.2g}" if p > 1e-300 else "below 1e-300"


def _test_row(test: Mapping[str, Any]) -> str:
    cells = [
        test["annotation"],
        test["test"],
        _number(test["statistic"]),
        _p_value(test["p_value"]),
        _p_value(test["p_adjusted"]),
        _number(test["effect"]),
        f"{test['n']:,}",
    ]
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _number(value: float) -> str:
    return "\N{EN DASH}" if np.isnan(value) else f"{value:.4g}"


def track_text(track: Track) -> dict[str, Any]:
    """Return the name, the categories and the colours of an annotation."""
    colours = track.colours[:: len(track.colours) // _STEPS] if track.is_number else track.colours
    return {
        "name": track.name,
        "categories": list(track.categories),
        "colours": [to_hex(colour) for colour in colours],
        "limits": list(track.limits) if track.is_number else None,
        "isDate": track.is_date,
    }


def track_data(track: Track) -> Packed:
    """Pack the values of an annotation.

    Categories count from 1, and 0 is a missing value. Dates are days since the first of them,
    which single precision keeps to the second.
    """
    if track.is_date:
        return pack_floats(track.values - track.limits[0])
    if track.is_number:
        return pack_floats(np.clip(track.values, -_LARGEST, _LARGEST))
    return pack_integers(np.nan_to_num(track.values + 1, nan=0))
