"""Plots of AnnData objects, in the style of ``scanpy.pl``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from pyrocco.io.anndata import as_labels, check_annotated, take_matrix
from pyrocco.plots import plot_biclusters

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["heatmap"]


def heatmap(
    adata: AnnData,
    key: str = "rocco",
    layer: str | None = None,
    use_raw: bool | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a heat map of an AnnData object with cells and genes sorted by cluster.

    Parameters
    ----------
    adata : AnnData
        Object with the results of `pyrocco.tl.rocco`. Clusters may have been renamed and
        cells and genes removed since.
    key : str, default="rocco"
        Key under which the clusters are stored.
    layer : str, default=None
        Layer to draw.
    use_raw : bool, default=None
        Draw ``adata.raw`` (True) or X (False). By default, draw `layer` if given, otherwise
        the matrix in which the clusters were found.
    ax : Axes, default=None
        Axes to draw on; a new figure by default.

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
    params = adata.uns[key]["params"]
    if layer is None and use_raw is None:
        layer, use_raw = params.get("layer"), bool(params["use_raw"])
    X, columns = take_matrix(adata, layer, bool(use_raw))
    row_labels, row_clusters = as_labels(adata.obs[key])
    clusters = _gene_clusters(adata, key, columns)
    used = clusters.notna().to_numpy()  # genes that had no part in the fit have no cluster
    X, columns, clusters = X[:, used], columns[used], clusters[used]
    column_labels, column_clusters = as_labels(clusters)
    return plot_biclusters(
        X,
        row_labels,
        column_labels,
        plt.subplots(figsize=(6, 5), layout="constrained")[1] if ax is None else ax,
        row_names=[str(name) for name in adata.obs_names],
        column_names=[str(name) for name in columns],
        cluster_names=(row_clusters, column_clusters),
    )


def _gene_clusters(adata: AnnData, key: str, columns: pd.Index) -> pd.Series:
    """Return the clusters of these genes, from ``var`` or from the table of raw."""
    table = adata.uns[key].get("raw_var")
    clusters: pd.Series = adata.var[key] if table is None else table["cluster"].rename(key)
    if len(clusters) == len(columns) and (clusters.index == columns).all():
        return clusters
    if clusters.index.is_unique:
        return clusters.reindex(columns)
    raise ValueError(f'the genes of this matrix differ from those with clusters "{key}"')
