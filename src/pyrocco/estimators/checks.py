"""Checks of parameters and of data, with messages that say what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco.backends import ChunkedMatrix

# The paper's sparsity test has no threshold; its text sets have 2-4 % of cells filled, its
# gene sets all of them (see docs/how-it-works.md).
SPARSE_DENSITY = 0.5


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise unless `value` is one of `choices`.

    Examples
    --------
    >>> check_choice("variant", "fast", ("refined", "paper"))
    Traceback (most recent call last):
    ...
    ValueError: variant must be one of 'refined', 'paper'; got 'fast'.
    """
    if value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {known}; got {value!r}.")


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise unless `value` is a whole number of at least `least`.

    Examples
    --------
    >>> check_count("n_neighbors", 0)
    Traceback (most recent call last):
    ...
    ValueError: n_neighbors must be a whole number of at least 1; got 0.
    """
    is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_number or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")


def check_n_clusters(value: Any, shape: tuple[int, int]) -> tuple[int | None, int | None]:
    """Turn ``n_clusters`` into numbers of row and of column clusters.

    Examples
    --------
    >>> check_n_clusters(3, (10, 8)), check_n_clusters((2, None), (10, 8))
    ((3, 3), (2, None))
    """
    if not isinstance(value, (tuple, list)):
        # One number for both sides: a narrow matrix has as many column clusters as it can.
        value = (value, min(value, shape[1]) if isinstance(value, (int, np.integer)) else value)
    pair = tuple(value)
    if len(pair) != 2:
        raise ValueError(
            f"n_clusters must be None, a number or a pair (rows, columns); got {value!r}."
        )
    for number, size, side in zip(pair, shape, ("rows", "columns"), strict=True):
        if number is None:
            continue
        check_count("n_clusters", number)
        if number > size:
            raise ValueError(
                f"n_clusters asks for {number} clusters of {side}, but X has only {size} {side}."
            )
    return pair[0], pair[1]


def fresh_random_state(seed: Any) -> np.random.RandomState:
    """Random numbers of our own: the global generator is neither read nor moved.

    Examples
    --------
    >>> fresh_random_state(0).randint(10)
    5
    """
    if isinstance(seed, np.random.RandomState):
        return seed
    if seed is not None and not isinstance(seed, (int, np.integer)):
        raise ValueError(
            f"random_state must be None, a whole number or a RandomState; got {seed!r}."
        )
    return np.random.RandomState(seed)


def density(X: Any) -> float:
    """Share of the cells that are not zero, among those that are not missing.

    Examples
    --------
    >>> import numpy as np
    >>> density(np.array([[0.0, 1.0], [0.0, 0.0]])), density(np.array([[0.0, 1.0, np.nan]]))
    (0.25, 0.5)
    """
    if isinstance(X, ChunkedMatrix):
        return float(sum(X.results(_count_filled)) / (X.shape[0] * X.shape[1]))
    if sparse.issparse(X):
        return float(X.count_nonzero() / (X.shape[0] * X.shape[1]))
    missing = np.count_nonzero(np.isnan(X))
    return float((np.count_nonzero(X) - missing) / max(X.size - missing, 1))


def _count_filled(block: Any) -> int:
    return int(block.count_nonzero() if sparse.issparse(block) else np.count_nonzero(block))


def is_mostly_zero(X: Any) -> bool:
    """Apply the paper's sparsity test: by the values, not by how they are stored.

    Examples
    --------
    >>> import numpy as np
    >>> is_mostly_zero(np.eye(3)), is_mostly_zero(np.ones((3, 3)))
    (True, False)
    """
    return density(X) < SPARSE_DENSITY


def resolve_metric(metric: str, X: Any) -> str:
    """Turn ``"auto"`` into cosine for mostly-zero data and Euclidean for the rest.

    Examples
    --------
    >>> import numpy as np
    >>> resolve_metric("auto", np.eye(3)), resolve_metric("manhattan", np.eye(3))
    ('cosine', 'manhattan')
    """
    return metric_for(metric, metric == "auto" and is_mostly_zero(X))


def metric_for(metric: str, mostly_zero: bool) -> str:
    """Turn ``"auto"`` into the metric for mostly-zero data, or for the rest.

    Examples
    --------
    >>> metric_for("auto", True), metric_for("manhattan", True)
    ('cosine', 'manhattan')
    """
    if metric != "auto":
        return metric
    return "cosine" if mostly_zero else "euclidean"


def root_mean_square(X: Any) -> float:
    """Root of the mean square of all cells that are not missing, or 1 where all are zero.

    Examples
    --------
    >>> import numpy as np
    >>> root_mean_square(np.array([[3.0, -3.0]])), root_mean_square(np.zeros((2, 2)))
    (3.0, 1.0)
    """
    values = np.asarray(X.data if sparse.issparse(X) else X).ravel()
    n_cells = X.shape[0] * X.shape[1]
    if np.isnan(values).any():
        values = values[~np.isnan(values)]
        n_cells = len(values)
    largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
    if largest == 0:
        return 1.0
    # Squares of very large or very small numbers would leave the range of floats.
    unit = largest if not 1e-100 < largest < 1e100 else 1.0
    scaled = values if unit == 1.0 else values / unit
    total = float(np.einsum("i,i->", scaled, scaled, dtype=np.float64))
    return unit * float(np.sqrt(total / n_cells))
