"""Writing the state of a fit to a file, and reading it again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from pyrocco.backends import Backend
from pyrocco.backends.chunked.dask import ClusterLostError
from pyrocco.checkpoint.errors import CheckpointError
from pyrocco.checkpoint.folder import BlockFolder, folder_beside
from pyrocco.checkpoint.identity import check_same, identity
from pyrocco.checkpoint.journal import Journal, WrittenJournal
from pyrocco.checkpoint.place import Place, from_content, to_content
from pyrocco.io.errors import ModelFileError
from pyrocco.io.model_file import read_model_file, write_model_file
from pyrocco.representation import LoopState

__all__ = ["Checkpoint", "checkpoint_to", "journal_of"]

# After writing for a second, the next writing waits for this many.
_PATIENCE = 10


class Checkpoint:
    """A file with the state of one fit.

    Parameters
    ----------
    path : Path
        The file.
    resume : bool
        Go on from the file where there is one.
    interval : float
        Seconds between two writings at least.

    Examples
    --------
    >>> Checkpoint(Path("night.pyrocco"), resume=False, interval=5.0).path.name
    'night.pyrocco'
    """

    def __init__(self, path: Path, resume: bool, interval: float):
        self.path, self.interval = path, interval
        self._found = _read(path) if resume and path.exists() else None
        self._identity: dict[str, Any] | None = None
        self._unwritten: Place | None = None
        self._due = time.monotonic() + interval
        self._folder: BlockFolder | None = None
        self._blocks: dict[str, Any] | None = None
        self._in_folder: LoopState | None = None

    def open(self, estimator: Any, X: Any, backend: Backend) -> Journal:
        """Begin the fit, or go on with the one in the file."""
        if self._identity is not None:
            raise CheckpointError(f"{self.path}: is for one fit; take another file for the next")
        self._identity = identity(estimator, X)
        self._folder = folder_beside(self.path, backend)
        if self._found is None:
            return WrittenJournal(None, self._take, backend)
        check_same(self.path, self._found["identity"], self._identity)
        content = self._found["place"]
        if self._folder is not None and content["state"]:
            self._blocks = content["state"]["U"]
            content["state"]["U"] = self._folder.read(self._blocks)
        return WrittenJournal(from_content(content), self._take, backend)

    def write(self) -> None:
        """Write the last place, unless the file holds it already."""
        if self._unwritten is None:
            return
        started = time.monotonic()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        place = to_content(self._unwritten)
        if self._blocks is not None and place["state"]:
            place["state"] = {**place["state"], "U": self._blocks}
        content = {"identity": self._identity, "place": place}
        write_model_file(self.path, {"checkpoint": content})
        self._unwritten = None
        seconds = time.monotonic() - started
        self._due = time.monotonic() + max(self.interval, _PATIENCE * seconds)

    def remove(self) -> None:
        """Remove the file, and the blocks beside it."""
        self.path.unlink(missing_ok=True)
        if self._folder is not None:
            self._folder.remove()

    def _take(self, place: Place) -> None:
        state = place.state
        if self._folder is not None and state is not None and state is not self._in_folder:
            # At once: when the cluster is lost, its blocks are lost with it.
            self._blocks, self._in_folder = self._folder.write(state.U), state
            self._due = 0.0
        self._unwritten = place
        if time.monotonic() >= self._due:
            self.write()


_CURRENT: ContextVar[Checkpoint | None] = ContextVar("checkpoint", default=None)


@contextmanager
def checkpoint_to(
    path: str | Path, *, resume: bool = False, interval: float = 5.0
) -> Iterator[Checkpoint]:
    """Keep the state of the fit in this block in a file, and go on from what the file holds.

    Parameters
    ----------
    path : str or Path
        The file. It is removed when the block ends well. It stays when the block is stopped
        (Ctrl-C), runs out of memory or loses its cluster. Blocks of a representation are kept
        in a folder beside it, which workers must see under the same name.
    resume : bool, default=False
        Go on from the file where there is one. False starts anew.
    interval : float, default=5.0
        Seconds between two writings at least. A stop is always written.

    Yields
    ------
    Checkpoint

    Raises
    ------
    CheckpointError
        The file is of another matrix or of other parameters, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pyrocco import ROCCO
    >>> from pyrocco.datasets import make_noisy_biclusters
    >>> X = make_noisy_biclusters((40, 30), 3, noise=5).X
    >>> path = Path(tempfile.mkdtemp()) / "night.pyrocco"
    >>> with checkpoint_to(path, resume=True):
    ...     model = ROCCO().fit(X)
    >>> model.n_row_clusters_, path.exists()
    (3, False)
    """
    keeper = Checkpoint(Path(path), resume, interval)
    token = _CURRENT.set(keeper)
    try:
        yield keeper
    except (KeyboardInterrupt, SystemExit, MemoryError, ClusterLostError):
        keeper.write()
        raise
    finally:
        _CURRENT.reset(token)
    keeper.remove()


def journal_of(estimator: Any, X: Any, backend: Backend) -> Journal:
    """The journal of a fit that begins: it is written where `checkpoint_to` says so.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco import ROCCO
    >>> from pyrocco.backends import NumpyBackend
    >>> type(journal_of(ROCCO(), np.eye(3), NumpyBackend())).__name__
    'Journal'
    """
    keeper = _CURRENT.get()
    return Journal() if keeper is None else keeper.open(estimator, X, backend)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = read_model_file(path).get("checkpoint")
    except ModelFileError:
        content = None
    if content is None:
        raise CheckpointError(f"{path}: is no checkpoint, or is damaged: delete it to start anew")
    return dict(content)
