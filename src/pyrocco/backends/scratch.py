"""Blocks in memory-mapped files of this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count, pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends.rowblocks import RowBlocks, dense

# Smaller arrays stay in memory: a file would cost more than they do.
_LEAST_BYTES = 2**20
# What a piece of work may take where nobody set a limit.
_MEMORY = 2**30


class ScratchStore:
    """Keeps blocks in a folder that goes when the last block of it does.

    Work is done in threads, in the order in which it was submitted.

    Parameters
    ----------
    memory : int
        Bytes that all work together may take.
    n_workers : int
        Threads.

    Examples
    --------
    >>> import numpy as np
    >>> store = ScratchStore()
    >>> store.fetch([store.submit(np.add, store.put(np.ones(2)), 1.0)])
    [array([2., 2.])]
    """

    def __init__(self, memory: int = _MEMORY, n_workers: int = 1):
        self.n_workers = n_workers
        self.memory = memory // n_workers
        self.folder = Path(tempfile.mkdtemp(prefix="pyrocco-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._pool = ThreadPoolExecutor(n_workers)
        self._names = count()

    def submit(self, work: Callable[..., Any], *arguments: Any) -> _Block:
        """Begin some work; its arguments were submitted before it, so that none waits for ever."""
        return _Block(self, self._pool.submit(self._run, work, arguments))

    def put(self, value: Any) -> _Block:
        """Keep a value where it is: the caller has it in memory anyway, or mapped."""
        there: Future[Any] = Future()
        there.set_result(value)
        return _Block(self, there)

    def fetch(self, blocks: Sequence[_Block]) -> list[Any]:
        """Contents of blocks."""
        return [block.content() for block in blocks]

    def _run(self, work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return self._laid_down(work(*map(_opened, arguments)))

    def _laid_down(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._laid_down, value))
        if not isinstance(value, np.ndarray) or value.nbytes < _LEAST_BYTES:
            return value
        path = self.folder / f"{next(self._names)}.npy"
        np.save(path, value)
        return _File(path)


class _File:
    """An array in a file, which goes with it."""

    def __init__(self, path: Path):
        self.path = path

    def open(self) -> Any:
        # Copy on write: nobody writes, and kernels are compiled for arrays that could be.
        return np.load(self.path, mmap_mode="c")

    def __del__(self) -> None:
        # Arrays that are still mapped keep what they need.
        if os.path.exists(self.path):
            os.unlink(self.path)


class _Block:
    """What some work leaves. It holds the store, whose folder must outlive it."""

    def __init__(self, store: ScratchStore, content: Future[Any]):
        self.store, self._content = store, content

    def content(self) -> Any:
        return _opened(self._content.result())


def _opened(argument: Any) -> Any:
    if type(argument) in (list, tuple):
        return type(argument)(map(_opened, argument))
    if isinstance(argument, _File):
        return argument.open()
    return argument.content() if isinstance(argument, _Block) else argument


def as_mapped(blocks: RowBlocks) -> NDArray[Any]:
    """Blocks of a scratch store as one memory-mapped array, written a block at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.backends.rowblocks import RowBlocks
    >>> as_mapped(RowBlocks.cut(np.eye(2), [0, 1, 2], ScratchStore())).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    store: Any = blocks.store
    path = store.folder / f"whole-{uuid4().hex[:8]}.npy"
    whole = np.lib.format.open_memmap(path, "w+", blocks.dtype, blocks.shape)
    for i, (a, b) in enumerate(pairwise(blocks.ends)):
        whole[a:b] = store.fetch([blocks.submit(i, dense)])[0]
    # The file goes; what is mapped of it stays until the array is forgotten.
    path.unlink()
    return whole
