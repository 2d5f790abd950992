"""Chunks in memory-mapped files of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count, pairwise
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import numpy as np

from pyrocco._typing import Dense
from pyrocco.backends.chunked.matrix import ChunkedMatrix, dense
from pyrocco.io.unfinished import ScratchFolder, reserve, write_errors

# Smaller arrays stay in memory, because a file would cost more.
_LEAST_BYTES = 2**20
# Memory for all work together if no limit is set.
_MEMORY = 2**30


class ScratchStore:
    """Holds chunks in a temporary folder, which is removed with the last chunk.

    Work is done in threads, in the order in which it was submitted. `memory` is the number of
    bytes that all work together may take.
    """

    def __init__(self, memory: int = _MEMORY, n_workers: int = 1):
        self.n_workers = n_workers
        self.memory = memory // n_workers
        self._scratch = ScratchFolder()
        self.folder = self._scratch.path
        self._pool = ThreadPoolExecutor(n_workers)
        self._names = count()

    def submit(self, work: Callable[..., Any], *arguments: object) -> _Chunk:
        """Start some work; its arguments were submitted before it, so that no thread deadlocks."""
        return _Chunk(self, self._pool.submit(self._run, work, arguments))

    def put(self, value: object) -> _Chunk:
        """Store a value where it is, in memory or mapped."""
        content: Future[Any] = Future()
        content.set_result(value)
        return _Chunk(self, content)

    def fetch(self, chunks: Sequence[_Chunk]) -> list[Any]:
        """Return the contents of chunks."""
        return [chunk.content() for chunk in chunks]

    def _run(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return self._written(work(*map(_opened, arguments)))

    def _written(self, value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(self._written, value))
        if not isinstance(value, np.ndarray) or value.nbytes < _LEAST_BYTES:
            return value
        path = self.folder / f"{next(self._names)}.npy"
        with write_errors(path):
            np.save(path, value)
        return _File(path)


class _File:
    """An array in a file, which is removed with this object."""

    def __init__(self, path: Path):
        self.path = path

    def open(self) -> Any:
        # Copy on write: nothing is written, but kernels are compiled for writeable arrays.
        return np.load(self.path, mmap_mode="c")

    def __del__(self) -> None:
        # Arrays that are still mapped keep their data.
        if os.path.exists(self.path):
            os.unlink(self.path)


class _Chunk:
    """The result of some work. It keeps the store alive, whose folder must outlive it."""

    def __init__(self, store: ScratchStore, content: Future[Any]):
        self.store, self._content = store, content

    def content(self) -> Any:
        return _opened(self._content.result())


def _opened(argument: object) -> Any:
    if type(argument) in (list, tuple):
        return type(argument)(map(_opened, argument))  # type: ignore[call-arg, call-overload]
    if isinstance(argument, _File):
        return argument.open()
    return argument.content() if isinstance(argument, _Chunk) else argument


def as_mapped(matrix: ChunkedMatrix) -> Dense:
    """Write the chunks of a `ScratchStore` into one memory-mapped array."""
    store = cast(ScratchStore, matrix.store)
    path = store.folder / f"whole-{uuid4().hex[:8]}.npy"
    whole: Dense = np.lib.format.open_memmap(path, "w+", matrix.dtype, matrix.shape)
    reserve(path, path.stat().st_size)
    for i, (a, b) in enumerate(pairwise(matrix.ends)):
        whole[a:b] = store.fetch([matrix.submit(i, dense)])[0]
    # The file is removed; the mapped data stay until the array is deleted.
    path.unlink()
    return whole
