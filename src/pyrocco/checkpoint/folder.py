"""Blocks of a representation in a folder that all workers see."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyrocco.backends import ChunkedBackend, ChunkedMatrix
from pyrocco.backends.chunked.matrix import Store, dense

__all__ = ["BlockFolder"]


@dataclass
class BlockFolder:
    """Writes blocks where they lie, one file each, and reads them again.

    Two sets of files take turns, so that one is whole whenever a write is cut short.

    Parameters
    ----------
    path : Path
        The folder, on a disk that the workers share.
    store : Store
        Where the blocks are.
    turn : int
        How often blocks were written.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco.backends import ScratchStore
    >>> store = ScratchStore()
    >>> folder = BlockFolder(Path(tempfile.mkdtemp()), store)
    >>> kept = folder.write(ChunkedMatrix.split(np.eye(3), [0, 2, 3], store))
    >>> folder.read(kept)[np.array([2])].tolist()
    [[0.0, 0.0, 1.0]]
    """

    path: Path
    store: Store
    turn: int = 0

    def write(self, blocks: ChunkedMatrix) -> dict[str, Any]:
        """Write all blocks; returns what is needed to find them again."""
        self.turn += 1
        folder = (self.path / str(self.turn % 2)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        written = [
            blocks.submit(i, partial(_write, path=folder / f"{i}.npy"))
            for i in range(len(blocks.chunks))
        ]
        self.store.fetch(written)
        return {"folder": str(folder), "ends": np.asarray(blocks.ends), "turn": self.turn}

    def read(self, kept: dict[str, Any]) -> ChunkedMatrix:
        """The blocks that were written."""
        self.turn = int(kept["turn"])
        ends = np.asarray(kept["ends"], dtype=np.intp)
        paths = [Path(kept["folder"]) / f"{i}.npy" for i in range(len(ends) - 1)]
        first = np.load(paths[0], mmap_mode="r")
        blocks = [self.store.submit(_read, path) for path in paths]
        return ChunkedMatrix(self.store, blocks, ends, first.shape[1], first.dtype)

    def remove(self) -> None:
        """Remove all files."""
        shutil.rmtree(self.path, ignore_errors=True)


def folder_beside(path: Path, backend: Any) -> BlockFolder | None:
    """The folder for blocks beside a checkpoint; None where arrays are in one place."""
    if not isinstance(backend, ChunkedBackend):
        return None
    return BlockFolder(path.with_suffix(".blocks"), backend.store)


def _write(block: Any, path: Path) -> bool:
    # Complete or not there: a worker may die while it writes, and another writes again.
    unfinished = path.with_suffix(".part.npy")
    np.save(unfinished, dense(block))
    unfinished.replace(path)
    return True


def _read(path: Path) -> NDArray[Any]:
    return np.asarray(np.load(path))
