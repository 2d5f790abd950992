"""Fit a model and write everything a command leaves behind: the one place that does."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from pyrocco import ROCCO
from pyrocco.cli.messages import one_line, warnings_as_lines
from pyrocco.io import Matrix, MatrixError, Results
from pyrocco.plots import before_and_after, save_figure
from pyrocco.report import write_report
from pyrocco.report.sentences import n_outlier_cells

__all__ = [
    "MODEL_FILE",
    "REPORT_FILE",
    "fit_and_write",
    "fit_model",
    "summarise",
    "summarise_model",
]

MODEL_FILE = "model.pyrocco"
REPORT_FILE = "report.html"
_PACKAGES = ("pyrocco", "numpy", "scipy", "scikit-learn", "numba")


def fit_and_write(
    model: ROCCO,
    matrix: Matrix,
    about: dict[str, Any],
    folder: Path,
    write: Callable[[Path, Results], list[str]],
    *,
    report: bool = True,
    preparation: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Co-cluster a matrix and write labels, block means, summary, heat map, model and report.

    Parameters
    ----------
    model : ROCCO
        The estimator, not fitted yet; it is fitted here.
    matrix : Matrix
        Numbers and names.
    about : dict
        What the summary begins with; its ``"input"`` names the matrix in messages too.
    folder : Path
        Where the files go.
    write : callable
        Writes labels and block means, and returns the names of the files.
    report : bool, default=True
        Whether to write the page about the fit too.
    preparation : dict, optional
        What is needed to prepare other rows alike; it goes into the model file.

    Returns
    -------
    dict
        The summary, as it was written.

    Raises
    ------
    MatrixError
        The estimator refuses the matrix or a parameter.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco.io import default_names, result_writer
    >>> X = np.kron(np.eye(2), np.ones((20, 15))) + np.random.default_rng(0).random((40, 30))
    >>> matrix = Matrix(X, default_names("row", 40), default_names("column", 30))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     about = {"input": "example"}
    ...     _ = fit_and_write(ROCCO(2), matrix, about, Path(folder), result_writer("csv"))
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['block_means.csv', 'column_labels.csv', 'heatmap.png', 'model.pyrocco', 'report.html',
     'row_labels.csv', 'summary.json']
    """
    told = fit_model(model, matrix.X, about["input"])
    labels = model.row_labels_, model.column_labels_
    summary = {**about, **told, **summarise(model, matrix)}
    files = write(folder, Results(matrix, *labels, model.block_means_, summary))
    names = {"row_names": matrix.row_names, "column_names": matrix.column_names}
    picture = before_and_after(matrix.X, *labels, **names, cell_weights=model.cell_weights_)
    save_figure(picture, folder / "heatmap.png")
    model.save(folder / MODEL_FILE, {**names, "preparation": preparation or {}})
    if report:
        write_report(folder / REPORT_FILE, model, matrix.X, **names, summary=summary)
    page = [REPORT_FILE] if report else []
    summary["files"] = [*files, "summary.json", "heatmap.png", MODEL_FILE, *page]
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    return summary


def fit_model(model: ROCCO, X: Any, source: str) -> dict[str, Any]:
    """Fit a model; what it says goes to the user.

    Parameters
    ----------
    model : ROCCO
        The estimator; it is fitted here.
    X : ndarray, sparse matrix or dask array
        The numbers.
    source : str
        Name of the matrix, for messages.

    Returns
    -------
    dict
        How long it took, and the warnings.

    Raises
    ------
    MatrixError
        The estimator refuses the matrix or a parameter.

    Examples
    --------
    >>> fit_model(ROCCO(2), np.zeros((0, 3)), "a.csv")
    Traceback (most recent call last):
    pyrocco.io.errors.MatrixError: a.csv: cannot be co-clustered: ...
    """
    started = time.perf_counter()
    with warnings_as_lines() as warned:
        try:
            model.fit(X)
        except MatrixError:
            raise  # a part of the matrix that could not be read: it names its file
        except ValueError as error:
            reason = one_line(str(error))
            raise MatrixError(f"{source}: cannot be co-clustered: {reason}") from error
    return {"seconds": round(time.perf_counter() - started, 3), "warnings": warned}


def summarise(model: ROCCO, matrix: Matrix) -> dict[str, Any]:
    """Gather what a reader needs to understand and repeat a fit.

    Parameters
    ----------
    model : ROCCO
        A fitted estimator.
    matrix : Matrix
        What it was fitted to.

    Returns
    -------
    dict
        Only what JSON can hold.

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.ones((20, 15))) + np.random.default_rng(0).random((40, 30))
    >>> matrix = Matrix(X, ("",) * 40, ("",) * 30)
    >>> summary = summarise(ROCCO(2).fit(X), matrix)
    >>> summary["shape"], summary["row_cluster_sizes"]
    ([40, 30], [20, 20])
    """
    return {
        "notes": list(matrix.notes),
        "shape": list(matrix.shape),
        "density": matrix.density,
        "missing": matrix.n_missing,
        **summarise_model(model),
    }


def summarise_model(model: ROCCO) -> dict[str, Any]:
    """Gather what a fitted model says by itself, without its matrix.

    Parameters
    ----------
    model : ROCCO
        A fitted estimator; its labels may be Dask arrays, which are counted block by block.

    Returns
    -------
    dict
        Only what JSON can hold.

    Examples
    --------
    >>> X = np.kron(np.eye(2), np.ones((20, 15))) + np.random.default_rng(0).random((40, 30))
    >>> summarise_model(ROCCO(2).fit(X))["n_row_clusters"]
    2
    """
    parameters = model.get_params()
    parameters.pop("verbose")
    return {
        "n_row_clusters": int(model.n_row_clusters_),
        "n_column_clusters": int(model.n_column_clusters_),
        "row_cluster_sizes": _sizes(model.row_labels_, model.n_row_clusters_),
        "column_cluster_sizes": _sizes(model.column_labels_, model.n_column_clusters_),
        "mean_row_confidence": round(float(model.row_membership_.mean()), 4),
        "mean_column_confidence": round(float(model.column_membership_.mean()), 4),
        "taken_for": model.structure_,
        "distrusted_cells": n_outlier_cells(model.cell_weights_),
        "converged": bool(model.converged_),
        "iterations": int(model.n_iter_),
        "parameters": parameters,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in _PACKAGES},
        },
    }


def _sizes(labels: Any, n_clusters: int) -> list[int]:
    sizes: list[int] = np.asarray(np.bincount(labels, minlength=n_clusters)).tolist()
    return sizes
