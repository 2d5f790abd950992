"""Tools for AnnData objects, in the style of ``scanpy.tl``."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from pyrocco._typing import Dense, Floats, Labels, Mask
from pyrocco.assign.joint import CoClusterer
from pyrocco.assign.labels import SideLabels
from pyrocco.backends import cpu_backend
from pyrocco.cells.input import check_matrix
from pyrocco.cells.values import divided, root_mean_square
from pyrocco.estimators import ROCCO
from pyrocco.fitting.result import block_means
from pyrocco.io.anndata import as_categories, check_annotated, in_memory
from pyrocco.io.expression import (
    Expression,
    chosen_genes,
    find_expression,
    representation_of,
)
from pyrocco.io.expression_values import LOGARITHMS, scaling_of

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["rocco"]


def rocco(
    adata: AnnData,
    key_added: str = "rocco",
    layer: str | None = None,
    use_raw: bool | None = None,
    copy: bool = False,
    *,
    use_rep: str | None = None,
    mask_var: str | Dense | pd.Series[Any] | None = "auto",
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
        Layer to use.
    use_raw : bool, default=None
        Use ``adata.raw`` (True) or X (False). If neither this nor `layer` is given, counts or
        their logarithms are used: the layer "counts", X, the only other layer that holds counts,
        or raw. If this is not X, a line on standard error says so.
    copy : bool, default=False
        Return a copy with the results instead of changing `adata`.
    use_rep : str, default=None
        Key of a representation in ``obsm``, such as "X_pca", in which cells are clustered. Genes
        are clustered in the matrix, as without it.
    mask_var : str, array-like of bool or None, default="auto"
        Genes to use: the name of a column of ``var``, or one True or False for each gene.
        ``"auto"`` uses ``var["highly_variable"]`` if it exists; None uses all genes. Other genes
        get no cluster.
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
            ``n_column_clusters``, ``matrix`` (in which matrix clusters were found), ``cells``
            and ``preparation`` (what the cells are, and how they
            were prepared), ``structure``, ``converged`` (True if no representation had to be
            learned), ``params``. With ``use_raw=True``
            the labels of the genes are stored here, in the table ``raw_var``, since the
            genes of raw are not those of ``var``.

    Warns
    -----
    UserWarning
        If the values were scaled gene by gene or clipped, and there are no others or they were
        asked for.

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
    found = find_expression(adata, layer, use_raw)
    mask, chosen = chosen_genes(adata.raw.var if use_raw else adata.var, mask_var)
    sentence = _sentence(found, mask, chosen)
    if layer is None and use_raw is None and found.place != "X":
        _say(f"{sentence} To use X instead, pass use_raw=False.")
    _warn_of_scaling(found)
    X = found.X if mask.all() else found.X[:, mask]
    clusters = _cluster(adata, X, found, use_rep, parameters)
    if copy:
        adata = in_memory(adata)
    adata.obs[key_added] = as_categories(clusters.row_labels)
    adata.obs[f"{key_added}_membership"] = clusters.row_membership
    adata.obsm[f"X_{key_added}"] = clusters.model.transform(X)
    given = {
        **ROCCO(**parameters).get_params(),
        "layer": found.layer,
        "use_raw": found.use_raw,
        "use_rep": use_rep,
        "mask_var": mask_var if isinstance(mask_var, str) else chosen or None,
    }
    adata.uns[key_added] = {"matrix": sentence, **_results(clusters, given)}
    labels, membership = _of_all_genes(clusters.model, mask)
    if use_raw:
        table = pd.DataFrame({"cluster": labels, "membership": membership}, index=found.genes)
        adata.uns[key_added]["raw_var"] = table
    else:
        adata.var[key_added] = labels
        adata.var[f"{key_added}_membership"] = membership
    return adata if copy else None


@dataclass(frozen=True, eq=False)
class _Clusters:
    """The clusters of cells, and the model in which those of genes were found."""

    model: ROCCO
    row_labels: Labels
    row_membership: Floats
    block_means: Floats


def _cluster(
    adata: AnnData,
    X: Any,
    found: Expression,
    use_rep: str | None,
    parameters: dict[str, Any],
) -> _Clusters:
    """Fit the matrix; take the labels of cells from a representation if there is one."""
    prepare = "auto"
    if found.values == "logarithms" and parameters.get("variant") != "paper":
        prepare = LOGARITHMS  # type: ignore[assignment]
    if use_rep is None:
        model = ROCCO(**{"prepare": prepare, **parameters}).fit(X)
        return _Clusters(model, model.row_labels_, model.row_membership_, model.block_means_)
    rows, columns = _both_numbers(parameters.get("n_clusters"))
    cells = _cells_of_representation(adata, use_rep, rows, parameters)
    of_genes = {"prepare": prepare, **parameters, "n_clusters": (None, columns)}
    model = ROCCO(**of_genes).fit(X)
    means = block_means(X, cells.labels, model.column_labels_)
    return _Clusters(model, cells.labels, cells.membership, means)


def _cells_of_representation(
    adata: AnnData, use_rep: str, number: int | None, parameters: dict[str, Any]
) -> SideLabels:
    """Cluster the rows of a representation by their leading features.

    It has neither blocks nor outlier cells: a few cells far out along a component are what
    components are for.
    """
    values = check_matrix(representation_of(adata.obsm, use_rep), allow_nan=False)
    values = divided(values, root_mean_square(values))
    random = check_random_state(parameters.get("random_state", 0))
    assigner = CoClusterer(
        blocks=False, random_state=random, backend=cpu_backend(parameters.get("n_jobs"))
    )
    return assigner.assign(values, values, (number, 1)).rows


def _both_numbers(n_clusters: Any) -> tuple[int | None, int | None]:
    if isinstance(n_clusters, (tuple, list)) and len(n_clusters) == 2:
        return n_clusters[0], n_clusters[1]
    return n_clusters, n_clusters


def _sentence(found: Expression, mask: Mask, chosen: str) -> str:
    if not chosen:
        return found.sentence
    number = int(mask.sum())
    return f"{found.sentence[:-1]}, for {number} {chosen} of {len(mask)}."


def _say(sentence: str) -> None:
    """Print a line on standard error, if there is one."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"pyrocco.tl.rocco: {sentence}\n")


def _warn_of_scaling(found: Expression) -> None:
    scaling = scaling_of(found.X, found.values)
    if scaling:
        warnings.warn(
            f"The values of {found.place} were {scaling}, which gives the noise of rare genes the "
            "weight of all others and hides the largest differences. Keep counts or their "
            'logarithms in adata.layers["counts"] or in adata.raw before scaling: '
            "pyrocco.tl.rocco finds them there.",
            UserWarning,
            stacklevel=3,
        )


def _of_all_genes(model: ROCCO, mask: Mask) -> tuple[pd.Categorical[str], Floats]:
    """Return clusters and memberships; genes that were not used have none."""
    labels = np.full(len(mask), -1)
    membership = np.full(len(mask), np.nan)
    labels[mask], membership[mask] = model.column_labels_, model.column_membership_
    categories = as_categories(model.column_labels_).categories
    return pd.Categorical.from_codes(labels, categories), membership


def _results(clusters: _Clusters, given: dict[str, Any]) -> dict[str, Any]:
    """Return the results for the whole matrix, in types that an .h5ad file can store."""
    model = clusters.model
    return {
        "block_means": clusters.block_means,
        "n_row_clusters": len(clusters.block_means),
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
