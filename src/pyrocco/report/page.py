"""Write the report: fill the template of the page."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pyrocco._typing import FittedCoClustering, Matrix, MatrixLike
from pyrocco.io import default_names
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

__all__ = ["write_report"]

# Each script uses only those before it.
_SCRIPTS = (
    "unpack",
    "elements",
    "clusters",
    "tiles",
    "view",
    "heatmap",
    "interaction",
    "members",
    "blocks",
    "main",
)


def write_report(
    path: str | os.PathLike[str],
    model: FittedCoClustering,
    X: MatrixLike,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    summary: Mapping[str, Any] | None = None,
) -> None:
    """Write an HTML page about a fit. It opens in any browser, without a network.

    The page contains a summary in plain English, the sorted heat map to zoom into, a slider
    from coarser to finer clusters, what distinguishes the clusters, their members, labels to
    download, the convergence and the settings. The same fit gives the same file.

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
    check_is_fitted(model)
    if not hasattr(model, "column_labels_"):
        raise TypeError(
            f"{type(model).__name__} clusters only the rows; a report needs a model that clusters "
            "rows and columns, such as ROCCO."
        )
    names = _names(X, row_names, 0, "row"), _names(X, column_names, 1, "column")
    matrix = _as_matrix(X)
    _check_shape(model, matrix.shape, names)
    levels, fitted = levels_of(model, matrix)
    report = ReportInput(model, matrix, *names, levels, fitted)
    page = _fill_template(_parts(report, summary or {}))
    Path(path).write_text(page, encoding="utf-8", newline="\n")


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
    fitted = len(model.row_labels_), len(model.column_labels_)
    if shape != fitted:
        raise ValueError(
            f"The model was fitted to a matrix of {fitted[0]} x {fitted[1]} cells, but this "
            f"matrix has {shape[0]} x {shape[1]}: pass the matrix of the fit."
        )
    for side, given, n in zip(("row", "column"), names, shape, strict=True):
        if len(given) != n:
            raise ValueError(f"The matrix has {n} {side}s, but {side}_names has {len(given)}.")


def _parts(report: ReportInput, summary: Mapping[str, Any]) -> dict[str, str]:
    model, X = report.model, report.X
    warned = summary.get("warnings", ())
    return {
        "title": escape(Path(str(summary.get("input", "a matrix"))).name),
        "style": _asset("page.css"),
        "script": "\n".join(_asset(f"{name}.js") for name in _SCRIPTS),
        "figures": key_figures(model, X),
        "summary": bullet_list(summary_sentences(model, X, summary)),
        "warnings": f'<div class="warnings">{bullet_list(warned)}</div>' if warned else "",
        "reproducibility": reproducibility(summary.get("reproducibility")),
        "notes": bullet_list(summary.get("notes", ())),
        "convergence": convergence(_history(model)),
        "settings": settings(model, summary),
        "citation": escape(CITATION),
        "bibtex": escape(BIBTEX),
        # Escaped, so that text cannot end the script element that contains the data.
        "data": json.dumps(page_data(report), separators=(",", ":")).replace("<", "\\u003c"),
    }


def _asset(name: str) -> str:
    return (files("pyrocco.report") / "assets" / name).read_text(encoding="utf-8")


def _fill_template(parts: Mapping[str, str]) -> str:
    """Insert the parts into the template in one pass, so that inserted text stays text."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _asset("page.html"))


def _history(model: FittedCoClustering) -> Sequence[Mapping[str, Any]]:
    """Return the iterations of a model; none if its representation was not needed."""
    if not getattr(model, "has_representation_", True):
        return ()
    history: Sequence[Mapping[str, Any]] = getattr(model, "history_", ())
    return history
