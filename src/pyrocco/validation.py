"""Checks of parameters, with messages that say what to do."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from typing import TypeGuard

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

NClusters = tuple[int | None, int | None]

# Longest text of a value in a message.
_LONGEST = 80
_MOST_THREADS = 2**15


def shown(value: object) -> str:
    """Return a value as one short line, for messages.

    Examples
    --------
    >>> shown("euclidian"), shown(np.eye(2))
    ("'euclidian'", 'array([[1., 0.], [0., 1.]])')
    """
    value = value.item() if isinstance(value, np.generic) else value
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise a ValueError unless `value` is one of `choices`.

    Examples
    --------
    >>> check_choice("variant", "fast", ("refined", "paper"))
    Traceback (most recent call last):
    ...
    ValueError: variant must be one of 'refined', 'paper'; got 'fast'.
    """
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {known}; got {shown(value)}.")


def check_count(name: str, value: object, least: int = 1) -> int:
    """Return `value` as an int, or raise a ValueError unless it is an integer >= `least`.

    Examples
    --------
    >>> check_count("n_neighbors", 0)
    Traceback (most recent call last):
    ...
    ValueError: n_neighbors must be an integer of at least 1; got 0.
    """
    if _is_integer(value) and value >= least:
        return int(value)
    raise ValueError(f"{name} must be an integer of at least {least}; got {shown(value)}.")


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_kind(name: str, value: object, kind: type, made_by: str) -> None:
    """Raise a TypeError unless `value` is None or of a kind; `made_by` says where to get one.

    Examples
    --------
    >>> check_kind("checkpoint", "file", dict, "of checkpoint_to")
    Traceback (most recent call last):
    ...
    TypeError: checkpoint must be None or the object of checkpoint_to; got 'file'.
    """
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be None or the object {made_by}; got {shown(value)}.")


def check_flag(name: str, value: object) -> bool:
    """Return `value` as a bool, or raise a ValueError unless it is True or False.

    Examples
    --------
    >>> check_flag("standardize", "no")
    Traceback (most recent call last):
    ...
    ValueError: standardize must be True or False; got 'no'.
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{name} must be True or False; got {shown(value)}.")


def check_verbose(value: object) -> int:
    """Return the parameter ``verbose`` as an int, or raise a ValueError.

    Examples
    --------
    >>> check_verbose(True), check_verbose(2)
    (1, 2)
    """
    if isinstance(value, (bool, np.bool_)) or (_is_integer(value) and value >= 0):
        return int(value)
    raise ValueError(
        f"verbose must be 0 (silent), 1 (stages) or 2 (iterations too); got {shown(value)}."
    )


def check_n_jobs(value: object) -> int | None:
    """Return the number of threads that ``n_jobs`` stands for; None is that of the process.

    Examples
    --------
    >>> check_n_jobs(None), check_n_jobs(2)
    (None, 2)
    >>> check_n_jobs(0)
    Traceback (most recent call last):
    ...
    ValueError: n_jobs must be None, a number of threads, or -1 for all; got 0.
    """
    if value is None:
        return None
    if _is_integer(value) and value != 0 and abs(value) <= _MOST_THREADS:
        return int(joblib.effective_n_jobs(int(value)))
    raise ValueError(
        f"n_jobs must be None, a number of threads, or -1 for all; got {shown(value)}."
    )


def check_positive(
    name: str, value: object, *, below: float = np.inf, or_zero: bool = False
) -> float:
    """Return `value` as a float, unless it is no finite number above 0 (or 0) and below a limit.

    Examples
    --------
    >>> check_positive("tol", -1.0)
    Traceback (most recent call last):
    ...
    ValueError: tol must be a finite number above 0; got -1.0.
    """
    if not isinstance(value, bool) and isinstance(value, numbers.Real):
        try:
            number = float(value)
        except OverflowError:  # an integer may be larger than every float
            number = np.inf
        if 0 < number < below or (or_zero and number == 0):
            return number
    least = "of at least 0" if or_zero else "above 0"
    most = f" and below {below:g}" if below < np.inf else ""
    raise ValueError(f"{name} must be a finite number {least}{most}; got {shown(value)}.")


def check_numbers(name: str, values: object, size: int, of: str) -> NDArray[np.float64]:
    """Return an array of floats, or raise a ValueError unless there is one for each column.

    Examples
    --------
    >>> check_numbers("idf", [1.0, 2.0], 3, "column")
    Traceback (most recent call last):
    ...
    ValueError: idf must have one number for each of the 3 columns; got [1.0, 2.0].
    """
    given = np.asarray(values)
    if given.shape != (size,) or given.dtype.kind not in "fiu" or not np.isfinite(given).all():
        raise ValueError(
            f"{name} must have one number for each of the {size} {of}s; got {shown(values)}."
        )
    return given.astype(np.float64, copy=False)


def check_n_clusters(value: object) -> NClusters:
    """Turn the parameter ``n_clusters`` into a pair of numbers for rows and columns.

    Examples
    --------
    >>> check_n_clusters(3), check_n_clusters((2, None))
    ((3, 3), (2, None))
    """
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    known = all(k is None or (_is_integer(k) and k >= 1) for k in pair)
    if len(pair) != 2 or not known:
        raise ValueError(
            "n_clusters must be None, an integer of at least 1 or a pair (rows, columns); got "
            f"{shown(value)}."
        )
    rows, columns = (None if k is None else int(k) for k in pair)
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


def check_labels(name: str, labels: object, size: int, of: str) -> NDArray[np.intp]:
    """Return labels as integers, or raise a ValueError unless there is one for each row.

    Examples
    --------
    >>> check_labels("row_labels", [0, 1], 3, "row")
    Traceback (most recent call last):
    ...
    ValueError: row_labels must have one integer of at least 0 for each of the 3 rows; got [0, 1].
    """
    given = np.asarray(labels)
    if given.shape != (size,) or given.dtype.kind not in "iu" or given.min(initial=0) < 0:
        raise ValueError(
            f"{name} must have one integer of at least 0 for each of the {size} {of}s; got "
            f"{shown(labels)}."
        )
    return given.astype(np.intp, copy=False)


def check_random_state(seed: object) -> np.random.RandomState:
    """Return a random generator; the global generator of NumPy is never used.

    Examples
    --------
    >>> check_random_state(0).randint(10)
    5
    """
    if isinstance(seed, np.random.RandomState):
        return seed
    if seed is None:
        return np.random.RandomState()
    if isinstance(seed, (int, np.integer)) and 0 <= seed < 2**32:
        return np.random.RandomState(int(seed))
    raise ValueError(
        "random_state must be None, an integer from 0 to 4294967295 or a RandomState; got "
        f"{shown(seed)}."
    )


def warn_not_converged(max_iter: int) -> None:
    """Warn that a fit ended because of its maximum number of iterations."""
    warnings.warn(
        f"The representation did not converge in max_iter={max_iter} iterations; increase "
        "max_iter for a more precise result.",
        ConvergenceWarning,
        stacklevel=4,
    )


def check_clusters_both(model: object, purpose: str) -> None:
    """Raise a TypeError unless a fitted model clusters rows and columns."""
    if not hasattr(model, "column_labels_"):
        raise TypeError(
            f"{type(model).__name__} clusters only the rows; {purpose} needs a model that "
            "clusters rows and columns, such as ROCCO."
        )


def check_fitted_shape(fitted: tuple[int, int], shape: tuple[int, ...]) -> None:
    """Raise a ValueError unless a matrix has the shape of the one that a model was fitted to."""
    if shape != fitted:
        raise ValueError(
            f"The model was fitted to a matrix of {fitted[0]} x {fitted[1]} cells, but this "
            f"matrix has {shape[0]} x {shape[1]}: pass the matrix of the fit."
        )
