"""Which matrix of an AnnData object holds expression: counts, logarithms, or scaled values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from pyrocco._typing import Dense, Mask, Matrix
from pyrocco.cells.values import to_dense
from pyrocco.io.anndata import take_matrix
from pyrocco.io.expression_values import Values, values_of

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = [
    "Expression",
    "chosen_genes",
    "find_expression",
    "representation_of",
]

# Names of layers that hold counts, by habit; the first that exists is taken.
_COUNT_LAYERS = ("counts", "raw_counts", "count", "umis", "umi")
# What `find_expression` says of the values.
_WORDS = {
    "counts": "counts",
    "logarithms": "logarithms of counts",
    "non-negative values": "values of at least 0",
    "scaled values": "scaled values",
    "real values": "values below and above 0",
}


@dataclass(frozen=True, eq=False)
class Expression:
    """A matrix of an AnnData object, and what is known of it.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The matrix, in memory.
    genes : Index
        The names of its columns.
    layer : str or None
        The layer from which it comes.
    use_raw : bool
        Whether it comes from raw.
    values : str
        What its values are, see `values_of`.
    """

    X: Matrix
    genes: pd.Index[Any]
    layer: str | None
    use_raw: bool
    values: Values

    @property
    def place(self) -> str:
        """Where the matrix comes from, in words."""
        return f'layer "{self.layer}"' if self.layer is not None else "raw" * self.use_raw or "X"

    @property
    def sentence(self) -> str:
        """From which matrix clusters are found, and what it holds."""
        return f"Clusters are found in {self.place}, which holds {_WORDS[self.values]}."


def find_expression(adata: AnnData, layer: str | None, use_raw: bool | None) -> Expression:
    """Return the matrix that was asked for, or counts or their logarithms where there are any.

    Parameters
    ----------
    adata : AnnData
        The object.
    layer : str or None
        The layer that was asked for.
    use_raw : bool or None
        Whether raw (True) or X (False) was asked for.

    Returns
    -------
    Expression
        If nothing was asked for, the first of these that exists: the layer "counts"; X, if it
        holds counts; another layer, if it is the only one that holds counts; X, if it has no
        negative values; raw, for the genes of X, if it has no negative values; X.
    """
    if layer is not None or use_raw is not None:
        return _taken(adata, layer, bool(use_raw))
    named = next((name for name in _COUNT_LAYERS if name in adata.layers), None)
    if named is not None:
        found = _taken(adata, named, False)
        if found.values == "counts":
            return found
    main = None if adata.X is None else _taken(adata, None, False)
    if main is not None and main.values == "counts":
        return main
    # From anndata 0.13 on, X is also the layer None.
    named_layers = [name for name in adata.layers if name is not None]
    counted = [name for name in named_layers if _holds_counts(adata, name)]
    if len(counted) == 1:
        return _taken(adata, counted[0], False)
    if main is not None and main.values in ("logarithms", "non-negative values"):
        return main
    return _of_raw(adata) or main or _taken(adata, None, False)


def _taken(adata: AnnData, layer: str | None, use_raw: bool) -> Expression:
    X, genes = take_matrix(adata, layer, use_raw)
    return Expression(X, genes, layer, use_raw, values_of(X))


def _holds_counts(adata: AnnData, name: str) -> bool:
    return values_of(take_matrix(adata, name, False)[0]) == "counts"


def _of_raw(adata: AnnData) -> Expression | None:
    """Return the columns of raw that are genes of X, unless raw is scaled too."""
    if adata.raw is None:
        return None
    places = adata.raw.var_names.get_indexer(adata.var_names) if _unique(adata) else np.array([-1])
    if not len(places) or places.min() < 0:
        return None
    X, _ = take_matrix(adata, None, True)
    X = X[:, places]
    values = values_of(X)
    known = values in ("counts", "logarithms", "non-negative values")
    return Expression(X, adata.var_names, None, True, values) if known else None


def _unique(adata: AnnData) -> bool:
    return bool(adata.raw.var_names.is_unique and adata.var_names.is_unique)


def chosen_genes(
    var: pd.DataFrame, mask_var: str | Dense | pd.Series[Any] | None
) -> tuple[Mask, str]:
    """Return which genes take part in the fit, and how they were chosen, in words.

    Parameters
    ----------
    var : DataFrame
        The annotations of the genes.
    mask_var : {"auto"}, str, array-like of bool or None
        ``"auto"`` is the column "highly_variable", if there is one. None is all genes.

    Returns
    -------
    tuple of ndarray of bool and str
        The text is empty if all genes were taken because nothing was chosen.

    Examples
    --------
    >>> var = pd.DataFrame({"highly_variable": [True, False, True]})
    >>> mask, words = chosen_genes(var, "auto")
    >>> mask.tolist(), words
    ([True, False, True], 'highly variable genes')
    """
    if mask_var is None or (isinstance(mask_var, str) and mask_var == "auto"):
        if mask_var is None or "highly_variable" not in var:
            return np.ones(len(var), dtype=bool), ""
        return _checked_mask(var["highly_variable"], len(var)), "highly variable genes"
    if isinstance(mask_var, str):
        if mask_var not in var:
            raise ValueError(
                f'there is no column "{mask_var}" among the annotations of the genes; there are '
                f"{', '.join(map(str, var.columns)) or 'none'}. Pass mask_var=None for all genes."
            )
        return _checked_mask(var[mask_var], len(var)), f'genes with "{mask_var}"'
    return _checked_mask(mask_var, len(var)), "chosen genes"


def _checked_mask(mask: Any, count: int) -> Mask:
    values = np.asarray(mask)
    if values.shape != (count,) or values.dtype != bool:
        raise ValueError(
            f"mask_var must have one True or False for each of the {count} genes; got "
            f"{values.dtype} of shape {values.shape}"
        )
    if not values.any():
        raise ValueError("mask_var chooses no gene; pass mask_var=None for all genes.")
    return values


def representation_of(obsm: Mapping[str, Any], name: str) -> Dense:
    """Return an entry of obsm as an array with one row for each cell."""
    if name not in obsm:
        raise ValueError(
            f'there is no representation "{name}"; obsm has {", ".join(obsm) or "none"}'
        )
    values = obsm[name]
    dense = to_dense(values) if sparse.issparse(values) else np.asarray(values)
    return np.asarray(dense, dtype=dense.dtype if dense.dtype.kind == "f" else np.float64)
