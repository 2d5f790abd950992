"""Write the report: fill the template of the page."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pyrocco._typing import FittedCoClustering, Matrix, MatrixLike
from pyrocco.io import default_names
from pyrocco.plots.tracks import annotation_table, make_tracks
from pyrocco.report.annotations import ABOUT_TESTS, tests_of_annotations
from pyrocco.report.levels import levels_of
from pyrocco.report.page_data import ReportInput, page_data
from pyrocco.report.sections import (
    BIBTEX,
    CITATION,
    bullet_list,
    convergence,
    key_figures,
    reproducibility,
    settings,
)
from pyrocco.report.sentences import summary_sentences
from pyrocco.texts import Words
from pyrocco.validation import check_clusters_both, check_fitted_shape

__all__ = ["Page", "make_report", "write_report"]

# Each script uses only those before it.
_SCRIPTS = (
    "unpack",
    "elements",
    "annotations",
    "clusters",
    "tiles",
    "view",
    "heatmap",
    "vector",
    "pictures",
    "interaction",
    "filters",
    "members",
    "levels",
    "blocks",
    "explanation",
    "crosstables",
    "printing",
    "main",
)


def write_report(
    path: str | os.PathLike[str],
    model: FittedCoClustering,
    X: MatrixLike,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    row_annotations: Any = None,
    column_annotations: Any = None,
    axis_names: tuple[str, str] = ("row", "column"),
    summary: Mapping[str, Any] | None = None,
) -> None:
    """Write an HTML page about a fit. It opens in any browser, without a network.

    The page contains a summary in plain English, the sorted heat map to zoom into and to
    download, sliders from coarser to finer clusters, what distinguishes the clusters, how they
    agree with annotations, their members, labels to download, the convergence and the settings.
    The same fit gives the same file.

    Parameters
    ----------
    path : str or path
        The file to write.
    model : estimator
        A fitted `ROCCO`, or another model with row labels and column labels.
    X : array-like, DataFrame or sparse matrix
        The matrix it was fitted to.
    row_names, column_names : sequence of str, optional
        Names of the rows and of the columns; by default those of the DataFrame, or numbers.
    row_annotations, column_annotations : DataFrame, Series or dict, optional
        What is known about the rows and the columns besides the matrix, such as a treatment or
        an age. Matched by index, or by position if the index only counts. Drawn beside the heat
        map, to filter by, and compared with the clusters (`association`).
    axis_names : pair of str, default=("row", "column")
        What the page calls a row and a column, such as ``("cell", "gene")``.
    summary : mapping, optional
        More information for the page, with the keys of the ``summary.json`` of
        `pyrocco fit`, such as ``"input"``.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pyrocco import ROCCO
    >>> X = np.kron(np.eye(2), np.ones((20, 15))) + np.random.default_rng(0).random((40, 30))
    >>> model = ROCCO(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "report.html", model, X)
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    page = make_report(
        model,
        X,
        row_names=row_names,
        column_names=column_names,
        row_annotations=row_annotations,
        column_annotations=column_annotations,
        axis_names=axis_names,
        summary=summary,
    )
    page.save(path)


@dataclass(frozen=True)
class Page:
    """The page of a report. A notebook shows it.

    Parameters
    ----------
    html : str
        The page.

    Examples
    --------
    >>> Page("<!doctype html><p>Clusters</p>")
    Page of 0 kB; save(path) writes it to a file
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        return f"Page of {len(self.html) // 1000} kB; save(path) writes it to a file"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page in a frame of its own."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="Report" '
            'style="width:100%;height:45em;border:1px solid #ccc"></iframe>'
        )


def make_report(
    model: FittedCoClustering,
    X: MatrixLike,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    row_annotations: Any = None,
    column_annotations: Any = None,
    axis_names: tuple[str, str] = ("row", "column"),
    summary: Mapping[str, Any] | None = None,
) -> Page:
    """Make the page that `write_report` writes, which describes the parameters."""
    check_is_fitted(model)
    check_clusters_both(model, "a report")
    names = _names(X, row_names, 0, "row"), _names(X, column_names, 1, "column")
    matrix = _as_matrix(X)
    _check_shape(model, matrix.shape, names)
    words = Words(*axis_names)
    tables = (
        _annotation_frame(row_annotations, pd.Index(names[0]), "row_annotations"),
        _annotation_frame(column_annotations, pd.Index(names[1]), "column_annotations"),
    )
    row_tracks, column_tracks = make_tracks(tables, {})
    levels, tracks = levels_of(model, matrix), (row_tracks, column_tracks)
    report = ReportInput(model, matrix, *names, levels, words, tracks)
    page = _fill_template(_parts(report, tables, summary or {}), words)
    return Page(page)


def _names(X: MatrixLike, names: Sequence[str] | None, axis: int, kind: str) -> list[str]:
    if names is None and hasattr(X, "axes"):
        names = X.axes[axis]
    if names is None:
        return list(default_names(kind, np.shape(X)[axis]))
    return [str(name) for name in names]


def _as_matrix(X: MatrixLike) -> Matrix:
    if sparse.issparse(X):
        return sparse.csr_array(X)
    values = np.asarray(X)
    return values if values.dtype.kind == "f" else values.astype(float)


def _check_shape(
    model: FittedCoClustering, shape: tuple[int, ...], names: tuple[list[str], list[str]]
) -> None:
    check_fitted_shape((len(model.row_labels_), len(model.column_labels_)), shape)
    for side, given, n in zip(("row", "column"), names, shape, strict=True):
        if len(given) != n:
            raise ValueError(f"The matrix has {n} {side}s, but {side}_names has {len(given)}.")


def _annotation_frame(given: Any, names: pd.Index, argument: str) -> pd.DataFrame:
    return annotation_table({} if given is None else given, names, argument)


def _parts(
    report: ReportInput, tables: tuple[pd.DataFrame, pd.DataFrame], summary: Mapping[str, Any]
) -> dict[str, str]:
    model, X, words = report.model, report.X, report.words
    warned = [words.translated(text) for text in summary.get("warnings", ())]
    annotations = _annotations(report, tables)
    return {
        "title": escape(Path(str(summary.get("input", "a matrix"))).name),
        "style": _asset("page.css"),
        "script": "\n".join(_asset(f"{name}.js") for name in _SCRIPTS),
        "figures": key_figures(model, X, words),
        "summary": bullet_list(summary_sentences(model, X, summary, words)),
        "warnings": f'<div class="warnings">{bullet_list(warned)}</div>' if warned else "",
        "reproducibility": reproducibility(summary.get("reproducibility"), words),
        "annotations": annotations,
        "annotations_link": '<a href="#annotations">Annotations</a>' if annotations else "",
        "notes": bullet_list(summary.get("notes", ())),
        "convergence": convergence(_history(model)),
        "settings": settings(model, summary, words),
        "citation": escape(CITATION),
        "bibtex": escape(BIBTEX),
        # Escaped, so that text cannot end the script element that contains the data.
        "data": json.dumps(page_data(report), separators=(",", ":")).replace("<", "\\u003c"),
    }


def _annotations(report: ReportInput, tables: tuple[pd.DataFrame, pd.DataFrame]) -> str:
    labels = np.asarray(report.model.row_labels_), np.asarray(report.model.column_labels_)
    sides = "".join(
        f'<div id="{side}-annotations">'
        f"{tests_of_annotations(table, of_side, report.words, side)}"
        f'<div class="cards" id="{side}-crosstables"></div></div>'
        for side, table, of_side in zip(("row", "column"), tables, labels, strict=True)
        if table.shape[1]
    )
    if not sides:
        return ""
    about = f"<p>{escape(report.words.replaced(ABOUT_TESTS))}</p>"
    title = '<h2 id="annotations-title">Clusters and annotations</h2>'
    start = '<section id="annotations" aria-labelledby="annotations-title">'
    return f"{start}{title}{about}{sides}</section>"


def _asset(name: str) -> str:
    return (files("pyrocco.report") / "assets" / name).read_text(encoding="utf-8")


def _fill_template(parts: Mapping[str, str], words: Words) -> str:
    """Insert the parts into the template in one pass, so that inserted text stays text."""
    nouns = ("row", "rows", "column", "columns", "entry", "entries", "R", "C")
    named = {noun: escape(words.replaced(f"{{{noun}}}")) for noun in nouns}
    named |= {noun.capitalize(): text.capitalize() for noun, text in named.items()}
    values = {**named, **parts}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _asset("page.html"))


def _history(model: FittedCoClustering) -> Sequence[Mapping[str, Any]] | None:
    """Return the iterations of a model, if it records them; none without a representation."""
    if not getattr(model, "has_representation_", True):
        return ()
    history: Sequence[Mapping[str, Any]] | None = getattr(model, "history_", None)
    return history
