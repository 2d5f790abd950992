"""Several preparations, one after the other, in the order that makes sense."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from pyrocco.prepare.log1p import log1p
from pyrocco.prepare.normalize import normalize
from pyrocco.prepare.tfidf import tfidf
from pyrocco.prepare.zscore import zscore

# In the order in which they are applied.
PREPARATIONS: dict[str, Callable[[Any], Any]] = {
    "normalize": normalize,
    "log1p": log1p,
    "tfidf": tfidf,
    "zscore": zscore,
}


def prepare(X: Any, names: Collection[str]) -> Any:
    """Apply preparations in their order: normalize, log1p, tfidf, zscore.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data; it is not changed.
    names : collection of str
        Which preparations, in any order.

    Returns
    -------
    ndarray or sparse matrix

    Raises
    ------
    ValueError
        A name is not known, one preparation undoes another, or the values do not suit one.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import prepare
    >>> prepare(np.array([[1.0, 3.0], [20.0, 20.0]]), ["log1p", "normalize"]).round(2)
    array([[1.87, 2.86],
           [2.48, 2.48]])
    """
    unknown = set(names) - set(PREPARATIONS)
    if unknown:
        raise ValueError(f"preparations are {', '.join(PREPARATIONS)}; got {min(unknown)!r}.")
    if {"normalize", "tfidf"} <= set(names) and "log1p" not in names:
        raise ValueError("tfidf scales the rows itself: leave out normalize.")
    for name, step in PREPARATIONS.items():
        if name in names:
            X = step(X)
    return X
