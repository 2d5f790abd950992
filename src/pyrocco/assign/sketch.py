"""Features of all rows from the singular vectors of a few: one product with the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.features import directions

# Rows whose singular vectors stand for those of all.
_SKETCH_ROWS = 256
# Share of the largest eigenvalue below which an eigenvector is made of rounding errors.
_SOUND = 1e-12


def sketched_features(U: NDArray[Any], rank: int = 30) -> NDArray[Any]:
    """Directions of the rows of `U` among the leading singular vectors of some of them.

    Like `leading_features`, and the same for a few rows; for many it takes a fraction of
    the time. The rows looked at are spread evenly from the nearest to the mean to the
    farthest, so that they do not depend on the order of the rows.

    Parameters
    ----------
    U : ndarray of shape (n_rows, n_columns)
        A representation, or its transpose.
    rank : int
        Singular vectors kept.

    Returns
    -------
    ndarray of shape (n_rows, at most rank)

    Examples
    --------
    >>> import numpy as np
    >>> features = sketched_features(np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 4.0]]))
    >>> bool(features[0] @ features[1] > 0 > features[1] @ features[3])
    True
    """
    centred = U - U.mean(axis=0)
    vectors = _right_vectors(_spread(centred).astype(np.float64), min(rank, *U.shape))
    return directions(centred @ vectors.astype(U.dtype))


def _right_vectors(some: NDArray[np.float64], rank: int) -> NDArray[np.float64]:
    """Leading right singular vectors of a few rows; zeros where rounding has the say."""
    values, vectors = np.linalg.eigh(some @ some.T)
    values, vectors = values[: -rank - 1 : -1], vectors[:, : -rank - 1 : -1]
    sound = values > _SOUND * values[0]
    lengths = np.sqrt(np.where(sound, values, 1.0))
    return np.asarray(some.T @ (vectors * (sound / lengths)))


def _spread(centred: NDArray[Any]) -> NDArray[Any]:
    """Rows from the shortest to the longest, at even steps."""
    order = np.argsort(np.einsum("ij,ij->i", centred, centred), kind="stable")
    steps = np.linspace(0, len(order) - 1, min(_SKETCH_ROWS, len(order))).round()
    return np.asarray(centred[order[steps.astype(np.intp)]])
