"""Pictures of AnnData objects, as scanpy calls them."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from pyrocco.io.anndata import as_labels, check_annotated, take_matrix
from pyrocco.plots import plot_biclusters

__all__ = ["heatmap"]


def heatmap(
    adata: Any,
    key: str = "rocco",
    layer: str | None = None,
    use_raw: bool | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the matrix of an AnnData object, cells and genes sorted by cluster.

    Parameters
    ----------
    adata : AnnData
        After `pyrocco.tl.rocco`. Clusters may have been renamed since, and cells and genes
        left out.
    key : str, default="rocco"
        Name under which the clusters are kept.
    layer : str, default=None
        Layer to draw.
    use_raw : bool, default=None
        Draw ``adata.raw`` (True) or X (False). None draws what the clusters were found in,
        unless a layer is named.
    ax : Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import anndata
    >>> import pyrocco
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> adata = anndata.AnnData(make_noisy_biclusters((60, 40), 3, noise=5).X)
    >>> pyrocco.tl.rocco(adata)
    >>> ax = pyrocco.pl.heatmap(adata)
    >>> ax.images[0].get_array().shape
    (60, 40)
    >>> plt.close(ax.figure)
    """
    check_annotated(adata)
    if key not in adata.uns or key not in adata.obs:
        raise ValueError(f'adata has no clusters "{key}"; pyrocco.tl.rocco(adata) finds them')
    found_in = adata.uns[key]["params"]
    if layer is None and use_raw is None:
        layer, use_raw = found_in.get("layer"), bool(found_in["use_raw"])
    X, columns = take_matrix(adata, layer, bool(use_raw))
    row_labels, row_clusters = as_labels(adata.obs[key])
    column_labels, column_clusters = as_labels(_of_columns(adata, key, columns))
    return plot_biclusters(
        X,
        row_labels,
        column_labels,
        plt.subplots(figsize=(6, 5), layout="constrained")[1] if ax is None else ax,
        row_names=[str(name) for name in adata.obs_names],
        column_names=[str(name) for name in columns],
        cluster_names=(row_clusters, column_clusters),
    )


def _of_columns(adata: Any, key: str, columns: pd.Index) -> Any:
    """Clusters of the genes, wherever `pyrocco.tl.rocco` has put them."""
    table = adata.uns[key].get("raw_var")
    found = adata.var[key] if table is None else table["cluster"].rename(key)
    if len(found) == len(columns) and (found.index == columns).all():
        return found
    if found.index.is_unique:
        return found.reindex(columns)
    raise ValueError(f'the genes of this matrix are not those with clusters "{key}"')
