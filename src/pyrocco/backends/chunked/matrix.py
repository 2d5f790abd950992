"""A matrix in chunks of rows, which may be in files or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import getitem
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pyrocco._typing import Dense, Labels, Matrix

# A function that is applied to every chunk whenever it is used.
Step: TypeAlias = Callable[[Any], Any]
# Rows of a matrix to select: a slice, indices or a mask.
Rows: TypeAlias = "slice | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]"


class Store(Protocol):
    """Holds chunks and runs work on them.

    Work must depend on its arguments only, because a chunk that is lost is computed again.
    A chunk in a store is opaque: `fetch` returns its content.
    """

    n_workers: int
    memory: int  # bytes that one piece of work may take

    def submit(self, work: Callable[..., Any], *arguments: object) -> Any:
        """Start some work on chunks and values; return the chunk that will hold its result."""

    def put(self, value: object) -> Any:
        """Store a value that much work will use."""

    def fetch(self, chunks: Sequence[Any]) -> list[Any]:
        """Return the contents of chunks, once they are computed."""


@dataclass
class Rotation:
    """The step that multiplies a chunk by a matrix. Some columns can be computed alone."""

    matrix: Dense
    _stored: Any = field(default=None, compare=False, repr=False)

    def __call__(self, chunk: Matrix) -> Dense:
        """Multiply."""
        return np.asarray(chunk @ self.matrix)

    def columns(self, wanted: slice) -> Rotation:
        """Return the step that computes only some columns of the product."""
        return Rotation(np.ascontiguousarray(self.matrix[:, wanted]))

    def stored(self, store: Store) -> Any:
        """Return the step as a chunk, so that it is not sent along with the work on each chunk."""
        if self._stored is None:
            self._stored = store.put(Rotation(self.matrix))
        return self._stored


@dataclass(frozen=True)
class Columns:
    """The step that selects some columns."""

    wanted: slice

    def __call__(self, chunk: Matrix) -> Matrix:
        """Select the columns."""
        part = chunk[:, self.wanted]
        return part if sparse.issparse(part) else np.ascontiguousarray(part)


@dataclass
class ChunkedMatrix:
    """A matrix in chunks of rows, with steps that are applied to a chunk whenever it is used."""

    store: Store
    chunks: list[Any]  # a list of chunks in place of one if the first step joins them
    ends: Labels  # first row of each chunk, and the number of rows at the end
    n_columns: int  # after all steps, like the dtype
    dtype: np.dtype[Any]
    steps: tuple[Step, ...] = ()

    @classmethod
    def split(cls, X: Matrix, ends: ArrayLike, store: Store) -> ChunkedMatrix:
        """Split a matrix in memory into chunks."""
        ends = np.asarray(ends, dtype=np.intp)
        chunks = [store.put(X[a:b]) for a, b in pairwise(ends)]
        return cls(store, chunks, ends, X.shape[1], X.dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return int(self.ends[-1]), self.n_columns

    @property
    def T(self) -> ChunkedTranspose:  # noqa: N802
        """The transpose; nothing is moved."""
        return ChunkedTranspose(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, wanted: Rows | tuple[slice, int]) -> Dense:
        """Return some rows, or one column of all rows (``matrix[:, 0]``), as an array."""
        if isinstance(wanted, tuple):
            column = self.columns(slice(wanted[1], wanted[1] + 1))
            return np.concatenate([part.ravel() for part in column.results(dense)])
        rows = np.arange(len(self))[wanted]
        parts, order = self._parts(rows)
        return dense(_stacked(self.store.fetch(parts), order))

    def gather(self, rows: Labels) -> Any:
        """Collect some rows of all chunks in one chunk."""
        return self.store.submit(_stacked, *self._parts(rows))

    def _parts(self, rows: Labels) -> tuple[list[Any], Labels]:
        """Return some rows as parts of chunks, and the order of the rows of all parts."""
        sources = np.searchsorted(self.ends, rows, side="right") - 1
        parts = [
            self.submit(j, getitem, rows[sources == j] - self.ends[j]) for j in np.unique(sources)
        ]
        return parts, np.argsort(np.argsort(sources, kind="stable"), kind="stable")

    def then(self, step: Step, n_columns: int | None = None) -> ChunkedMatrix:
        """Return the matrix after one more step, which is applied whenever a chunk is used."""
        count = self.n_columns if n_columns is None else n_columns
        return replace(self, steps=(*self.steps, step), n_columns=count)

    def columns(self, wanted: slice) -> ChunkedMatrix:
        """Select some columns; of a product, only these are computed."""
        count = len(range(*wanted.indices(self.n_columns)))
        if self.steps and isinstance(self.steps[-1], Rotation):
            last = self.steps[-1].columns(wanted)
            return replace(self, steps=(*self.steps[:-1], last), n_columns=count)
        return self.then(Columns(wanted), count)

    def submit(self, chunk: int, work: Callable[..., Any], *arguments: object) -> Any:
        """Start some work on one chunk."""
        return self.store.submit(_after_steps, work, *self._with_steps(chunk), *arguments)

    def submit_with(
        self, other: ChunkedMatrix, chunk: int, work: Callable[..., Any], *arguments: object
    ) -> Any:
        """Start some work on one chunk and the chunk with the same rows of another matrix."""
        both = *self._with_steps(chunk), *other._with_steps(chunk)
        return self.store.submit(_after_both, work, *both, *arguments)

    def _with_steps(self, chunk: int) -> tuple[tuple[Any, ...], Any]:
        """Return the steps and the chunk they are applied to, as arguments of work."""
        steps = (
            step.stored(self.store) if isinstance(step, Rotation) else step for step in self.steps
        )
        return tuple(steps), self.chunks[chunk]

    def submit_all(self, work: Callable[..., Any], *by_row: Dense) -> list[Any]:
        """Start the same work on every chunk, with its part of arrays by row."""
        return [
            self.submit(i, work, *(part[a:b] for part in by_row))
            for i, (a, b) in enumerate(pairwise(self.ends))
        ]

    def submit_pairs(
        self, other: ChunkedMatrix, work: Callable[..., Any], *arguments: object
    ) -> list[Any]:
        """Start the same work on every two chunks with the same rows."""
        chunks = range(len(self.chunks))
        return [self.submit_with(other, i, work, *arguments) for i in chunks]

    def results(self, work: Callable[..., Any], *by_row: Dense) -> list[Any]:
        """Return the results of some work on every chunk."""
        return self.store.fetch(self.submit_all(work, *by_row))

    def total(self, work: Callable[..., Any], *by_row: Dense) -> Any:
        """Return the sum of the results of some work on every chunk."""
        return total(self.submit_all(work, *by_row), self.store)

    def reordered(self, order: Labels) -> ChunkedMatrix:
        """Return the rows in another order, in chunks of the same sizes."""
        chunks = [self.gather(order[a:b]) for a, b in pairwise(self.ends)]
        return self.with_chunks(chunks)

    def persist(self) -> ChunkedMatrix:
        """Apply all steps now, once."""
        return self.with_chunks(self.submit_all(unchanged)) if self.steps else self

    def with_chunks(self, chunks: list[Any], *steps: Step) -> ChunkedMatrix:
        """Return a matrix of the same shape with other chunks and steps."""
        return replace(self, chunks=chunks, steps=steps)

    def assign(self, other: ChunkedMatrix) -> None:
        """Take over the chunks and steps of another matrix, as writing into an array would."""
        for name, value in vars(other).items():
            setattr(self, name, value)


@dataclass(frozen=True)
class ChunkedTranspose:
    """The transpose of a matrix in chunks of rows."""

    matrix: ChunkedMatrix

    @property
    def T(self) -> ChunkedMatrix:  # noqa: N802
        """The matrix itself."""
        return self.matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self.matrix.shape[1], self.matrix.shape[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.matrix.dtype


# For isinstance: a matrix in chunks of rows or of columns.
Chunked: TypeAlias = ChunkedMatrix | ChunkedTranspose


def total(parts: list[Any], store: Store) -> Any:
    """Return the sum of chunks. The order of the additions does not depend on their timing."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        added = [store.submit(np.add, a, b) for a, b in pairs]
        parts = [*added, *parts[len(added) * 2 :]]
    return store.fetch(parts)[0]


def dense(chunk: Matrix) -> Dense:
    """Return a chunk as a dense, row-major array."""
    return np.ascontiguousarray(chunk if isinstance(chunk, np.ndarray) else chunk.toarray())


def _after_steps(
    work: Callable[..., Any], steps: tuple[Step, ...], chunk: object, *arguments: object
) -> Any:
    return work(_applied(steps, chunk), *arguments)


def _after_both(
    work: Callable[..., Any],
    steps: tuple[Step, ...],
    chunk: object,
    other_steps: tuple[Step, ...],
    other: object,
    *arguments: object,
) -> Any:
    return work(_applied(steps, chunk), _applied(other_steps, other), *arguments)


def _applied(steps: tuple[Step, ...], chunk: object) -> object:
    for step in steps:
        chunk = step(chunk)
    return chunk


def unchanged(value: object) -> object:
    """Return the value itself, as work that stores it."""
    return value


def _stacked(parts: list[Matrix], order: Labels) -> Any:
    """Stack parts of several chunks and sort their rows."""
    stack = sparse.vstack if sparse.issparse(parts[0]) else np.vstack
    return stack(parts)[order]
