"""Opening a file so that somebody can watch how far reading has come."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from pyrocco.io.request import Watch

__all__ = ["open_watched"]


class _Watched(io.RawIOBase):
    """Bytes of a file, counted as they are read."""

    def __init__(self, path: Path, watch: Watch):
        self._file = path.open("rb")
        self._size = path.stat().st_size
        self._watch = watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self._watch(self._file.tell(), self._size)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def open_watched(path: Path, watch: Watch | None) -> io.BufferedIOBase:
    """Open a file for reading bytes.

    Parameters
    ----------
    path : Path
        The file.
    watch : callable or None
        Called with the bytes read so far and those of the whole file, after every megabyte.

    Returns
    -------
    file object

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.txt"
    ...     _ = path.write_text("abc")
    ...     with open_watched(path, lambda done, size: print(done, "of", size)) as file:
    ...         file.read(3)
    3 of 3
    b'abc'
    """
    return path.open("rb") if watch is None else io.BufferedReader(_Watched(path, watch), 1 << 20)
