"""The features of the last step: centred, of low rank, every row of length one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import Backend, ChunkedMatrix, NumpyBackend, map_rows, over_rows

# Up to this size of the shorter side the whole Gram matrix is decomposed.
_EXACT_SIDE = 512
# Beyond it, a few more vectors than are kept, multiplied by the matrix a few times.
_SPARE_VECTORS = 10
_POWER_STEPS = 5


def leading_features(U: Any, rank: int = 30, backend: Backend | None = None) -> Any:
    """Directions of the rows of `U` among its leading singular vectors.

    Column means are taken off first: what all rows share tells no row from another. Rows
    that equal the mean have no direction and stay at zero.

    Parameters
    ----------
    U : array of shape (n_rows, n_columns)
        A representation, or its transpose, on the back end.
    rank : int
        Singular vectors kept.
    backend : Backend, optional
        Where `U` lives; NumPy unless given.

    Returns
    -------
    ndarray or ChunkedMatrix of shape (n_rows, at most rank)

    Examples
    --------
    >>> import numpy as np
    >>> features = leading_features(np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 4.0]]))
    >>> bool(features[0] @ features[1] > 0 > features[1] @ features[3])
    True
    """
    scores = leading_scores(U, rank, backend)
    longest = max(over_rows(_longest, scores))
    return map_rows(partial(directions, longest=longest), scores)


def leading_scores(U: Any, rank: int = 30, backend: Backend | None = None) -> Any:
    """The rows of `U` less their mean, in the coordinates of its leading singular vectors.

    Parameters
    ----------
    U : array of shape (n_rows, n_columns)
        Data or a representation, or the transpose, on the back end.
    rank : int
        Singular vectors kept.
    backend : Backend, optional
        Where `U` lives; NumPy unless given.

    Returns
    -------
    ndarray or ChunkedMatrix of shape (n_rows, at most rank)

    Examples
    --------
    >>> import numpy as np
    >>> scores = leading_scores(np.array([[1.0, 0.0], [3.0, 0.0], [5.0, 0.0]]), 1)
    >>> np.abs(scores).round(6).tolist()
    [[2.0], [0.0], [2.0]]
    """
    backend = backend or NumpyBackend()
    return _scores(backend.centred(U), min(rank, *U.shape), backend)


def leading_axes(
    U: Any, rank: int = 30, backend: Backend | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Column means of `U` and its leading right singular vectors, by which rows get features.

    Parameters
    ----------
    U : array of shape (n_rows, n_columns)
        A representation, or its transpose, on the back end.
    rank : int
        Singular vectors at most; those of rounding error are left out.
    backend : Backend, optional
        Where `U` lives; NumPy unless given.

    Returns
    -------
    pair of ndarray
        Of shapes (n_columns,) and (n_columns, at most rank).

    Examples
    --------
    >>> import numpy as np
    >>> U = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 4.0]])
    >>> means, axes = leading_axes(U)
    >>> same = np.allclose(directions((U - means) @ axes), leading_features(U))
    >>> means.tolist(), same
    ([1.0, 1.5], True)
    """
    backend = backend or NumpyBackend()
    centred = backend.centred(U)
    means = backend.to_numpy(U[:1]) - backend.to_numpy(centred[:1])
    scores = _scores(centred, min(rank, *U.shape), backend)
    squares = np.square(scores).sum(axis=0, dtype=np.float64)
    kept = squares > np.finfo(scores.dtype).eps * squares.max(initial=0.0)
    there = backend.asarray(np.ascontiguousarray(scores[:, kept]))
    axes = np.asarray(backend.project(centred, there), dtype=np.float64)
    return np.asarray(means[0], dtype=np.float64), axes / squares[kept]


def directions(scores: NDArray[Any], longest: float | None = None) -> NDArray[Any]:
    """Rows made one long; those too short to tell from rounding become zero.

    `longest` is the length that rounding is measured by, that of the longest row unless given.

    Examples
    --------
    >>> import numpy as np
    >>> directions(np.array([[3.0, 4.0], [0.0, 1e-12]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(scores, axis=1, keepdims=True)
    longest = _longest(scores) if longest is None else longest
    # Below rounding error a row has no direction, only noise.
    noise = np.sqrt(np.finfo(scores.dtype).eps) * longest
    return np.asarray(np.where(lengths > noise, scores / np.maximum(lengths, noise or 1.0), 0))


def _scores(centred: Any, rank: int, backend: Backend) -> Any:
    """Left singular vectors times singular values, signs fixed by the values themselves."""
    n_rows, n_columns = centred.shape
    if n_columns <= min(n_rows, _EXACT_SIDE):
        _, vectors = np.linalg.eigh(backend.project(centred, centred))
        scores = backend.rotate(centred, vectors[:, : -rank - 1 : -1])
    elif n_rows <= _EXACT_SIDE:
        turned = backend.transpose(centred)
        values, vectors = np.linalg.eigh(backend.project(turned, turned))
        scores = vectors[:, : -rank - 1 : -1] * np.sqrt(np.maximum(values[: -rank - 1 : -1], 0))
        scores = scores.astype(backend.dtype(centred))
    else:
        scores = backend.rotate(centred, _leading_subspace(centred, rank, backend))
    scores = backend.narrow(scores)
    if isinstance(scores, ChunkedMatrix):
        scores = scores.persist()
    skew = sum(over_rows(_skew, scores))
    return map_rows(partial(_signed, signs=np.where(skew < 0, -1, 1)), scores)


def _longest(scores: NDArray[Any]) -> Any:
    return np.linalg.norm(scores, axis=1).max(initial=0.0)


def _skew(scores: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.einsum("ij,ij,ij->j", scores, scores, scores))


def _signed(scores: NDArray[Any], signs: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(scores * signs.astype(scores.dtype))


def _leading_subspace(centred: Any, rank: int, backend: Backend) -> NDArray[np.float64]:
    """Right singular vectors by power steps on a block (Halko, Martinsson and Tropp 2011)."""
    width = min(rank + _SPARE_VECTORS, *centred.shape)
    block = np.random.RandomState(0).standard_normal((centred.shape[1], width))
    for _ in range(_POWER_STEPS):
        basis = _orthonormal(block)
        block = backend.project(centred, backend.rotate(centred, basis))
    _, vectors = np.linalg.eigh(basis.T @ block)
    return np.asarray(basis @ vectors[:, : -rank - 1 : -1])


def _orthonormal(block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Basis of the columns of a tall block, by its small Gram matrix."""
    values, vectors = np.linalg.eigh(block.T @ block)
    return np.asarray(block @ (vectors / np.sqrt(np.maximum(values, 1e-14 * values[-1]))))
