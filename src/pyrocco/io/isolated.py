"""Run the reader of a file in a process of its own.

Libraries written in C or C++ may crash on a damaged file, or never return. In a process of its
own, such a reader ends with an error instead of ending the session of the user. The process sends
back JSON and plain arrays, never pickled objects, so that it cannot make its parent run code.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from pyrocco._typing import Dense
from pyrocco.io.errors import MatrixError, MissingExtraError

__all__ = ["Parts", "ReaderFailedError", "read_isolated"]

# A reader may take this long, plus a second for every megabyte of the file: many times what a
# good file takes.
SECONDS = 15.0
_BYTES_PER_SECOND = 1e6

_START = (
    "import json, sys; job = json.loads(sys.argv[1]); sys.path[:] = job['sys_path']; "
    "from pyrocco.io.isolated import answer; answer(job)"
)
# Errors that the parent raises again, by name. Others mean that the file is damaged.
_ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (MatrixError, MissingExtraError, MemoryError)
}


@dataclass(frozen=True)
class Parts:
    """What a reader found in a file: values that JSON can hold, and arrays."""

    about: dict[str, Any]
    arrays: dict[str, Dense] = field(default_factory=dict)


class ReaderFailedError(Exception):
    """The reader failed; the message says whether it crashed or did not return in time."""


def read_isolated(reader: Callable[..., Parts], path: Path, *arguments: object) -> Parts:
    """Call ``reader(path, *arguments)`` in a process of its own.

    Parameters
    ----------
    reader : function
        A function of a module of pyrocco. The module is imported in the new process, so it
        should import little.
    path : Path
        The file.
    *arguments : object
        Values that JSON can hold.

    Returns
    -------
    Parts

    Raises
    ------
    MatrixError, MissingExtraError, MemoryError
        If the reader raised it.
    ReaderFailedError
        If the reader raised anything else, crashed, or did not return in time.
    """
    seconds = SECONDS + path.stat().st_size / _BYTES_PER_SECOND
    job = {
        "sys_path": [entry or os.getcwd() for entry in sys.path],
        "module": reader.__module__,
        "function": reader.__name__,
        "path": str(path.absolute()),
        "arguments": arguments,
        "seconds": seconds,
    }
    # Isolated: no module of the current folder is imported before sys.path is set.
    command = [sys.executable, "-I", "-c", _START, json.dumps(job)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            return _receive(cast(IO[bytes], process.stdout))
        except EOFError:
            took_too_long = timer.finished.is_set()  # set when the timer has fired
            reason = f"reading it took more than {seconds:.0f} seconds"
            raise ReaderFailedError(reason if took_too_long else _reason(process.wait())) from None
        finally:
            timer.cancel()
            process.kill()


def _reason(code: int) -> str:
    if code == -getattr(signal, "SIGKILL", 9):
        return "the process that read it was stopped, probably because memory ran out"
    return "the process that read it crashed"


def _receive(channel: IO[bytes]) -> Parts:
    line = channel.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message = json.loads(line)
    if "error" in message:
        kind = _ERRORS.get(message["error"])
        if kind is not None:
            raise kind(*message["arguments"])
        failure = ReaderFailedError()
        failure.add_note(f"{message['error']}: {message['arguments']}")
        raise failure
    arrays = {}
    for name, dtype, shape in message["arrays"]:
        array = np.empty(shape, np.dtype(dtype))
        _fill(array, channel)
        arrays[name] = array
    return Parts(message["about"], arrays)


def _fill(array: Dense, channel: IO[bytes]) -> None:
    if array.size and channel.readinto(_bytes_of(array)) != array.nbytes:  # type: ignore[attr-defined]
        raise EOFError


def _bytes_of(array: Dense) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def answer(job: dict[str, Any]) -> None:
    """Read a file and send what was found to the parent process: the task of the new process."""
    with os.fdopen(os.dup(1), "wb") as channel:
        # What libraries print would disturb the answer, and means nothing to the user.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        _limit(job["seconds"])
        with suppress(BrokenPipeError):  # the parent was stopped
            _send(_attempt(job), channel)
            channel.flush()


def _limit(seconds: float) -> None:
    """Stop this process by itself if its parent was killed and it never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent acts on Ctrl-C
    with suppress(ImportError):  # not on every system
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        wanted = int(4 * seconds)
        if most == resource.RLIM_INFINITY or wanted < most:
            resource.setrlimit(resource.RLIMIT_CPU, (wanted, most))


def _attempt(job: dict[str, Any]) -> Parts | Exception:
    try:
        reader = getattr(import_module(job["module"]), job["function"])
        parts: Parts = reader(Path(job["path"]), *job["arguments"])
    except Exception as error:
        # Whatever a library raises on a damaged file: the parent decides what to say.
        return error
    return parts


def _send(parts: Parts | Exception, channel: IO[bytes]) -> None:
    if isinstance(parts, Exception):
        message = " ".join(str(parts).split())
        # Python's own MemoryError has no text, and its absence is understood by the program.
        arguments = [] if isinstance(parts, MemoryError) else [message]
        name = "MemoryError" if isinstance(parts, MemoryError) else type(parts).__name__
        _send_line({"error": name, "arguments": arguments}, channel)
        return
    arrays = {name: np.ascontiguousarray(array) for name, array in parts.arrays.items()}
    listed = [(name, array.dtype.str, array.shape) for name, array in arrays.items()]
    _send_line({"about": parts.about, "arrays": listed}, channel)
    for array in arrays.values():
        channel.write(_bytes_of(array))


def _send_line(message: dict[str, Any], channel: IO[bytes]) -> None:
    channel.write(json.dumps(message).encode() + b"\n")
