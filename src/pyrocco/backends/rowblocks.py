"""A matrix in blocks of rows, each of which lies somewhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Step = Callable[[Any], Any]


class Store(Protocol):
    """Where blocks lie, and who works on them.

    Work must be a function of its arguments alone: where a block is lost, it is made again.
    """

    n_workers: int
    memory: int  # bytes that one piece of work may take

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Begin some work on blocks and values; returns the block that it will leave."""

    def put(self, value: Any) -> Any:
        """Lay down a value that much work will ask for."""

    def fetch(self, blocks: Sequence[Any]) -> list[Any]:
        """Bring the contents of blocks here, once they are there."""


@dataclass
class Rotation:
    """The step that multiplies a block by a matrix; some of its columns cost a part of all."""

    matrix: NDArray[Any]
    _there: Any = field(default=None, compare=False, repr=False)

    def __call__(self, block: Any) -> NDArray[Any]:
        """Multiply."""
        return np.asarray(block @ self.matrix)

    def columns(self, wanted: slice) -> Rotation:
        """Only those columns of the product."""
        return Rotation(np.ascontiguousarray(self.matrix[:, wanted]))

    def laid_down(self, store: Store) -> Any:
        """The step as a block: sent along with the work on every block it would weigh a lot."""
        if self._there is None:
            self._there = store.put(Rotation(self.matrix))
        return self._there


@dataclass(frozen=True)
class Columns:
    """The step that takes some columns."""

    wanted: slice

    def __call__(self, block: Any) -> Any:
        """Take them."""
        part = block[:, self.wanted]
        return part if sparse.issparse(part) else np.ascontiguousarray(part)


@dataclass
class RowBlocks:
    """A matrix in blocks of rows, and steps still to be taken on each when it is used.

    Parameters
    ----------
    store : Store
        Where the blocks lie.
    blocks : list
        The blocks; a list of blocks in place of one where its first step joins them.
    ends : ndarray of int
        Row at which each block begins, and the number of rows at the end.
    n_columns : int
        Columns, after all steps.
    dtype : dtype
        Type of the cells, after all steps.
    steps : tuple of callable
        What is done to a block whenever it is used.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends.scratch import ScratchStore
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> blocks = RowBlocks.cut(X, [0, 4, 6], ScratchStore())
    >>> blocks.shape, blocks[np.array([5, 0])].tolist(), sum(blocks.results(np.sum))
    ((6, 2), [[10.0, 11.0], [0.0, 1.0]], np.float64(66.0))
    """

    store: Store
    blocks: list[Any]
    ends: NDArray[np.intp]
    n_columns: int
    dtype: np.dtype[Any]
    steps: tuple[Step, ...] = ()

    @classmethod
    def cut(cls, X: Any, ends: Any, store: Store) -> RowBlocks:
        """Cut a matrix that is here into blocks."""
        ends = np.asarray(ends, dtype=np.intp)
        blocks = [store.put(X[a:b]) for a, b in pairwise(ends)]
        return cls(store, blocks, ends, X.shape[1], X.dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return int(self.ends[-1]), self.n_columns

    @property
    def T(self) -> Turned:  # noqa: N802
        """The transpose, without moving anything."""
        return Turned(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, wanted: Any) -> NDArray[Any]:
        """Bring some rows here, or one column of all rows (``blocks[:, 0]``)."""
        if isinstance(wanted, tuple):
            column = self.columns(slice(wanted[1], wanted[1] + 1))
            return np.concatenate([part.ravel() for part in column.results(dense)])
        rows = np.arange(len(self))[wanted]
        parts, order = self._parts(rows)
        return dense(_stacked(self.store.fetch(parts), order))

    def gathered(self, rows: NDArray[np.intp]) -> Any:
        """Some rows of all blocks as one block."""
        return self.store.submit(_stacked, *self._parts(rows))

    def _parts(self, rows: NDArray[np.intp]) -> tuple[list[Any], NDArray[np.intp]]:
        """Some rows as parts of blocks, and the order in which they are to stand."""
        sources = np.searchsorted(self.ends, rows, side="right") - 1
        asked = np.unique(sources)
        parts = [self.submit(j, _rows, rows[sources == j] - self.ends[j]) for j in asked]
        return parts, np.argsort(np.argsort(sources, kind="stable"), kind="stable")

    def then(self, step: Step, n_columns: int | None = None) -> RowBlocks:
        """The same with one more step, which is taken wherever a block is used."""
        count = self.n_columns if n_columns is None else n_columns
        return replace(self, steps=(*self.steps, step), n_columns=count)

    def columns(self, wanted: slice) -> RowBlocks:
        """Some of the columns; of a product, only they are computed."""
        count = len(range(*wanted.indices(self.n_columns)))
        if self.steps and isinstance(self.steps[-1], Rotation):
            last = self.steps[-1].columns(wanted)
            return replace(self, steps=(*self.steps[:-1], last), n_columns=count)
        return self.then(Columns(wanted), count)

    def submit(self, block: int, work: Callable[..., Any], *arguments: Any) -> Any:
        """Begin some work on one block."""
        return self.store.submit(_after_steps, work, *self._one(block), *arguments)

    def submit_with(
        self, other: RowBlocks, block: int, work: Callable[..., Any], *arguments: Any
    ) -> Any:
        """Begin some work on one block and the same block of a matrix that is cut alike."""
        both = *self._one(block), *other._one(block)
        return self.store.submit(_after_both, work, *both, *arguments)

    def _one(self, block: int) -> tuple[tuple[Any, ...], Any]:
        """Steps and the block they are taken on, as work gets them."""
        steps = (
            step.laid_down(self.store) if isinstance(step, Rotation) else step
            for step in self.steps
        )
        return tuple(steps), self.blocks[block]

    def submit_all(self, work: Callable[..., Any], *by_row: Any) -> list[Any]:
        """Begin the same work on every block, with its part of arrays by row."""
        return [
            self.submit(i, work, *(part[self.ends[i] : self.ends[i + 1]] for part in by_row))
            for i in range(len(self.blocks))
        ]

    def results(self, work: Callable[..., Any], *by_row: Any) -> list[Any]:
        """What some work on every block gives, brought here."""
        return self.store.fetch(self.submit_all(work, *by_row))

    def reordered(self, order: NDArray[np.intp]) -> RowBlocks:
        """The same rows in another order, in blocks of the same sizes."""
        blocks = [self.gathered(order[a:b]) for a, b in pairwise(self.ends)]
        return replace(self, blocks=blocks, steps=())

    def total(self, work: Callable[..., Any], *by_row: Any) -> Any:
        """The sum of what some work on every block gives, brought here."""
        return total(self.submit_all(work, *by_row), self.store)

    def settled(self) -> RowBlocks:
        """The same with all steps taken, once."""
        return replace(self, blocks=self.submit_all(_itself), steps=()) if self.steps else self

    def become(self, other: RowBlocks) -> None:
        """Take the place of another, as writing into an array would."""
        for name, value in vars(other).items():
            setattr(self, name, value)


@dataclass(frozen=True)
class Turned:
    """The transpose of blocks of rows.

    Parameters
    ----------
    blocks : RowBlocks
        The matrix itself.
    """

    blocks: RowBlocks

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of its rows and of its columns."""
        return self.blocks.shape[1], self.blocks.shape[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the cells."""
        return self.blocks.dtype


def total(parts: list[Any], store: Store) -> Any:
    """The sum of blocks, brought here.

    Two and two are added where they lie, in an order that does not depend on who is first.

    Examples
    --------
    >>> from pyrocco.backends.scratch import ScratchStore
    >>> store = ScratchStore()
    >>> total([store.put(1), store.put(2), store.put(4)], store)
    np.int64(7)
    """
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        added = [store.submit(np.add, a, b) for a, b in pairs]
        parts = [*added, *parts[len(added) * 2 :]]
    return store.fetch(parts)[0]


def over_rows(work: Callable[..., Any], rows: Any, *by_row: Any) -> list[Any]:
    """What some work gives on every block of rows; on an array, as on a single block.

    Examples
    --------
    >>> import numpy as np
    >>> over_rows(lambda rows, labels: rows[labels == 1].sum(), np.eye(2), np.array([0, 1]))
    [np.float64(1.0)]
    """
    if isinstance(rows, RowBlocks):
        return rows.results(work, *by_row)
    return [work(rows, *by_row)]


def map_rows(step: Step, rows: Any) -> Any:
    """The rows after one more step: blocks of them, or an array.

    Examples
    --------
    >>> import numpy as np
    >>> map_rows(np.negative, np.eye(2)).tolist()
    [[-1.0, -0.0], [-0.0, -1.0]]
    """
    return rows.then(step) if isinstance(rows, RowBlocks) else step(rows)


def dense(block: Any) -> NDArray[Any]:
    """The block as an array.

    Examples
    --------
    >>> from scipy import sparse
    >>> dense(sparse.eye(2, format="csr")).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return np.ascontiguousarray(block.toarray() if sparse.issparse(block) else block)


def _after_steps(
    work: Callable[..., Any], steps: tuple[Step, ...], block: Any, *arguments: Any
) -> Any:
    return work(_taken_through(steps, block), *arguments)


def _after_both(
    work: Callable[..., Any],
    steps: tuple[Step, ...],
    block: Any,
    other_steps: tuple[Step, ...],
    other: Any,
    *arguments: Any,
) -> Any:
    both = _taken_through(steps, block), _taken_through(other_steps, other)
    return work(*both, *arguments)


def _taken_through(steps: tuple[Step, ...], block: Any) -> Any:
    for step in steps:
        block = step(block)
    return block


def _itself(block: Any) -> Any:
    return block


def _rows(block: Any, rows: NDArray[np.intp]) -> Any:
    return block[rows]


def _stacked(parts: list[Any], order: NDArray[np.intp]) -> Any:
    """Parts of several blocks as one, in order."""
    stack = sparse.vstack if sparse.issparse(parts[0]) else np.vstack
    return stack(parts)[order]
