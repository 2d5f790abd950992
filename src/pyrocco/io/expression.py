"""Which matrix of an AnnData object holds expression: counts, logarithms, or scaled values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from pyrocco._typing import Dense, Mask, Matrix, stored_values
from pyrocco.cells.values import are_whole, to_dense
from pyrocco.io.anndata import take_matrix

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = [
    "Expression",
    "chosen_genes",
    "find_expression",
    "representation_of",
    "scaling_of",
    "values_of",
]

Values = Literal["counts", "logarithms", "non-negative values", "scaled values", "real values"]

# Names of layers that hold counts, by habit; the first that exists is taken.
_COUNT_LAYERS = ("counts", "raw_counts", "count", "umis", "umi")
# log(1 + x) of any count that a sequencer can return is below this.
_LARGEST_LOGARITHM = 20
# Range of the median standard deviation of genes that were scaled; some cells may have been
# removed since.
_UNIT = (0.8, 1.25)
# So many cells share the largest value only if values were clipped.
_CLIPPED = 10
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


def values_of(X: Matrix) -> Values:
    """Return what the values of a matrix of expression are.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_cells, n_genes)
        The matrix.

    Returns
    -------
    {"counts", "logarithms", "non-negative values", "scaled values", "real values"}
        Logarithms are values from 0 to 20 that are not all whole. Scaled values are negative and
        positive, and a typical gene has standard deviation 1.

    Examples
    --------
    >>> counts = np.array([[0.0, 3.0], [5.0, 1.0], [2.0, 2.0]])
    >>> values_of(counts), values_of(np.log1p(counts))
    ('counts', 'logarithms')
    >>> values_of((counts - counts.mean(axis=0)) / counts.std(axis=0))
    'scaled values'
    """
    stored = stored_values(X)
    if not stored.size:
        return "counts"
    least, largest = float(np.nanmin(stored)), float(np.nanmax(stored))
    if least >= 0 and are_whole(X):
        return "counts"
    if least >= 0:
        return "logarithms" if largest <= _LARGEST_LOGARITHM else "non-negative values"
    return "scaled values" if _UNIT[0] < _median_deviation(X) < _UNIT[1] else "real values"


def _median_deviation(X: Matrix) -> float:
    """Return the median of the standard deviations of the columns that vary."""
    deviations = np.nanstd(to_dense(X), axis=0, dtype=np.float64)
    varying = deviations[deviations > 0]
    return float(np.median(varying)) if len(varying) else 0.0


def scaling_of(X: Matrix, values: Values) -> str:
    """Say how values were scaled or clipped; return an empty text if they were not.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The matrix.
    values : str
        What its values are, from `values_of`.

    Examples
    --------
    >>> scaling_of(np.array([[1.0, 0.0], [3.0, 4.0]]), "counts")
    ''
    >>> scaling_of(np.minimum(np.arange(60.0).reshape(20, 3) - 9, 10), "real values")
    'clipped at 10'
    """
    said = ["scaled to standard deviation 1 gene by gene"] if values == "scaled values" else []
    stored = stored_values(X)
    if values in ("scaled values", "real values", "logarithms") and stored.size:
        largest = float(np.nanmax(stored))
        shared = np.count_nonzero(stored == stored.dtype.type(largest))
        # Logarithms of small counts may be equal, but are not whole.
        if shared >= _CLIPPED and (values != "logarithms" or largest.is_integer()):
            said.append(f"clipped at {largest:g}")
    return " and ".join(said)


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
