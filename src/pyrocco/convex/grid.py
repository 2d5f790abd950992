"""Which gammas to solve for, and checks of numbers."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

# The paper's range, two values a decade (Section 3.1, "Hyperparameter Setting").
DEFAULT_GAMMAS: tuple[float, ...] = tuple(np.logspace(-3, 3, 13).tolist())


def check_gammas(gamma: float | None, gammas: Sequence[float] | None) -> list[float]:
    """Turn one gamma, several, or none into a list of positive numbers.

    Examples
    --------
    >>> from pyrocco.convex.grid import check_gammas
    >>> check_gammas(None, (1, 10)), check_gammas(2.0, None), len(check_gammas(None, None))
    ([1.0, 10.0], [2.0], 13)
    """
    if gamma is not None and gammas is not None:
        raise ValueError("gammas has no effect when gamma is given; give one of the two.")
    chosen = [gamma] if gamma is not None else DEFAULT_GAMMAS if gammas is None else gammas
    values = list(np.atleast_1d(np.asarray(chosen, dtype=object)).ravel())
    if not values:
        raise ValueError("gammas is empty; give at least one value.")
    for value in values:
        check_positive("gamma" if gamma is not None else "gammas", value)
    return [float(value) for value in values]


def check_positive(name: str, value: Any, *, below: float = np.inf, or_zero: bool = False) -> None:
    """Raise unless `value` is a finite number above 0 (or 0) and below a limit.

    Examples
    --------
    >>> from pyrocco.convex.grid import check_positive
    >>> check_positive("tol", -1.0)
    Traceback (most recent call last):
    ...
    ValueError: tol must be a finite number above 0; got -1.0.
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if is_number and (0 < value < below or (or_zero and value == 0)):
        return
    least = "of at least 0" if or_zero else "above 0"
    most = f" and below {below:g}" if below < np.inf else ""
    raise ValueError(f"{name} must be a finite number {least}{most}; got {value!r}.")
