"""The features of the last step: centred, of low rank, every row of length one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

# Up to this size of the shorter side an exact decomposition is as fast as a randomised one.
_EXACT_SIDE = 400


def leading_features(U: NDArray[Any], rank: int = 30) -> NDArray[Any]:
    """Directions of the rows of `U` among its leading singular vectors.

    Column means are taken off first: what all rows share tells no row from another. Rows
    that equal the mean have no direction and stay at zero.

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
    >>> features = leading_features(np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 4.0]]))
    >>> bool(features[0] @ features[1] > 0 > features[1] @ features[3])
    True
    """
    centred = U - U.mean(axis=0)
    scores = _scores(centred, min(rank, *centred.shape))
    # Below rounding error a row has no direction, only noise.
    floor = np.sqrt(np.finfo(U.dtype).eps) * np.abs(centred).max(initial=0.0)
    scores[np.linalg.norm(scores, axis=1) <= floor] = 0
    return np.asarray(normalize(scores, copy=False))


def _scores(centred: NDArray[Any], rank: int) -> NDArray[Any]:
    """Left singular vectors times singular values, signs fixed by the values themselves."""
    if min(centred.shape) <= _EXACT_SIDE:
        left, values, _ = np.linalg.svd(centred, full_matrices=False)
    else:
        left, values, _ = randomized_svd(centred, rank, n_iter=5, random_state=0)
    scores = left[:, :rank] * values[:rank]
    skew = np.einsum("ij,ij,ij->j", scores, scores, scores)
    return np.ascontiguousarray(scores * np.where(skew < 0, -1, 1).astype(scores.dtype))
