"""Tools for AnnData objects, as scanpy calls them: clusters of cells and of genes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pyrocco.estimators import ROCCO
from pyrocco.io.anndata import as_categories, check_annotated, in_memory, take_matrix

__all__ = ["rocco"]


def rocco(
    adata: Any,
    key_added: str = "rocco",
    layer: str | None = None,
    use_raw: bool = False,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Find groups of cells and groups of genes, and write them into an AnnData object.

    Parameters
    ----------
    adata : AnnData
        Cells are rows, genes are columns. Of an object backed by a file the matrix is read
        into memory; a view becomes an object of its own, as always when one is written to.
    key_added : str, default="rocco"
        Name under which the results are kept.
    layer : str, default=None
        Layer to use instead of X.
    use_raw : bool, default=False
        Use ``adata.raw`` instead of X.
    copy : bool, default=False
        Leave `adata` as it is and return a copy with the results.
    **parameters : dict
        Parameters of `ROCCO`, such as ``n_clusters``.

    Returns
    -------
    AnnData or None
        The copy, with ``copy=True``. These are written:

        ``obs[key_added]``, ``var[key_added]``
            Cluster of every cell and of every gene: categories "0", "1", ..., largest first.
        ``obs[key_added + "_confidence"]``, ``var[key_added + "_confidence"]``
            Probability that the label is right.
        ``obsm["X_" + key_added]``
            For every cell its mean over each cluster of genes: one column a gene cluster.
        ``uns[key_added]``
            ``block_means`` (cell clusters x gene clusters), ``n_row_clusters``,
            ``n_column_clusters``, ``reading``, ``converged``, ``params``. With `use_raw` the
            genes are those of raw, so their labels are here, in the table ``raw_var``, and
            not in ``var``.

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
    adata.obs[f"{key_added}_confidence"] = model.row_membership_
    adata.obsm[f"X_{key_added}"] = model.transform(X)
    adata.uns[key_added] = _about(model, layer, use_raw)
    labels, confidence = as_categories(model.column_labels_), model.column_membership_
    if use_raw:
        table = pd.DataFrame({"cluster": labels, "confidence": confidence}, index=columns)
        adata.uns[key_added]["raw_var"] = table
    else:
        adata.var[key_added] = labels
        adata.var[f"{key_added}_confidence"] = confidence
    return adata if copy else None


def _about(model: ROCCO, layer: str | None, use_raw: bool) -> dict[str, Any]:
    """What belongs to the whole, of kinds that an .h5ad file can hold."""
    given = {"layer": layer, "use_raw": use_raw, **model.get_params()}
    return {
        "block_means": model.block_means_,
        "n_row_clusters": model.n_row_clusters_,
        "n_column_clusters": model.n_column_clusters_,
        "reading": model.structure_,
        "converged": model.converged_,
        # There is no None in such a file, and no pair of a number and None.
        "params": {
            name: value if isinstance(value, (bool, int, float, str)) else str(value)
            for name, value in given.items()
            if value is not None
        },
    }
