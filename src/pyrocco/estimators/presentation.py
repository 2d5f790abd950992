"""Plots, reports and notebook pages of fitted co-clusterings.

Estimators lie below the layers `plots` and `report`, which draw any fitted model. A method such as
``model.plot()`` only passes the model on to these. They are therefore imported when they are
called, and nowhere else: a fit needs no matplotlib.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from pyrocco._typing import FittedCoClustering, MatrixLike
from pyrocco.io.named_matrix import Matrix as NamedMatrix
from pyrocco.io.named_matrix import default_names
from pyrocco.results.display import clusters_html
from pyrocco.texts import counted

if TYPE_CHECKING:
    from pyrocco.plots import ClusterMap
    from pyrocco.report import Page


def plot(self: Any, data: MatrixLike | None = None, **options: Any) -> ClusterMap:
    """Draw the matrix of the fit as a heat map, sorted by cluster.

    Parameters
    ----------
    data : array, DataFrame or sparse matrix of shape (n_rows, n_columns), optional
        The matrix of the fit; by default the copy that the model keeps.
    **options : dict
        Further parameters of `pyrocco.clustermap`, such as ``title`` or ``row_annotations``.

    Returns
    -------
    ClusterMap
        The figure, which a notebook shows and which `save` writes to a file.
    """
    from pyrocco.plots import clustermap  # noqa: PLC0415 - see the docstring of the module

    check_is_fitted(self)
    return clustermap(_data(self, data), model=self, **options)


def report(
    self: Any,
    path: str | os.PathLike[str] | None = None,
    data: MatrixLike | None = None,
    **options: Any,
) -> Page:
    """Make the HTML report of the fit, with the heat map to zoom into.

    Parameters
    ----------
    path : str or path, optional
        The file to write.
    data : array, DataFrame or sparse matrix of shape (n_rows, n_columns), optional
        The matrix of the fit; by default the copy that the model keeps.
    **options : dict
        Further parameters of `pyrocco.report.write_report`, such as ``row_annotations``.

    Returns
    -------
    Page
        The page, which a notebook shows and which `save` writes to a file.
    """
    from pyrocco.report import make_report  # noqa: PLC0415 - see the docstring of the module

    check_is_fitted(self)
    if path is not None and not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"path must be the name of a file, not {type(path).__name__}; the matrix is data=."
        )
    matrix = _data(self, data)
    if isinstance(matrix, NamedMatrix):
        options = {
            "row_names": matrix.row_names,
            "column_names": matrix.column_names,
            **options,
        }
        matrix = matrix.X
    page = make_report(self, matrix, **options)
    if path is not None:
        page.save(path)
    return page


def _data(model: Any, data: MatrixLike | None) -> Any:
    """Return the given matrix, or that of the fit with its names."""
    if data is not None:
        return data
    own = model._answers.data if hasattr(model, "_answers") else None
    if own is None:
        raise ValueError(
            f"This {type(model).__name__} does not keep the matrix of its fit: pass data=X."
        )
    rows, columns = own.shape
    return NamedMatrix(
        own,
        tuple(getattr(model, "row_names_in_", default_names("row", rows))),
        tuple(getattr(model, "feature_names_in_", default_names("column", columns))),
    )


def notebook_bundle(model: FittedCoClustering, bundle: dict[str, Any]) -> dict[str, Any]:
    """Add what a notebook shows of a fitted model to what scikit-learn shows of any."""
    if "text/html" not in bundle or not hasattr(model, "row_labels_"):
        return bundle
    return {**bundle, "text/html": bundle["text/html"] + model_html(model)}


def model_html(model: Any) -> str:
    """Describe a fitted model as HTML: its clusters, its structure and its preparation."""
    structure = getattr(model, "structure_", "")
    cells = f"The cells are {model.cells_}." if hasattr(model, "cells_") else ""
    preparation = getattr(model, "preparation_", "")
    return clusters_html(
        f"{type(model).__name__}, fitted to {counted(len(model.row_labels_), 'row')} and "
        f"{counted(len(model.column_labels_), 'column')}",
        model.block_means_,
        (model.row_labels_, model.column_labels_),
        structure,
        [cells, preparation],
    )
