"""The folder beside a checkpoint that holds the chunks of a representation."""

from __future__ import annotations

import hashlib
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pyrocco._typing import Dense
from pyrocco.backends import ChunkedMatrix
from pyrocco.backends.chunked.matrix import Store, dense
from pyrocco.io.errors import CheckpointError
from pyrocco.io.model_file import array_from_bytes
from pyrocco.io.unfinished import write_errors

__all__ = ["ADVICE", "DAMAGED", "ChunkFolder"]

# Phrases of messages about checkpoints.
DAMAGED = "is damaged"
ADVICE = "delete it to start from the beginning"
# Names of the files, finished and unfinished, and of the two parts of the folder.
_CHUNK_FILE, _TURNS = re.compile(r"\d+(\.part)?\.npy"), ("0", "1")


@dataclass
class ChunkFolder:
    """A folder for the chunks of a representation, one file each, on a shared disk.

    Two sets of files are written in turn, so that one is complete whenever writing is
    interrupted.

    Parameters
    ----------
    path : Path
        The folder.
    store : Store
        Where the chunks are.
    turn : int
        How often chunks have been written.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco.backends import ScratchStore
    >>> store = ScratchStore()
    >>> folder = ChunkFolder(Path(tempfile.mkdtemp()), store)
    >>> written = folder.write(ChunkedMatrix.split(np.eye(3), [0, 2, 3], store))
    >>> folder.read(written)[np.array([2])].tolist()
    [[0.0, 0.0, 1.0]]
    """

    path: Path
    store: Store
    turn: int = 0

    def write(self, chunks: ChunkedMatrix) -> dict[str, Any]:
        """Write all chunks; return what `read` needs to find them again."""
        self.turn += 1
        folder = (self.path / _TURNS[self.turn % 2]).absolute()
        with write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        written = [
            chunks.submit(i, partial(_write_chunk, path=folder / f"{i}.npy"))
            for i in range(len(chunks.chunks))
        ]
        return {
            "folder": str(folder),
            "ends": np.asarray(chunks.ends),
            "turn": self.turn,
            "sha256": self.store.fetch(written),
        }

    def read(self, written: dict[str, Any]) -> ChunkedMatrix:
        """Return the chunks that were written.

        They are read from this folder wherever it is now, and from nowhere else.

        Raises
        ------
        CheckpointError
            If a chunk is missing or damaged.
        """
        self.turn = int(written["turn"])
        part = _TURNS[self.turn % 2]
        ends = np.asarray(written["ends"], dtype=np.intp)
        lengths, hashes = np.diff(ends), written["sha256"]
        if Path(written["folder"]).name != part or len(hashes) != len(lengths):
            raise CheckpointError(f"{self.path}: is not the folder of this checkpoint: {ADVICE}")
        if not len(lengths) or ends[0] != 0 or (lengths < 0).any():
            raise CheckpointError(f"{self.path}: {DAMAGED}: {ADVICE}")
        paths = [self.path / part / f"{i}.npy" for i in range(len(lengths))]
        chunks = [
            self.store.submit(_read_chunk, path, sha256)
            for path, sha256 in zip(paths, hashes, strict=True)
        ]
        kinds = self.store.fetch([self.store.submit(_kind_of, chunk) for chunk in chunks])
        _, n_columns, dtype = kinds[0]
        for path, length, kind in zip(paths, lengths.tolist(), kinds, strict=True):
            if kind != (length, n_columns, dtype):
                raise CheckpointError(f"{path}: has another shape than its neighbours: {ADVICE}")
        return ChunkedMatrix(self.store, chunks, ends, n_columns, np.dtype(dtype))

    def remove(self) -> None:
        """Remove the chunks, and the folder unless other files are in it."""
        for folder in (self.path / part for part in _TURNS):
            if folder.is_symlink() or not folder.is_dir():
                continue
            for file in folder.iterdir():
                if _CHUNK_FILE.fullmatch(file.name):
                    with suppress(OSError):
                        file.unlink()
            with suppress(OSError):  # something else is in it
                folder.rmdir()
        with suppress(OSError):
            self.path.rmdir()


def _write_chunk(chunk: Dense, path: Path) -> str:
    """Write a chunk, and return its digest."""
    values = dense(chunk)
    # The file is complete or absent: a worker may die while it writes, and another repeats it.
    unfinished = path.with_suffix(".part.npy")
    with write_errors(path):
        np.save(unfinished, values)
        unfinished.replace(path)
    return _chunk_digest(values)


def _read_chunk(path: Path, sha256: str) -> Dense:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise CheckpointError(f"{path}: is not a regular file: {ADVICE}")
        chunk = array_from_bytes(path.read_bytes())
    except OSError as error:
        reason = error.strerror or error
        raise CheckpointError(f"{path}: cannot be read: {reason}: {ADVICE}") from error
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: {DAMAGED}: {ADVICE}") from error
    is_sound = chunk.ndim == 2 and chunk.dtype.kind == "f" and np.isfinite(chunk).all()
    if not is_sound or sha256 != _chunk_digest(chunk):
        raise CheckpointError(f"{path}: {DAMAGED}: {ADVICE}")
    return chunk


def _chunk_digest(chunk: Dense) -> str:
    return hashlib.sha256(np.ascontiguousarray(chunk).data).hexdigest()


def _kind_of(chunk: Dense) -> tuple[int, int, str]:
    """Return numbers of rows and columns, and the type of the values."""
    return chunk.shape[0], chunk.shape[1], chunk.dtype.str
