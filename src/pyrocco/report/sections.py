"""The static sections of the page as HTML. All text is escaped here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.metadata import version
from typing import Any

import numpy as np

from pyrocco._typing import FittedCoClustering, Matrix
from pyrocco.cells.kinds import Cells
from pyrocco.report.sentences import n_missing_values, n_outlier_cells
from pyrocco.texts import Words

__all__ = [
    "BIBTEX",
    "CITATION",
    "bullet_list",
    "convergence",
    "key_figures",
    "reproducibility",
    "settings",
]

CITATION = "Xiao He and Luis Moreira-Matias: Robust Continuous Co-Clustering. 2018."
BIBTEX = """@article{he2018rocco,
  title  = {Robust Continuous Co-Clustering},
  author = {He, Xiao and Moreira-Matias, Luis},
  year   = {2018}
}"""
_MATRIX_FACTS = {
    "input": "source",
    "cells": "{entries}",
    "preparation": "preparation",
    "density": "share of nonzero {entries}",
    "seconds": "duration of the fit in seconds",
}
_ITERATION_TITLES = {
    "iteration": "iteration",
    "objective": "objective",
    "solver": "solver",
    "solver_iterations": "solver iterations",
    "residual": "residual",
    "seconds": "seconds",
}
_CLUSTER_TITLES = {
    "cluster": "cluster",
    "size": "size",
    "found_again_other_rows": "found again on other {rows}",
    "found_again_other_columns": "found again on other {columns}",
    "null": "without structure",
    "p_value": "p-value",
}
_WIDTH, _HEIGHT, _PAD = 640, 180, 12
_FEW = 3


def bullet_list(lines: Iterable[str]) -> str:
    """Return a list of sentences; empty text if there are none."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def key_figures(model: FittedCoClustering, X: Matrix, words: Words) -> str:
    """Return the most important numbers of a fit as HTML."""
    figures = {
        f"{words.row} clusters": f"{len(np.unique(model.row_labels_))}",
        f"{words.column} clusters": f"{len(np.unique(model.column_labels_))}",
        f"{words.row}s": f"{X.shape[0]:,}",
        f"{words.column}s": f"{X.shape[1]:,}",
    }
    for side, word in (("row", words.row), ("column", words.column)):
        membership = getattr(model, f"{side}_membership_", None)
        if membership is not None:
            figures[f"mean {word} membership"] = f"{100 * membership.mean():.0f} %"
    n_outliers = n_outlier_cells(getattr(model, "cell_weights_", None))
    figures[f"outlier {words.entry}s"] = f"{n_outliers:,}"
    if missing := n_missing_values(X):
        figures["missing values"] = f"{missing:,}"
    return _definitions(figures)


def settings(
    model: FittedCoClustering,
    summary: Mapping[str, Any],
    words: Words = Words(),  # noqa: B008 - immutable
) -> str:
    """Return what is needed to repeat a fit as HTML: file, parameters and versions."""
    facts = {
        words.replaced(title): summary[key]
        for key, title in _MATRIX_FACTS.items()
        if key in summary
    }
    if "preparation" in facts:
        facts["preparation"] = words.translated(str(facts["preparation"]))
    parameters = model.get_params(deep=False)
    parameters.pop("verbose", None)
    versions = summary.get("versions") or {"pyrocco": version("pyrocco")}
    tables = {"Matrix": facts, type(model).__name__: parameters, "Versions": versions}
    return "".join(
        f'<section class="facts"><h3>{title}</h3>{_definitions(entries)}</section>'
        for title, entries in tables.items()
        if entries
    )


def convergence(history: Sequence[Mapping[str, Any]] | None) -> str:
    """Return a table of the iterations, below a plot of the objective if there are several."""
    if history is None:
        return "<p>This method does not record its iterations.</p>"
    if not history:
        return "<p>The clusters were found without learning a representation in iterations.</p>"
    keys = [key for key in _ITERATION_TITLES if key in history[0]]
    table = _table({key: _ITERATION_TITLES[key] for key in keys}, history)
    if len(history) <= _FEW:
        return table
    details = f"<details><summary>All {len(history)} iterations</summary>{table}</details>"
    return _objective_plot([float(record["objective"]) for record in history]) + details


def reproducibility(
    found: Mapping[str, Any] | None,
    words: Words = Words(),  # noqa: B008 - immutable
) -> str:
    """Return how far the clusters are found again; empty text if it was not measured."""
    if not found:
        return ""
    titles = {key: words.replaced(title) for key, title in _CLUSTER_TITLES.items()}
    tables = "".join(
        f"<div><h3>Clusters of {word}s</h3>{_table(titles, found[side])}</div>"
        for side, word in (("rows", words.row), ("columns", words.column))
    )
    summary = escape(words.translated(found["summary"]))
    return (
        f"<h2>Are the clusters found again?</h2><p>{summary} Found again is 1 for a cluster "
        "that fits to halves of the data find exactly, and 0 for one that they "
        f'find no better than chance.</p><div class="tables">{tables}</div>'
    )


def _table(titles: Mapping[str, str], records: Sequence[Mapping[str, Any]]) -> str:
    """Return records as a table; `titles` names the keys to show."""
    head = "".join(f'<th scope="col">{title}</th>' for title in titles.values())
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(_text(record.get(key)))}</td>' for key in titles)}</tr>"
        for record in records
    )
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table class="numbers">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _definitions(entries: Mapping[str, object]) -> str:
    items = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(_text(value))}</dd></div>"
        for name, value in entries.items()
    )
    return f"<dl>{''.join(items)}</dl>"


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    # Other objects by the name of their class: their repr may contain an address.
    is_plain = isinstance(value, str | int | np.integer | Cells | None)
    return str(value) if is_plain else type(value).__name__


def _objective_plot(objective: list[float]) -> str:
    """Return the objective as a line, on a logarithmic scale if it is positive."""
    is_positive = min(objective) > 0
    heights = [math.log10(y) for y in objective] if is_positive else objective
    low, high = min(heights), max(heights)
    span = (high - low) or 1.0
    step = (_WIDTH - 2 * _PAD) / (len(heights) - 1)
    points = " ".join(
        f"{_PAD + i * step:.1f},{_PAD + (high - y) / span * (_HEIGHT - 2 * _PAD):.1f}"
        for i, y in enumerate(heights)
    )
    caption = (
        f"The objective over {len(objective)} iterations, from {objective[0]:.4g} to "
        f"{objective[-1]:.4g}."
    )
    return (
        f'<figure class="convergence"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{caption}"><polyline points="{points}"/></svg>'
        f"<figcaption>{caption}{' Logarithmic scale.' if is_positive else ''}"
        "</figcaption></figure>"
    )
