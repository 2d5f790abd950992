"""Several preparations, one after the other, in the order that makes sense."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from pyrocco.prepare.log1p import log1p
from pyrocco.prepare.normalize import normalize, usual_total
from pyrocco.prepare.tfidf import inverse_frequencies, tfidf
from pyrocco.prepare.zscore import column_moments, zscore

# In the order in which they are applied.
PREPARATIONS: dict[str, Callable[..., Any]] = {
    "normalize": normalize,
    "log1p": log1p,
    "tfidf": tfidf,
    "zscore": zscore,
}
# What a preparation takes from the data, to treat other rows alike; the rest take nothing.
_TAKEN: dict[str, Callable[[Any], Any]] = {
    "normalize": usual_total,
    "tfidf": inverse_frequencies,
    "zscore": column_moments,
}
Learned = dict[str, Any]


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
    return learn_preparations(X, names)[0]


def learn_preparations(X: Any, names: Collection[str]) -> tuple[Any, Learned]:
    """Prepare a matrix, and keep what is needed to prepare other rows in the same way.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The data; it is not changed.
    names : collection of str
        Which preparations, in any order.

    Returns
    -------
    pair of matrix and dict
        The matrix as from `prepare`; and, by the names of the preparations in their order,
        what each took from the data, to be given to `prepare_alike`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 3.0], [20.0, 20.0]])
    >>> learn_preparations(X, ["log1p", "normalize"])[1]
    {'normalize': 22.0, 'log1p': None}
    """
    unknown = set(names) - set(PREPARATIONS)
    if unknown:
        raise ValueError(f"preparations are {', '.join(PREPARATIONS)}; got {min(unknown)!r}.")
    if {"normalize", "tfidf"} <= set(names) and "log1p" not in names:
        raise ValueError("tfidf scales the rows itself: leave out normalize.")
    learned: Learned = {}
    for name, step in PREPARATIONS.items():
        if name in names:
            before, X = X, step(X)
            learned[name] = _TAKEN[name](before) if name in _TAKEN else None
    return X, learned


def prepare_alike(X: Any, learned: Learned) -> Any:
    """Prepare rows as others were prepared before them.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Rows with the same columns.
    learned : dict
        What `learn_preparations` took from those others.

    Returns
    -------
    ndarray or sparse matrix

    Examples
    --------
    >>> import numpy as np
    >>> seen = np.array([[1.0, 3.0], [20.0, 20.0]])
    >>> prepared, learned = learn_preparations(seen, ["normalize", "zscore"])
    >>> bool((prepare_alike(seen[1:], learned) == prepared[1:]).all())
    True
    """
    for name, taken in learned.items():
        X = PREPARATIONS[name](X) if taken is None else PREPARATIONS[name](X, taken)
    return X
