"""What must be the same for a fit to go on: program, data and parameters."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from pyrocco.backends import ChunkedMatrix
from pyrocco.checkpoint.errors import CheckpointError

__all__ = ["check_same", "identity"]

# They change what is printed and how many threads work, not what is found.
_NO_MATTER = ("verbose", "n_jobs")


def identity(estimator: Any, X: Any) -> dict[str, Any]:
    """Describe a fit.

    Parameters
    ----------
    estimator : estimator
        Its parameters count, but for those that only concern how it runs.
    X : ndarray or CSR matrix
        The data.

    Returns
    -------
    dict
        Only what JSON can hold.

    Raises
    ------
    CheckpointError
        The random numbers of the fit cannot be had again.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> identity(ROCCO(3), np.eye(2))["n_clusters"]
    3
    """
    parameters = estimator.get_params(deep=False)
    if not isinstance(parameters["random_state"], (int, np.integer)):
        raise CheckpointError(
            "a fit can only go on to the same labels if random_state is a whole number; got "
            f"{parameters['random_state']!r}"
        )
    return {
        "version of pyrocco": version("pyrocco"),
        "matrix": _digest(X),
        **{name: _said(value) for name, value in parameters.items() if name not in _NO_MATTER},
    }


def check_same(path: Path, then: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to go on with another fit.

    Parameters
    ----------
    path : Path
        The checkpoint, for the message.
    then, now : dict
        The fit that was stopped and this one, as `identity` describes them.

    Raises
    ------
    CheckpointError
        Names the first difference.

    Examples
    --------
    >>> check_same(Path("night.pyrocco"), {"n_neighbors": 10}, {"n_neighbors": 7})
    Traceback (most recent call last):
    pyrocco.checkpoint.errors.CheckpointError: night.pyrocco: is of a fit with another \
n_neighbors (10 then, 7 now): repeat what was the case then, or delete the file to start anew
    """
    differing = [name for name in now if then.get(name) != now[name]]
    if not differing:
        return
    first = differing[0]
    change = "" if first == "matrix" else f" ({then.get(first)} then, {now[first]} now)"
    raise CheckpointError(
        f"{path}: is of a fit with another {first}{change}: repeat what was the case then, or "
        "delete the file to start anew"
    )


def _digest(X: Any) -> str:
    if isinstance(X, ChunkedMatrix):
        # Where it is cut is part of it: blocks that were kept fit no others.
        blocks = [X.ends.tolist(), *X.results(_digest)]
        return hashlib.sha256(str(blocks).encode()).hexdigest()
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    digest = hashlib.sha256(str(X.shape).encode())
    for part in parts:
        digest.update(str(part.dtype).encode())
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def _said(value: Any) -> Any:
    """A parameter in words that are the same in every run."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [_said(part) for part in value]
    # A solver or a back end: its name and what plain numbers and texts it was made of.
    plain = {
        name: part
        for name, part in getattr(value, "__dict__", {}).items()
        if isinstance(part, (bool, int, float, str))
    }
    return f"{type(value).__name__}{plain}"
