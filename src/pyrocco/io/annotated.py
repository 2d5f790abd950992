"""What is needed of an AnnData object in memory: its matrix, and labels as it keeps them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

__all__ = ["as_categories", "as_labels", "check_annotated", "in_memory", "take_matrix"]


def check_annotated(adata: Any) -> None:
    """Raise unless this is an AnnData object, told by what it has.

    Parameters
    ----------
    adata : object
        What the user gave.

    Raises
    ------
    TypeError
        Says what to do with a plain matrix.

    Examples
    --------
    >>> check_annotated([[1.0, 2.0]])
    Traceback (most recent call last):
    TypeError: an AnnData object is needed, not list; for a plain matrix: pyrocco.ROCCO().fit(X)
    """
    if not all(hasattr(adata, part) for part in ("X", "obs", "var", "uns", "obsm", "layers")):
        raise TypeError(
            f"an AnnData object is needed, not {type(adata).__name__}; for a plain matrix: "
            "pyrocco.ROCCO().fit(X)"
        )


def take_matrix(adata: Any, layer: str | None, use_raw: bool) -> tuple[Any, pd.Index]:
    """The wanted matrix of an AnnData object, in memory, and the names of its columns.

    Parameters
    ----------
    adata : AnnData
        The object.
    layer : str or None
        Layer to use instead of X.
    use_raw : bool
        Use raw instead of X.

    Returns
    -------
    X : ndarray or sparse matrix
    columns : Index

    Raises
    ------
    ValueError
        It has no such matrix; the message says which it has.

    Examples
    --------
    >>> import anndata
    >>> adata = anndata.AnnData(np.eye(2), layers={"counts": 3 * np.eye(2)})
    >>> take_matrix(adata, "counts", use_raw=False)[0].tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    >>> take_matrix(adata, "count", use_raw=False)
    Traceback (most recent call last):
    ValueError: adata has no layer "count"; it has X, layer "counts"
    """
    if use_raw and layer is not None:
        raise ValueError("ask for a layer or for raw, not for both")
    if layer is not None:
        X, name = adata.layers.get(layer), f'layer "{layer}"'
    else:
        X, name = (adata.raw and adata.raw.X, "raw") if use_raw else (adata.X, "X")
    if X is None:
        raise ValueError(f"adata has no {name}; it has {', '.join(_matrices(adata)) or 'none'}")
    return _loaded(X), adata.raw.var_names if use_raw else adata.var_names


def in_memory(adata: Any) -> Any:
    """A copy of an AnnData object that shares nothing with it, nor with a file.

    Parameters
    ----------
    adata : AnnData
        The object, which may be a view or backed by a file.

    Returns
    -------
    AnnData

    Examples
    --------
    >>> import anndata
    >>> adata = anndata.AnnData(np.eye(3))
    >>> in_memory(adata[:2]).is_view
    False
    """
    return adata.to_memory() if adata.isbacked else adata.copy()


def as_categories(labels: Any) -> Any:
    """Labels as scanpy keeps clusters: categories of text, in the order of their numbers.

    Parameters
    ----------
    labels : sequence of int
        Clusters, counting from 0.

    Returns
    -------
    Categorical

    Examples
    --------
    >>> as_categories([0, 2, 0]).categories.tolist()
    ['0', '1', '2']
    """
    order = [str(label) for label in range(int(max(labels)) + 1)]
    return pd.Categorical([str(label) for label in labels], categories=order)


def as_labels(column: pd.Series) -> tuple[Any, list[str]]:
    """Numbers of categories that occur, counting from 0, and their names.

    Parameters
    ----------
    column : Series
        Clusters as `as_categories` makes them; they may have been renamed or subset since.

    Returns
    -------
    labels : ndarray of int
    names : list of str

    Raises
    ------
    ValueError
        Some have no cluster.

    Examples
    --------
    >>> labels, names = as_labels(pd.Series(["T cells", "B cells", "T cells"], name="rocco"))
    >>> labels.tolist(), names
    ([1, 0, 1], ['B cells', 'T cells'])
    """
    used = column.astype("category").cat.remove_unused_categories()
    if used.isna().any():
        raise ValueError(f'{int(used.isna().sum())} entries of "{column.name}" have no cluster')
    return used.cat.codes.to_numpy(np.intp), [str(name) for name in used.cat.categories]


def _loaded(X: Any) -> Any:
    """A matrix that lies in a file is read; scikit-learn takes no `numpy.matrix`."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return np.asarray(X) if isinstance(X, np.matrix) else X
    return X.to_memory() if hasattr(X, "to_memory") else np.asarray(X[()])


def _matrices(adata: Any) -> list[str]:
    main = [] if adata.X is None else ["X"]
    raw = [] if adata.raw is None else ["raw"]
    return [*main, *(f'layer "{name}"' for name in adata.layers), *raw]
