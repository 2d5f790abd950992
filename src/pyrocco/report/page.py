"""Fill the template and write the page."""

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

from pyrocco.io import default_names
from pyrocco.report.convergence import convergence
from pyrocco.report.facts import BIBTEX, CITATION, figures, settings
from pyrocco.report.levels import levels_of
from pyrocco.report.markup import paragraphs
from pyrocco.report.payload import Subject, make_payload
from pyrocco.report.words import sentences, warnings_of

__all__ = ["write_report"]

# In the order in which they use each other.
_SCRIPTS = (
    "unpack",
    "elements",
    "groups",
    "pixels",
    "view",
    "heatmap",
    "pointing",
    "members",
    "blocks",
    "main",
)


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: Any,
    *,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    summary: Mapping[str, Any] | None = None,
) -> None:
    """Write one page about a fit: a file that opens in any browser, without a network.

    It holds a summary in plain words, the sorted heat map to zoom into, a slider from coarser
    to finer groups, what sets groups apart, their members, labels to download, convergence
    and settings. The same fit gives the same file.

    Parameters
    ----------
    path : str or path
        The file to write.
    model : estimator
        A fitted `ROCCO`, or another with labels of rows and of columns.
    X : array, DataFrame or sparse matrix
        What it was fitted to.
    row_names, column_names : sequence of str, optional
        Names; those of a DataFrame, or numbers, by default.
    summary : mapping, optional
        More to tell: keys as in the ``summary.json`` of `pyrocco fit`, such as ``"input"``.

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
            f"{type(model).__name__} groups rows only; a report shows groups of rows and of "
            "columns, as ROCCO finds them."
        )
    names = _names(X, row_names, 0, "row"), _names(X, column_names, 1, "column")
    X = _numbers(X)
    _check_shape(model, X.shape, names)
    levels, fitted = levels_of(model, X)
    subject = Subject(model, X, *names, levels, fitted)
    page = _fill(_parts(subject, summary or {}))
    Path(path).write_text(page, encoding="utf-8", newline="\n")


def _names(X: Any, names: Sequence[str] | None, axis: int, kind: str) -> list[str]:
    if names is None and hasattr(X, "axes"):
        names = X.axes[axis]
    if names is None:
        return list(default_names(kind, np.shape(X)[axis]))
    return [str(name) for name in names]


def _numbers(X: Any) -> Any:
    if sparse.issparse(X):
        return sparse.csr_array(X)
    numbers = np.asarray(X)
    return numbers if numbers.dtype.kind == "f" else numbers.astype(float)


def _check_shape(model: Any, shape: tuple[int, int], names: tuple[list[str], list[str]]) -> None:
    fitted = len(model.row_labels_), len(model.column_labels_)
    if shape != fitted:
        raise ValueError(
            f"The model was fitted to {fitted[0]} x {fitted[1]} cells, this matrix has "
            f"{shape[0]} x {shape[1]}: give the matrix of the fit."
        )
    for side, given, n in zip(("row", "column"), names, shape, strict=True):
        if len(given) != n:
            raise ValueError(f"There are {n} {side}s and {len(given)} {side}_names.")


def _parts(subject: Subject, summary: Mapping[str, Any]) -> dict[str, str]:
    model, X = subject.model, subject.X
    warned = warnings_of(summary)
    return {
        "title": escape(Path(str(summary.get("input", "a matrix"))).name),
        "style": _asset("page.css"),
        "script": "\n".join(_asset(f"{name}.js") for name in _SCRIPTS),
        "figures": figures(model, X),
        "summary": paragraphs(sentences(model, X, summary)),
        "warnings": f'<div class="warnings">{paragraphs(warned)}</div>' if warned else "",
        "notes": paragraphs(summary.get("notes", ())),
        "convergence": convergence(getattr(model, "history_", ())),
        "settings": settings(model, summary),
        "citation": escape(CITATION),
        "bibtex": escape(BIBTEX),
        "data": _script_safe(json.dumps(make_payload(subject), separators=(",", ":"))),
    }


def _script_safe(text: str) -> str:
    """No text may end the script element that holds the data."""
    return text.replace("<", "\\u003c")


def _asset(name: str) -> str:
    return (files("pyrocco.report") / "assets" / name).read_text(encoding="utf-8")


def _fill(parts: Mapping[str, str]) -> str:
    """Put the parts in, in one pass: what is put in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _asset("page.html"))
