"""Dense and sparse matrices alike: the cells that are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse


def stored_values(X: Any) -> Any:
    """All cells of a dense matrix, those that are not zero of a sparse one.

    Examples
    --------
    >>> stored_values(sparse.csr_array(np.eye(3))).tolist()
    [1.0, 1.0, 1.0]
    """
    return X.data if sparse.issparse(X) else np.asarray(X)


def map_stored(X: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function that keeps zero at zero to every cell; `X` is not changed.

    Examples
    --------
    >>> map_stored(np.array([[0.0, 4.0]]), np.sqrt)
    array([[0., 2.]])
    """
    if not sparse.issparse(X):
        return function(np.asarray(X))
    mapped = X.copy()
    mapped.data = function(X.data)
    return mapped


def check_not_negative(X: Any, name: str, remedy: str) -> None:
    """Raise where a value is negative.

    Examples
    --------
    >>> check_not_negative(np.array([[-1.0]]), "log1p", "leave it out")
    Traceback (most recent call last):
    ...
    ValueError: log1p needs values of at least 0, but the smallest is -1: leave it out.
    """
    smallest = np.nanmin(stored_values(X), initial=0.0)
    if smallest < 0:
        raise ValueError(
            f"{name} needs values of at least 0, but the smallest is {smallest:g}: {remedy}."
        )
