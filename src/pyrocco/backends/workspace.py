"""Arrays that the solves of one fit share."""

from __future__ import annotations

from typing import Any

from pyrocco.backends.base import Backend


class Workspace:
    """Keeps what a solver needs beside the system, so that no solve but the first makes it.

    It belongs to one fit and goes with it. Values do not survive from one solve to the next,
    and no solver may return an array of it.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends import NumpyBackend
    >>> workspace = Workspace()
    >>> first, second = workspace.like(np.ones((3, 2)), 2, NumpyBackend())
    >>> workspace.like(np.zeros((3, 2)), 1, NumpyBackend())[0] is first
    True
    """

    def __init__(self) -> None:
        self._arrays: list[Any] = []

    def like(self, U: Any, count: int, backend: Backend) -> list[Any]:
        """Return `count` arrays of the shape and type of `U`, their values unset."""
        if self._arrays and not _alike(self._arrays[0], U):
            self._arrays = []
        while len(self._arrays) < count:
            self._arrays.append(backend.empty_like(U))
        return self._arrays[:count]


def _alike(A: Any, B: Any) -> bool:
    return bool(A.shape == B.shape and A.dtype == B.dtype)
