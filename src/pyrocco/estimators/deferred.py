"""What a fit promises and makes only when it is asked for."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NoReturn

from scipy import sparse

# Cells by which a changed matrix is told from the one that was fitted.
_PROBES = 65_536


class Deferred:
    """A value that is made on first use, and kept.

    It is made before it is copied, pickled or saved, so that these never hold the recipe.

    Parameters
    ----------
    value : object, optional
        The value, where it is there already.
    make : callable, optional
        Makes it.

    Examples
    --------
    >>> later = Deferred(make=lambda: print("working") or 7)
    >>> later.value, later.value
    working
    (7, 7)
    """

    def __init__(self, value: Any = None, make: Callable[[], Any] | None = None):
        self._value = value
        self.make = make

    @property
    def value(self) -> Any:
        """The value."""
        if self.make is not None:
            self._value, self.make = self.make(), None
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        return Deferred, (self.value,)


class Source:
    """The matrix of a fit, for what is made of it later.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The matrix itself, not a copy.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3)
    >>> source = Source(X)
    >>> source.matrix() is X
    True
    >>> X += 1
    >>> source.matrix()
    Traceback (most recent call last):
        ...
    RuntimeError: The matrix was changed after the fit, and this needs it as it was. ...
    """

    def __init__(self, X: Any):
        self._X = X
        self._print = _fingerprint(X)

    def matrix(self) -> Any:
        """The matrix, if it is still the one that was fitted."""
        if _fingerprint(self._X) != self._print:
            raise RuntimeError(
                "The matrix was changed after the fit, and this needs it as it was. Fit a copy "
                "(model.fit(X.copy())), or ask before X is changed."
            )
        return self._X


def refuse_dask() -> NoReturn:
    """Say what a model of a Dask array is good for."""
    raise NotImplementedError(
        "A model that was fitted to a Dask array keeps its clusters, their means and its "
        "representation (Dask arrays, which to_zarr writes), and nothing else: fit a sample of "
        "the rows in memory to cut its clusters elsewhere, to explain them, to place new rows, "
        "to fill missing cells or to save the model."
    )


def _fingerprint(X: Any) -> int:
    parts = (X.data, X.indices) if sparse.issparse(X) else (X,)
    found = 0
    for part in parts:
        cells = part.reshape(-1)
        found = zlib.crc32(cells[:: max(1, len(cells) // _PROBES)].tobytes(), found)
    return found
