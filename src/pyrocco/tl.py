"""Tools for AnnData objects, in the style of ``scanpy.tl``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from pyrocco.estimators import ROCCO
from pyrocco.io.anndata import as_categories, check_annotated, in_memory, take_matrix

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["rocco"]


def rocco(
    adata: AnnData,
    key_added: str = "rocco",
    layer: str | None = None,
    use_raw: bool = False,
    copy: bool = False,
    **parameters: Any,
) -> AnnData | None:
    """Cluster the cells and the genes of an AnnData object at the same time.

    Parameters
    ----------
    adata : AnnData
        Cells are rows, genes are columns. The matrix of a backed object is read into
        memory. A view becomes an actual copy, as always when anndata writes to one.
    key_added : str, default="rocco"
        Key under which the results are stored.
    layer : str, default=None
        Layer to use instead of X.
    use_raw : bool, default=False
        Use ``adata.raw`` instead of X.
    copy : bool, default=False
        Return a copy with the results instead of changing `adata`.
    **parameters : dict
        Parameters of `ROCCO`, such as ``n_clusters``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``. The following fields are written:

        ``obs[key_added]``, ``var[key_added]``
            Cluster of every cell and of every gene: categories "0", "1", ..., largest first.
        ``obs[key_added + "_membership"]``, ``var[key_added + "_membership"]``
            Probability of the label of the cell or gene under the fitted model.
        ``obsm["X_" + key_added]``
            Mean of every cell over each gene cluster, one column per gene cluster.
        ``uns[key_added]``
            ``block_means`` (cell clusters x gene clusters), ``n_row_clusters``,
            ``n_column_clusters``, ``cells`` and ``preparation`` (what the cells are, and how they
            were prepared), ``structure``, ``converged`` (True if no representation had to be
            learned), ``params``. With `use_raw`
            the labels of the genes are stored here, in the table ``raw_var``, since the
            genes of raw are not those of ``var``.

    Examples
    --------
    >>> import anndata
    >>> import pyrocco
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> adata = anndata.AnnData(make_noisy_biclusters((60, 40), 3, noise=5).X)
    >>> pyrocco.tl.rocco(adata)
    >>> adata.obs["rocco"].cat.categories.tolist(), adata.obsm["X_rocco"].shape
    (['0', '1', '2'], (60, 3))
    """
    check_annotated(adata)
    X, columns = take_matrix(adata, layer, use_raw)
    model = ROCCO(**parameters).fit(X)
    if copy:
        adata = in_memory(adata)
    adata.obs[key_added] = as_categories(model.row_labels_)
    adata.obs[f"{key_added}_membership"] = model.row_membership_
    adata.obsm[f"X_{key_added}"] = model.transform(X)
    adata.uns[key_added] = _results(model, layer, use_raw)
    labels, membership = as_categories(model.column_labels_), model.column_membership_
    if use_raw:
        table = pd.DataFrame({"cluster": labels, "membership": membership}, index=columns)
        adata.uns[key_added]["raw_var"] = table
    else:
        adata.var[key_added] = labels
        adata.var[f"{key_added}_membership"] = membership
    return adata if copy else None


def _results(model: ROCCO, layer: str | None, use_raw: bool) -> dict[str, Any]:
    """Return the results for the whole matrix, in types that an .h5ad file can store."""
    given = {"layer": layer, "use_raw": use_raw, **model.get_params()}
    return {
        "block_means": model.block_means_,
        "n_row_clusters": model.n_row_clusters_,
        "n_column_clusters": model.n_column_clusters_,
        "cells": model.cells_,
        "preparation": model.preparation_,
        "structure": model.structure_,
        "converged": model.converged_ if model.has_representation_ else True,
        # An .h5ad file stores neither None nor a pair of a number and None.
        "params": {
            name: value if isinstance(value, (bool, int, float, str)) else str(value)
            for name, value in given.items()
            if value is not None
        },
    }
