"""Plots of AnnData objects, in the style of ``scanpy.pl``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import pandas as pd

from pyrocco._typing import Labels, Mask
from pyrocco.cells.input import check_matrix
from pyrocco.io.anndata import as_labels, check_annotated, take_matrix
from pyrocco.io.errors import list_some
from pyrocco.io.expression_values import values_of
from pyrocco.plots import ClusterMap, ClusterMapStyle, clustermap
from pyrocco.plots.input import NamedData

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["heatmap"]

# What the colour bar says of values, unless the caller does.
_LABELS = {"counts": "count", "logarithms": "log count", "scaled values": "scaled value"}


@dataclass(frozen=True, eq=False)
class _StoredClusters:
    """Clusters of cells and genes that an AnnData object stores."""

    row_labels_: Labels
    column_labels_: Labels


def heatmap(
    adata: AnnData,
    key: str = "rocco",
    layer: str | None = None,
    use_raw: bool | None = None,
    *,
    obs: str | Sequence[str] = (),
    var: str | Sequence[str] = (),
    **options: Any,
) -> ClusterMap:
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
    obs, var : str or sequence of str, default=()
        Columns of ``obs`` and of ``var`` that are drawn as tracks beside the heat map, with
        legends. Colours that scanpy stored in ``uns`` are used. If ``adata.raw`` is drawn, columns
        of its ``var`` can be named, too.
    **options : dict
        Further parameters of `pyrocco.clustermap`, such as ``title``, ``figsize`` or
        ``column_names=["CD3D", "MS4A1"]``. Without ``label``, the colour bar says whether the
        values are counts, their logarithms or scaled.

    Returns
    -------
    ClusterMap
        The figure; its ``axes["heatmap"]`` are the axes of the heat map.

    See Also
    --------
    pyrocco.clustermap : Clusters a matrix and draws it.

    Examples
    --------
    >>> import anndata
    >>> import pyrocco
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> adata = anndata.AnnData(make_noisy_biclusters((60, 40), 3, noise=5).X)
    >>> adata.obs["batch"] = ["a", "b"] * 30
    >>> pyrocco.tl.rocco(adata)
    >>> pyrocco.pl.heatmap(adata, obs=["batch"])
    ClusterMap: 60 cells in 3 clusters, 40 genes in 3 clusters
    """
    check_annotated(adata)
    obs, var = ([names] if isinstance(names, str) else list(names) for names in (obs, var))
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
    of_genes = _table_of_genes(adata, used) if use_raw else adata.var[used]
    for argument, names, table in (("obs", obs, adata.obs), ("var", var, of_genes)):
        _check_columns(argument, names, table)
    data = NamedData(
        check_matrix(X),
        adata.obs_names,
        columns,
        (True, True),
        ("cells", "genes"),
        adata.obs,
        of_genes,
    )
    style = options.pop("style", None) or ClusterMapStyle()
    if all(options.get(name) is None for name in ("label", "z_score", "standard_scale")):
        options["label"] = _LABELS.get(values_of(data.X))
    return clustermap(
        data,
        model=_StoredClusters(row_labels, column_labels),
        row_annotations=obs or None,
        column_annotations=var or None,
        cluster_names=(row_clusters, column_clusters),
        style=replace(style, colours={**_stored_colours(adata, obs), **style.colours}),
        **options,
    )


def _check_columns(argument: str, names: Sequence[str], table: pd.DataFrame) -> None:
    """Refuse names that are no columns of a table."""
    known = [str(name) for name in table.columns]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            rest = f"did you mean {near[0]!r}?" if near else f"it has {list_some(known)}."
            raise ValueError(f"adata.{argument} has no column {name!r}: {rest}")


def _stored_colours(adata: AnnData, names: Sequence[str]) -> Mapping[str, dict[str, str]]:
    """Return the colours that scanpy chose for categories of cells."""
    return {
        name: dict(
            zip(
                map(str, adata.obs[name].cat.categories), adata.uns[f"{name}_colors"], strict=False
            )
        )
        for name in names
        if f"{name}_colors" in adata.uns
        and isinstance(getattr(adata.obs.get(name), "dtype", None), pd.CategoricalDtype)
    }


def _table_of_genes(adata: AnnData, used: Mask) -> pd.DataFrame:
    """Return what ``var``, or else that of raw, says of the used genes of raw.

    Genes that only raw has are missing in ``var``, which is left out if its names are repeated.
    """
    of_raw: pd.DataFrame = adata.raw.var[used]
    if not adata.var_names.is_unique:
        return of_raw
    own: pd.DataFrame = adata.var.reindex(of_raw.index)
    others = of_raw[of_raw.columns.difference(own.columns)]
    return pd.concat([own, others], axis="columns")


def _gene_clusters(adata: AnnData, key: str, columns: pd.Index) -> pd.Series:
    """Return the clusters of these genes, from ``var`` or from the table of raw."""
    table = adata.uns[key].get("raw_var")
    clusters: pd.Series = adata.var[key] if table is None else table["cluster"].rename(key)
    if len(clusters) == len(columns) and (clusters.index == columns).all():
        return clusters
    if clusters.index.is_unique:
        return clusters.reindex(columns)
    raise ValueError(f'the genes of this matrix differ from those with clusters "{key}"')
