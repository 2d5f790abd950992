"""The back end for matrices in chunks of rows, in files or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from operator import getitem
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from pyrocco._typing import Dense, Floats, Labels, Matrix
from pyrocco.backends import kernels
from pyrocco.backends.base import LaplacianArrays, LinearSystem, Operator, Sums, squared_norm
from pyrocco.backends.chunked.matrix import (
    Chunked,
    ChunkedMatrix,
    ChunkedTranspose,
    Rotation,
    Store,
    dense,
    total,
)
from pyrocco.backends.chunked.rechunk import Rechunk
from pyrocco.backends.numpy import PANEL, NumpyBackend, slices

System: TypeAlias = LinearSystem[ChunkedMatrix]
# The diagonal of a system: a part for the rows of a chunk, and a part for the columns.
Diagonal: TypeAlias = tuple[Dense, Dense]

# Arrays of the height of the matrix that the work on a panel needs at the same time.
_PANEL_ARRAYS = 9
# Panels per worker, so that no worker is idle while the hardest panel is solved.
_PANELS_EACH = 2
# Size of a chunk, and the number of chunks that some work needs at the same time.
_CHUNK_BYTES = 2**26
_CHUNKS_AT_ONCE = 16


class ChunkedBackend:
    """Operations on `ChunkedMatrix`. `BackendOf` documents the methods.

    Writing into an array replaces its chunks. Small arrays, such as those of the columns or of a
    few features, are NumPy arrays in this process. The whole matrix never is.
    """

    name = "chunked"
    in_one_place = False

    def __init__(self, store: Store):
        self.store = store
        self.local = NumpyBackend()

    def asarray(self, X: Matrix | Chunked) -> Any:
        """Return dense chunks; arrays in this process stay here."""
        if isinstance(X, ChunkedMatrix):
            return X.then(dense)
        return X if isinstance(X, ChunkedTranspose) else self.local.asarray(X)

    def operand(self, X: Matrix | Chunked) -> Any:
        """Return dense chunks."""
        return self.asarray(X)

    def to_numpy(self, U: ChunkedMatrix | Dense) -> Dense:
        """Return an array of few columns in this process."""
        return np.concatenate(U.results(dense)) if isinstance(U, ChunkedMatrix) else np.asarray(U)

    def narrow(self, U: ChunkedMatrix) -> ChunkedMatrix:
        return U

    def snapshot(self, U: ChunkedMatrix) -> ChunkedMatrix:
        return replace(U.persist())

    def dtype(self, U: ChunkedMatrix) -> np.dtype[Any]:
        return U.dtype

    def copy(self, U: ChunkedMatrix) -> ChunkedMatrix:
        """Return another matrix with the same chunks, which are never changed."""
        return replace(U)

    def empty_like(self, U: ChunkedMatrix) -> ChunkedMatrix:
        return replace(U)

    def overwrite(self, U: ChunkedMatrix, values: ChunkedMatrix) -> None:
        """Replace the chunks of `U` by those of another matrix, after all its steps."""
        U.assign(values.persist())

    def transpose(self, U: Dense | Chunked) -> Any:
        """Return the transpose; chunks are not moved."""
        return U.T if isinstance(U, Chunked) else self.local.transpose(U)

    def centred(self, U: Chunked) -> Any:
        if isinstance(U, ChunkedTranspose):
            return U.matrix.then(_without_row_means).T
        means = U.total(_column_sums) / len(U)
        return U.then(partial(_minus, means=means.astype(U.dtype)))

    def squared_norm(self, U: ChunkedMatrix) -> float:
        return float(sum(U.results(_squared_norm)))

    def squared_distance(self, X: ChunkedMatrix, U: ChunkedMatrix) -> float:
        return float(sum(self._paired(partial(_local, "squared_distance"), X, U)))

    def matrix_norm(self, U: ChunkedMatrix) -> float:
        """Compute the spectral norm from the Gram matrix of the columns."""
        return float(np.sqrt(max(np.linalg.eigvalsh(U.total(gram))[-1], 0.0)))

    def project(self, U: Chunked, Y: Dense | Chunked) -> Floats:
        """Compute U^T Y; if U is a transpose, by a product with every chunk."""
        if isinstance(U, ChunkedTranspose):
            # Only matrices with few rows are multiplied by their own transpose.
            right = Y if isinstance(Y, np.ndarray) else self.to_numpy(cast(ChunkedMatrix, Y.T)).T
            return np.asarray(self.to_numpy(self.rotate(U.matrix, right)), dtype=np.float64)
        if isinstance(Y, np.ndarray):
            return np.asarray(U.total(_product, Y))
        if Y is U or isinstance(Y, ChunkedTranspose):
            return np.asarray(U.total(gram))
        return _sum(self._paired(_product, U, Y))

    def rotate(
        self, U: Chunked, V: Dense, transposed: bool = False, out: ChunkedMatrix | None = None
    ) -> Any:
        """Multiply by a small matrix; if U is a transpose, by one with as many rows as U."""
        matrix = V.astype(U.dtype).T if transposed else V.astype(U.dtype)
        if isinstance(U, ChunkedTranspose):
            return U.matrix.total(_product, matrix).astype(U.dtype)
        rotated = U.then(Rotation(matrix), matrix.shape[1])
        if out is None:
            return rotated
        out.assign(rotated)
        return out

    def nearest_centres(
        self, rows: Dense | ChunkedMatrix, centres: Dense
    ) -> tuple[Labels, Floats]:
        if not isinstance(rows, ChunkedMatrix):
            return self.local.nearest_centres(rows, centres)
        results = rows.results(partial(_local, "nearest_centres", centres=centres))
        labels, sums = zip(*results, strict=True)
        return np.concatenate(labels), _sum(sums)

    def content_keys(self, X: ChunkedMatrix, axis: int) -> NDArray[np.uint64]:
        if axis == 0:
            return np.concatenate(X.results(partial(_local, "content_keys", axis=0)))
        largest = np.max(X.results(_column_sizes), axis=0)
        return np.asarray(X.total(partial(_column_keys, largest=largest)))

    def edge_lengths(self, U: ChunkedMatrix, heads: Labels, tails: Labels, axis: int) -> Floats:
        """Compute the squared lengths of edges: a sum over chunks, or for rows over panels."""
        ends = self.store.put(heads), self.store.put(tails)
        lengths = partial(_local, "edge_lengths", axis=axis)
        if axis:
            parts = [U.submit(i, lengths, *ends) for i in range(len(U.chunks))]
        else:
            panels = self._rechunk(U).to_panels(U)
            parts = [self.store.submit(lengths, pieces, *ends) for pieces in panels]
        return np.asarray(total(parts, self.store))

    def operator(self, laplacian: LaplacianArrays, strength: float, dtype: DTypeLike) -> Operator:
        return self.local.operator(laplacian, strength, dtype)

    def over_panels(
        self,
        work: Callable[..., Any],
        operator: Operator,
        shifts: Floats,
        F: ChunkedMatrix,
        Y: ChunkedMatrix,
    ) -> list[Any]:
        """Re-chunk from chunks of rows to panels of columns, do the work, and re-chunk back."""
        rechunk, graph = self._rechunk(F), self.store.put(operator)
        factor = _multiple(F, Y)
        # The first start is the data itself, which then need not be sent twice.
        fixed = [factor] * len(rechunk.panels) if factor else rechunk.to_panels(F)
        solved = [
            self.store.submit(_solve_panel, work, graph, shifts[columns], *pieces)
            for columns, *pieces in zip(rechunk.panels, fixed, rechunk.to_panels(Y), strict=True)
        ]
        outcomes = [self.store.submit(getitem, panel, 1) for panel in solved]
        Y.assign(Y.with_chunks(rechunk.to_chunks(solved), np.hstack))
        # A panel can be removed as soon as it is cut into chunks.
        del solved
        return [outcome for part in self.store.fetch(outcomes) for outcome in part]

    def apply(self, system: System, U: ChunkedMatrix, out: ChunkedMatrix) -> float:
        """Compute the left-hand side of the system.

        The graph of the rows couples all chunks. Its product is computed on panels of columns, so
        that every step re-chunks the matrix once each way; all the rest stays within chunks.
        """
        rows, columns = self.store.put(system.rows), self.store.put(system.columns)
        rechunk = self._rechunk(U)
        panels = [self.store.submit(_row_product, p, rows) for p in rechunk.to_panels(U)]
        coupled = U.with_chunks(rechunk.to_chunks(panels), np.hstack)
        del panels
        out.assign(U.with_chunks(U.submit_pairs(coupled, _left_side, columns, system.shift)))
        return float(sum(self._paired(_inner, U, out)))

    def begin(self, system: System, U: ChunkedMatrix, R: ChunkedMatrix, D: ChunkedMatrix) -> Sums:
        self.apply(system, U, R)
        R.assign(R.with_chunks(system.X.submit_pairs(R, _residual, system.shift)))
        return self.direction(system, R, D, 0.0)

    def direction(
        self, system: System, R: ChunkedMatrix, D: ChunkedMatrix, momentum: float
    ) -> Sums:
        diagonals = self._diagonals(system, R)
        chunks = [
            R.submit_with(D, i, _direction, diagonal, momentum)
            for i, diagonal in enumerate(diagonals)
        ]
        D.assign(R.with_chunks(chunks))
        return self._sums(system, R)

    def advance(
        self,
        system: System,
        U: ChunkedMatrix,
        R: ChunkedMatrix,
        D: ChunkedMatrix,
        image: ChunkedMatrix,
        step: float,
    ) -> Sums:
        U.assign(U.with_chunks(U.submit_pairs(D, _plus, step)))
        R.assign(R.with_chunks(R.submit_pairs(image, _plus, -step)))
        return self._sums(system, R)

    def _sums(self, system: System, R: ChunkedMatrix) -> Sums:
        """Compute <R, R / diagonal> and <R, R>."""
        diagonals = enumerate(self._diagonals(system, R))
        sums = self.store.fetch([R.submit(i, _squares, diagonal) for i, diagonal in diagonals])
        return float(sum(a for a, _ in sums)), float(sum(b for _, b in sums))

    def _diagonals(self, system: System, R: ChunkedMatrix) -> list[Diagonal]:
        """Return the diagonal of the system for every chunk."""
        rows, columns = system.rows.degrees + system.shift, system.columns.degrees
        return [(part, columns) for part in np.split(rows, R.ends[1:-1])]

    def _paired(self, work: Callable[..., Any], A: ChunkedMatrix, B: ChunkedMatrix) -> list[Any]:
        """Return the results of work on every two chunks with the same rows."""
        return self.store.fetch(A.submit_pairs(B, work))

    def _rechunk(self, U: ChunkedMatrix) -> Rechunk:
        """Choose panels that fit into memory, some for every worker, of whole cache lines."""
        n_rows, n_columns = U.shape
        fitting = self.store.memory // (_PANEL_ARRAYS * n_rows * U.dtype.itemsize)
        share = -(-n_columns // (_PANELS_EACH * self.store.n_workers))
        width = min(fitting, -(-share // PANEL) * PANEL)
        return Rechunk(self.store, U.ends, slices(n_columns, max(1, width)))


def even_ends(n_rows: int, row_bytes: int, store: Store) -> Labels:
    """Choose equal chunks of which several fit into the memory for one piece of work."""
    fitting = max(1, min(_CHUNK_BYTES, store.memory // _CHUNKS_AT_ONCE) // max(1, row_bytes))
    count = max(-(-n_rows // fitting), min(n_rows, _PANELS_EACH * store.n_workers))
    return np.linspace(0, n_rows, count + 1).round().astype(np.intp)


def _multiple(F: ChunkedMatrix, Y: ChunkedMatrix) -> float | None:
    """Return the factor by which `F` is `Y` if both are products of the same chunks, or None."""
    if F.chunks is not Y.chunks or not (F.steps and Y.steps) or F.steps[:-1] != Y.steps[:-1]:
        return None
    left, right = F.steps[-1], Y.steps[-1]
    if not (isinstance(left, Rotation) and isinstance(right, Rotation)):
        return None
    largest = np.abs(right.matrix).argmax()
    factor = float(left.matrix.flat[largest] / right.matrix.flat[largest])
    return factor if np.array_equal(left.matrix, factor * right.matrix) else None


def _sum(parts: list[Dense] | tuple[Dense, ...]) -> Floats:
    return np.asarray(reduce(np.add, parts), dtype=np.float64)


# The functions below are the work on one chunk of rows, or on one panel of columns. Each takes
# plain arrays and returns new ones, so that a chunk that is lost can be computed again.


def gram(chunk: Matrix) -> Floats:
    """Compute chunk^T chunk."""
    return _product(chunk, chunk)


def _product(chunk: Matrix, other: Matrix) -> Floats:
    return np.asarray(dense(chunk.T @ other), dtype=np.float64)


def _squared_norm(chunk: Matrix) -> float:
    values = np.atleast_2d(chunk.data) if sparse.issparse(chunk) else chunk
    return squared_norm(values)


def _local(method: str, chunk: Matrix | list[Dense], *arguments: Matrix, **options: Any) -> Any:
    """Call a method of the NumPy back end on a chunk, or on the pieces of a panel."""
    array = np.concatenate(chunk) if isinstance(chunk, list) else dense(chunk)
    return getattr(NumpyBackend(), method)(array, *arguments, **options)


def _column_sums(chunk: Matrix) -> Floats:
    return np.asarray(chunk.sum(axis=0, dtype=np.float64)).ravel()


def _without_row_means(chunk: Dense) -> Dense:
    means = chunk.mean(axis=1, dtype=np.float64, keepdims=True)
    return np.asarray(chunk - means.astype(chunk.dtype))


def _minus(chunk: Matrix, means: Dense) -> Dense:
    return np.asarray(chunk - means)


def _column_sizes(chunk: Matrix) -> Floats:
    return np.asarray(kernels.hashing.largest_cells(dense(chunk), 1))


def _column_keys(chunk: Matrix, largest: Floats) -> NDArray[np.uint64]:
    return np.asarray(kernels.hashing.content_keys(dense(chunk), largest, 1))


def _solve_panel(
    work: Callable[..., Any],
    operator: Operator,
    shifts: Floats,
    fixed: list[Dense] | float,
    start: list[Dense],
) -> tuple[Dense, list[Any]]:
    """Return the solution on a panel and the outcomes; a number `fixed` multiplies the start."""
    Y = np.concatenate(start)
    F = Y * Y.dtype.type(fixed) if isinstance(fixed, float) else np.concatenate(fixed)
    outcomes = NumpyBackend().over_panels(work, operator, shifts, F, Y)
    return Y, outcomes


def _row_product(pieces: list[Dense], operator: Operator) -> Dense:
    """Compute P times a panel of columns."""
    panel = np.concatenate(pieces)
    image = np.empty_like(panel)
    kernels.linear_systems.shifted_apply(
        panel, image, np.zeros(panel.shape[1], panel.dtype), *operator
    )
    return image


def _left_side(chunk: Matrix, coupled: Dense, columns: Operator, shift: float) -> Dense:
    """Compute shift times a chunk, plus the chunk times Q, plus the product with P."""
    transposed = np.ascontiguousarray(dense(chunk).T)
    image = np.empty_like(transposed)
    shifts = np.full(transposed.shape[1], shift, transposed.dtype)
    kernels.linear_systems.shifted_apply(transposed, image, shifts, *columns)
    return np.asarray(np.add(image.T, coupled, order="C"))


def _inner(chunk: Dense, other: Dense) -> float:
    return float(np.einsum("ij,ij->", chunk, other, dtype=np.float64))


def _residual(chunk: Dense, image: Dense, shift: float) -> Dense:
    return np.asarray(chunk * chunk.dtype.type(shift) - image)


def _plus(chunk: Dense, other: Dense, factor: float) -> Dense:
    return np.asarray(chunk + other * chunk.dtype.type(factor))


def _direction(R: Dense, D: Dense, diagonal: Diagonal, momentum: float) -> Dense:
    scaled = R / np.add.outer(*diagonal)
    return np.asarray(scaled + D * R.dtype.type(momentum) if momentum else scaled)


def _squares(R: Dense, diagonal: Diagonal) -> Sums:
    return _inner(R, R / np.add.outer(*diagonal)), _inner(R, R)
