"""Write files as a whole or not at all, even if the process is killed while it writes."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyrocco.io.errors import OutputError

with suppress(ImportError):  # Windows has no such locks
    import fcntl

__all__ = [
    "STAGE",
    "ScratchFolder",
    "cannot_write",
    "claimed_stage",
    "remove_abandoned",
    "remove_unfinished",
    "replacing",
    "reserve",
    "write_errors",
]

# The folder, inside a folder of results, in which results are collected until they are complete.
STAGE = ".pyrocco-unfinished"
# A folder that holds this file was made by pyrocco.
_LOCK, _FILES = ".pyrocco-lock", "files"


def cannot_write(path: Path, error: OSError) -> OutputError:
    """Return an error that names the path and says why it cannot be written."""
    return OutputError(f"{path}: cannot be written: {error.strerror or error}")


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Convert errors of the system in this block to an `OutputError` that names the path."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of an unfinished file, which replaces `path` when the block ends normally.

    The unfinished file has the same name in every run. A file left by a process that was killed
    is therefore overwritten by the next run, and two processes take turns.
    """
    unfinished = _unfinished(path)
    lock = _open_locked(unfinished, wait=True)
    try:
        os.truncate(unfinished, 0)
        yield unfinished
        os.fsync(lock)  # the content must be on the disk before the name is
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    finally:
        os.close(lock)


def remove_unfinished(path: Path) -> None:
    """Remove what a killed process left of a file, unless another process is writing it."""
    unfinished = _unfinished(path)
    if not unfinished.is_file() or unfinished.is_symlink():
        return
    with suppress(OSError):  # it is locked
        lock = _open_locked(unfinished, wait=False)
        try:
            unfinished.unlink(missing_ok=True)
        finally:
            os.close(lock)


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.unfinished")


@contextmanager
def claimed_stage(folder: Path) -> Iterator[Path]:
    """Yield an empty folder inside `folder`, which is removed at the end.

    Only one process at a time may have it. What a killed process left in it is removed first.
    `folder` is made if need be, and removed again if it is empty at the end.

    Raises
    ------
    OutputError
        If another process has it, or `folder` cannot be written to.
    """
    stage, is_new = folder / STAGE, not folder.exists()
    with write_errors(folder):
        lock = _claim(stage)
    content = stage / _FILES
    try:
        with write_errors(content):
            if content.exists():
                shutil.rmtree(content)
            content.mkdir()
        yield content
    finally:
        shutil.rmtree(content, ignore_errors=True)
        (stage / _LOCK).unlink(missing_ok=True)
        with suppress(OSError):  # something else is in it
            stage.rmdir()
            if is_new:
                folder.rmdir()
        os.close(lock)


class ScratchFolder:
    """A temporary folder, which is removed with this object.

    A folder that a killed process left behind is removed when the next one is made.

    Parameters
    ----------
    parent : Path, optional
        Where to make it; by default in the folder for temporary files of the system.
    prefix : str
        How its name begins.
    """

    def __init__(self, parent: Path | None = None, prefix: str = "pyrocco-"):
        try:
            parent = parent or Path(tempfile.gettempdir())
            remove_abandoned(parent, prefix)
            self.path, lock = _make_locked(parent, prefix)
        except OSError as error:
            raise OutputError(
                f"{parent or 'temporary files'}: no temporary folder can be made there: "
                f"{error.strerror or error}. Set the environment variable TMPDIR to a folder with "
                "enough space"
            ) from error
        self.remove = weakref.finalize(self, _remove_scratch, self.path, lock)


def remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove scratch folders of this user and machine whose process does not exist any more."""
    for path in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # it is in use, or gone, or there are no locks that could tell
            if _is_of_this_user(path) and (path / _LOCK).read_bytes() == _machine():
                _remove_scratch(path, _open_locked(path / _LOCK, wait=False, sure=True))


def _is_of_this_user(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == getattr(os, "geteuid", int)()


def _machine() -> bytes:
    """Return the name of this machine: locks on a shared disk may count on one machine only."""
    return socket.gethostname().encode()


def reserve(path: Path, size: int) -> None:
    """Reserve space on the disk for a file that is written through memory.

    Without it, a full disk would end the process when a page is written.
    """
    if hasattr(os, "posix_fallocate"):
        with write_errors(path), path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, size)


def _make_locked(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = _open_locked(path / _LOCK, wait=False)
        except (FileNotFoundError, BlockingIOError):
            continue  # another process took it for abandoned before it was locked
        os.write(lock, _machine())
        return path, lock


def _remove_scratch(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):  # closed already, at the end of the process
        os.close(lock)


def _claim(stage: Path) -> int:
    while True:
        stage.mkdir(parents=True, exist_ok=True)
        try:
            return _open_locked(stage / _LOCK, wait=False)
        except FileNotFoundError:
            continue  # the process that had it has just removed it
        except BlockingIOError:
            raise OutputError(
                f"{stage.parent}: another pyrocco is writing results to this folder: wait until "
                "it has finished, or choose another folder"
            ) from None


def _open_locked(path: Path, wait: bool, sure: bool = False) -> int:
    """Open a file and lock it; the lock ends when the file is closed or the process dies.

    Some network file systems have no locks. The file is then opened without, unless the lock
    must be `sure`.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        handle = os.open(path, flags, 0o666)
        try:
            if not _lock(handle, wait) and sure:
                raise BlockingIOError
            if _is_at(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        # While this process waited, another one replaced or removed the file.
        os.close(handle)


def _lock(handle: int, wait: bool) -> bool:
    """Lock an open file; return False if there are no locks."""
    if "fcntl" not in globals():
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
