"""Features of all rows from the singular vectors of a few: one product with the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.assign.features import directions

# Rows whose singular vectors stand for those of all.
_SKETCH_ROWS = 200
# Share of the largest eigenvalue below which an eigenvector is made of rounding errors.
_SOUND = 1e-12


def sketched_features(U: NDArray[Any], rank: int = 20) -> NDArray[Any]:
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
    mean = U.mean(axis=0)
    some = U[_spread(U, mean)].astype(np.float64) - mean
    vectors = _right_vectors(some, min(rank, *U.shape)).astype(U.dtype)
    # The mean is taken off the product: a copy of the matrix would take longer than that.
    return directions(U @ vectors - mean @ vectors)


def _right_vectors(some: NDArray[np.float64], rank: int) -> NDArray[np.float64]:
    """Leading right singular vectors of a few rows; zeros where rounding has the say."""
    values, vectors = np.linalg.eigh(some @ some.T)
    values, vectors = values[: -rank - 1 : -1], vectors[:, : -rank - 1 : -1]
    sound = values > _SOUND * values[0]
    lengths = np.sqrt(np.where(sound, values, 1.0))
    return np.asarray(some.T @ (vectors * (sound / lengths)))


def _spread(U: NDArray[Any], mean: NDArray[Any]) -> NDArray[np.intp]:
    """Some of the rows, at even steps from the nearest to the mean to the farthest."""
    order = np.argsort(np.einsum("ij,ij->i", U, U) - 2 * (U @ mean), kind="stable")
    steps = np.linspace(0, len(order) - 1, min(_SKETCH_ROWS, len(order))).round()
    return np.asarray(order[steps.astype(np.intp)])
