"""Checks of parameters, with messages that say what to do."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

NClusters = tuple[int | None, int | None]


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise a ValueError unless `value` is one of `choices`.

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


def check_count(name: str, value: object, least: int = 1) -> int:
    """Return `value` as an int, or raise a ValueError unless it is an integer >= `least`.

    Examples
    --------
    >>> check_count("n_neighbors", 0)
    Traceback (most recent call last):
    ...
    ValueError: n_neighbors must be an integer of at least 1; got 0.
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}.")


def check_n_clusters(value: object) -> NClusters:
    """Turn the parameter ``n_clusters`` into a pair of numbers for rows and columns.

    Examples
    --------
    >>> check_n_clusters(3), check_n_clusters((2, None))
    ((3, 3), (2, None))
    """
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        raise ValueError(
            f"n_clusters must be None, an integer or a pair (rows, columns); got {value!r}."
        )
    rows, columns = (None if k is None else check_count("n_clusters", k) for k in pair)
    return rows, columns


def check_n_clusters_fit(value: object, shape: tuple[int, int]) -> NClusters:
    """Return the numbers of clusters for a matrix of this shape.

    One number for both sides is lowered to the number of columns of a narrow matrix.

    Examples
    --------
    >>> check_n_clusters_fit(9, (10, 8)), check_n_clusters_fit((2, None), (10, 8))
    ((9, 8), (2, None))
    """
    rows, columns = check_n_clusters(value)
    if columns is not None and not isinstance(value, (tuple, list)):
        columns = min(columns, shape[1])
    for number, size, side in ((rows, shape[0], "rows"), (columns, shape[1], "columns")):
        if number is not None and number > size:
            raise ValueError(
                f"n_clusters asks for {number} clusters of {side}, but X has only {size} {side}."
            )
    return rows, columns


def check_random_state(seed: object) -> np.random.RandomState:
    """Return a random generator; the global generator of NumPy is never used.

    Examples
    --------
    >>> check_random_state(0).randint(10)
    5
    """
    if isinstance(seed, np.random.RandomState):
        return seed
    if seed is None or isinstance(seed, (int, np.integer)):
        return np.random.RandomState(seed)
    raise ValueError(f"random_state must be None, an integer or a RandomState; got {seed!r}.")


def warn_not_converged(max_iter: int) -> None:
    """Warn that a fit ended because of its maximum number of iterations."""
    warnings.warn(
        f"The representation did not converge in max_iter={max_iter} iterations; increase "
        "max_iter for a more precise result.",
        ConvergenceWarning,
        stacklevel=4,
    )
