"""The parts of the page that are plain tables: key figures, settings, versions, citation."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from pyrocco.report.markup import pairs
from pyrocco.report.words import n_distrusted, n_missing

__all__ = ["BIBTEX", "CITATION", "figures", "settings"]

CITATION = "Xiao He and Luis Moreira-Matias: Robust Continuous Co-Clustering. 2018."
BIBTEX = """@article{he2018rocco,
  title  = {Robust Continuous Co-Clustering},
  author = {He, Xiao and Moreira-Matias, Luis},
  year   = {2018}
}"""
_FILE = {
    "input": "matrix",
    "prepared": "preparations",
    "density": "share of cells that are not 0",
    "seconds": "seconds of the fit",
}


def figures(model: Any, X: Any) -> str:
    """The numbers one looks for first.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : ndarray or sparse matrix
        What it was fitted to.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> X = np.kron(np.eye(2), np.ones((20, 15))) + np.random.default_rng(0).random((40, 30))
    >>> "groups of rows" in figures(ROCCO(2).fit(X), X)
    True
    """
    entries = [
        ("groups of rows", f"{len(np.unique(model.row_labels_))}"),
        ("groups of columns", f"{len(np.unique(model.column_labels_))}"),
        ("rows", f"{X.shape[0]:,}"),
        ("columns", f"{X.shape[1]:,}"),
    ]
    if hasattr(model, "row_membership_"):
        entries += [
            ("confidence of rows", f"{100 * model.row_membership_.mean():.0f} %"),
            ("confidence of columns", f"{100 * model.column_membership_.mean():.0f} %"),
        ]
    distrusted = n_distrusted(getattr(model, "cell_weights_", None))
    entries.append(("cells not trusted", f"{distrusted:,}"))
    if missing := n_missing(X):
        entries.append(("cells missing", f"{missing:,}"))
    return pairs(entries)


def settings(model: Any, summary: Mapping[str, Any]) -> str:
    """What is needed to do the same again.

    Parameters
    ----------
    model : estimator
        Fitted.
    summary : mapping
        What `pyrocco fit` writes to ``summary.json``, or a part of it.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> "n_neighbors" in settings(ROCCO(), {})
    True
    """
    file = [(_FILE[key], _told(summary[key])) for key in _FILE if key in summary]
    parameters = model.get_params(deep=False)
    parameters.pop("verbose", None)
    chosen = [(name, _told(value)) for name, value in parameters.items()]
    versions = summary.get("versions") or {"pyrocco": version("pyrocco")}
    parts = [("Matrix", file), (type(model).__name__, chosen), ("Versions", versions.items())]
    return "".join(
        f'<section class="facts"><h3>{title}</h3>{pairs(entries)}</section>'
        for title, entries in parts
        if entries
    )


def _told(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    # The name of an object says more than its address, and is the same each time.
    return str(value) if isinstance(value, str | int | None) else type(value).__name__
