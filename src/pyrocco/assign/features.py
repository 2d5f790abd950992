"""Features of rows: centred, of low rank, and optionally scaled to unit length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from pyrocco._typing import Array, Dense, Floats, Labels, is_sparse
from pyrocco.backends import Backend, ChunkedMatrix, NumpyBackend, map_rows, over_rows

# Number of features of a row.
N_FEATURES = 30
# Up to this size of the shorter side the whole Gram matrix is decomposed.
_EXACT_SIDE = 512
# Randomised subspace iteration: additional vectors and number of power steps.
_SPARE_VECTORS = 10
_POWER_STEPS = 5
# Sketch: number of rows, and the share of the largest eigenvalue that is rounding error.
_SKETCH_ROWS = 200
_SKETCH_ROUNDING = 1e-12


def leading_features(U: Array, rank: int = N_FEATURES, backend: Backend | None = None) -> Any:
    """Project the rows of `U` on its leading singular vectors and scale them to length 1.

    Column means are subtracted first. Rows that are equal to the mean stay at zero.

    Parameters
    ----------
    U : array of shape (n_rows, n_columns)
        The data or a representation, or the transpose, on the back end.
    rank : int
        Maximum number of singular vectors.
    backend : Backend, optional
        Where `U` is; NumPy by default.

    Returns
    -------
    array of shape (n_rows, at most rank)

    Examples
    --------
    >>> import numpy as np
    >>> features = leading_features(np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [0.0, 4.0]]))
    >>> bool(features[0] @ features[1] > 0 > features[1] @ features[3])
    True
    """
    return unit_rows(leading_scores(U, rank, backend))


def unit_rows(scores: Array) -> Any:
    """Scale rows to length 1, in memory or in chunks (see `directions`)."""
    longest = max(over_rows(_longest, scores))
    return map_rows(partial(directions, longest=longest), scores)


def leading_scores(U: Array, rank: int = N_FEATURES, backend: Backend | None = None) -> Any:
    """Project the rows of `U`, minus their mean, on its leading singular vectors."""
    place: Backend = backend or NumpyBackend()
    return _scores(_centred(U, place), min(rank, *U.shape), place)


def leading_axes(
    U: Array, rank: int = N_FEATURES, backend: Backend | None = None
) -> tuple[Floats, Floats]:
    """Return column means and leading right singular vectors, without those of rounding errors."""
    place: Backend = backend or NumpyBackend()
    values = place.centred(U)
    means = place.to_numpy(U[:1]) - place.to_numpy(values[:1])
    scores = _scores(CentredArray(values, place), min(rank, *U.shape), place)
    squares = np.square(scores).sum(axis=0, dtype=np.float64)
    sound = squares > np.finfo(scores.dtype).eps * squares.max(initial=0.0)
    there = place.asarray(np.ascontiguousarray(scores[:, sound]))
    axes = np.asarray(place.project(values, there), dtype=np.float64)
    return np.asarray(means[0], dtype=np.float64), axes / squares[sound]


def directions(scores: Dense, longest: float | None = None) -> Dense:
    """Scale rows to length 1; rows that are rounding errors next to the `longest` become zero."""
    lengths = np.linalg.norm(scores, axis=1, keepdims=True)
    longest = _longest(scores) if longest is None else longest
    noise = np.sqrt(np.finfo(scores.dtype).eps) * longest
    return np.asarray(np.where(lengths > noise, scores / np.maximum(lengths, noise or 1.0), 0))


def shortened(scores: Dense) -> Dense:
    """Scale rows to lengths below 1: short rows less than long ones, relative to the median.

    This is between rows of length 1, whose direction alone counts, and rows as they are.
    """
    lengths = np.linalg.norm(scores, axis=1, keepdims=True)
    reach = np.hypot(lengths, np.median(lengths))
    return np.asarray(np.divide(scores, reach, out=np.zeros_like(scores), where=reach > 0))


def at_unit_scale(scores: Dense) -> Dense:
    """Divide all rows by the root mean square of their lengths."""
    size = np.sqrt(np.square(scores).sum(axis=1).mean())
    return np.asarray(scores / (size or 1.0))


class Centred(Protocol):
    """A matrix minus the means of its columns, and products with it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and of columns."""

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the values."""

    def rotate(self, vectors: Floats) -> Any:
        """Multiply by a matrix of few columns, on the back end."""

    def project(self, rows: Any) -> Floats:
        """Multiply the transpose by a matrix of few columns on the back end."""

    def gram(self) -> Floats:
        """Return the inner products of all columns."""

    def row_gram(self) -> Floats:
        """Return the inner products of all rows."""


@dataclass(frozen=True)
class CentredArray:
    """A centred copy of a dense matrix.

    Parameters
    ----------
    values : array
        The copy, on the back end.
    backend : Backend
        Where it is.
    """

    values: Array
    backend: Backend

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and of columns."""
        return self.values.shape

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the values."""
        return self.backend.dtype(self.values)

    def rotate(self, vectors: Floats) -> Any:
        """Multiply by a matrix of few columns, on the back end."""
        return self.backend.rotate(self.values, vectors)

    def project(self, rows: Any) -> Floats:
        """Multiply the transpose by a matrix of few columns on the back end."""
        return self.backend.project(self.values, rows)

    def gram(self) -> Floats:
        """Return the inner products of all columns."""
        return self.backend.project(self.values, self.values)

    def row_gram(self) -> Floats:
        """Return the inner products of all rows."""
        transposed = self.values.T  # a view: a copy of a wide matrix would take longer
        return self.backend.project(transposed, transposed)


class CentredSparse:
    """A sparse matrix whose column means are subtracted from products, not from its values.

    Parameters
    ----------
    matrix : CSR matrix
        The values.

    Examples
    --------
    >>> from scipy import sparse
    >>> CentredSparse(sparse.csr_array([[1.0, 0.0], [3.0, 0.0]])).rotate(np.eye(2)).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    def __init__(self, matrix: Any):
        self._matrix = matrix
        self._means = np.asarray(matrix.mean(axis=0, dtype=np.float64)).ravel()

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and of columns."""
        return tuple(self._matrix.shape)

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the values."""
        return self._matrix.dtype

    def rotate(self, vectors: Floats) -> Dense:
        """Multiply by a matrix of few columns."""
        products = self._matrix @ vectors - self._means @ vectors
        return np.asarray(products, dtype=self._matrix.dtype)

    def project(self, rows: Dense) -> Floats:
        """Multiply the transpose by a matrix of few columns."""
        return np.asarray(self._matrix.T @ rows - np.outer(self._means, rows.sum(axis=0)))

    def gram(self) -> Floats:
        """Return the inner products of all columns."""
        products = (self._matrix.T @ self._matrix).toarray().astype(np.float64)
        return np.asarray(products - self.shape[0] * np.outer(self._means, self._means))

    def row_gram(self) -> Floats:
        """Return the inner products of all rows."""
        products = (self._matrix @ self._matrix.T).toarray().astype(np.float64)
        own = self._matrix @ self._means
        return np.asarray(products - own - own[:, None] + self._means @ self._means)


def _centred(U: Any, backend: Backend) -> Centred:
    return CentredSparse(U) if is_sparse(U) else CentredArray(backend.centred(U), backend)


def _scores(centred: Centred, rank: int, backend: Backend) -> Any:
    """Return left singular vectors times singular values, with signs that data determine."""
    n_rows, n_columns = centred.shape
    if n_columns <= min(n_rows, _EXACT_SIDE):
        _, vectors = np.linalg.eigh(centred.gram())
        scores = centred.rotate(vectors[:, : -rank - 1 : -1])
    elif n_rows <= _EXACT_SIDE:
        values, vectors = np.linalg.eigh(centred.row_gram())
        scores = vectors[:, : -rank - 1 : -1] * np.sqrt(np.maximum(values[: -rank - 1 : -1], 0))
        scores = scores.astype(centred.dtype)
    else:
        scores = centred.rotate(_leading_subspace(centred, rank))
    scores = backend.narrow(scores)
    if isinstance(scores, ChunkedMatrix):
        scores = scores.persist()
    skew = sum(over_rows(_skew, scores))
    return map_rows(partial(_signed, signs=np.where(skew < 0, -1, 1)), scores)


def _longest(scores: Dense) -> float:
    return np.linalg.norm(scores, axis=1).max(initial=0.0)  # type: ignore[no-any-return]


def _skew(scores: Dense) -> Dense:
    return np.asarray(np.einsum("ij,ij,ij->j", scores, scores, scores))


def _signed(scores: Dense, signs: Labels) -> Dense:
    return np.ascontiguousarray(scores * signs.astype(scores.dtype))


def _leading_subspace(centred: Centred, rank: int) -> Floats:
    """Compute right singular vectors by subspace iteration (Halko, Martinsson, Tropp 2011)."""
    width = min(rank + _SPARE_VECTORS, *centred.shape)
    image = np.random.RandomState(0).standard_normal((centred.shape[1], width))
    for _ in range(_POWER_STEPS):
        basis = _orthonormal(image)
        image = centred.project(centred.rotate(basis))
    _, vectors = np.linalg.eigh(basis.T @ image)
    return np.asarray(basis @ vectors[:, : -rank - 1 : -1])


def _orthonormal(columns: Floats) -> Floats:
    """Return an orthonormal basis of the columns of a tall matrix, from its Gram matrix."""
    values, vectors = np.linalg.eigh(columns.T @ columns)
    return np.asarray(columns @ (vectors / np.sqrt(np.maximum(values, 1e-14 * values[-1]))))


def sketched_features(U: Dense, rank: int = 20) -> Dense:
    """Approximate `leading_features` with the singular vectors of a sample of rows.

    For few rows the features are the same; for many rows they take a fraction of the time. The
    sample is spread evenly over the distances to the mean, so that it does not depend on the
    order of the rows.
    """
    mean = U.mean(axis=0)
    some = U[_evenly_spread(U, mean)].astype(np.float64) - mean
    vectors = _right_vectors(some, min(rank, *U.shape)).astype(U.dtype)
    # The mean is subtracted from the product: a centred copy of U would cost more.
    return directions(U @ vectors - mean @ vectors)


def _right_vectors(some: Floats, rank: int) -> Floats:
    """Return the leading right singular vectors of few rows, with zeros for rounding errors."""
    values, vectors = np.linalg.eigh(some @ some.T)
    values, vectors = values[: -rank - 1 : -1], vectors[:, : -rank - 1 : -1]
    sound = values > _SKETCH_ROUNDING * values[0]
    lengths = np.sqrt(np.where(sound, values, 1.0))
    return np.asarray(some.T @ (vectors * (sound / lengths)))


def _evenly_spread(U: Dense, mean: Dense) -> Labels:
    """Return some rows at even steps from the nearest to the mean to the farthest."""
    order = np.argsort(np.einsum("ij,ij->i", U, U) - 2 * (U @ mean), kind="stable")
    steps = np.linspace(0, len(order) - 1, min(_SKETCH_ROWS, len(order))).round()
    return np.asarray(order[steps.astype(np.intp)])
