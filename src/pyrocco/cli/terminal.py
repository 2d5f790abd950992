"""Messages and warnings in the terminal, and stopping by Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from rich.console import Console

from pyrocco.io.errors import OutputError
from pyrocco.texts import one_line

__all__ = [
    "ERRORS",
    "StoppedError",
    "close_output",
    "flush_output",
    "print_output",
    "printable",
    "say",
    "say_all",
    "signal_handled",
    "tell",
    "warnings_as_lines",
]

# Characters that control a terminal or change the direction of text, and halves of characters.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class _Console(Console):
    """A console whose reader may have gone away, which must not end a fit."""

    def on_broken_pipe(self) -> None:
        """Print no more. rich would end the program."""
        self.quiet = True


ERRORS = _Console(stderr=True)
_OUTPUT = _Console()
# Print text as it is: names of files and genes may contain brackets.
_PLAIN: dict[str, Any] = {"markup": False, "highlight": False}


class StoppedError(Exception):
    """The user stopped a command; the message says what was saved."""


def printable(text: str) -> str:
    r"""Replace control characters, which a file may contain, by visible escapes.

    Examples
    --------
    >>> print(printable("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def say(line: str) -> None:
    """Print a line of progress, or an error, on standard error."""
    _print(ERRORS, line)


def say_all(lines: Iterable[str]) -> None:
    """Print several lines on standard error."""
    for line in lines:
        say(line)


def tell(line: str) -> None:
    """Print a line about the result, which is in files, on standard output."""
    _print(_OUTPUT, line)


def _print(console: Console, line: str) -> None:
    # A closed or full stream must not end a fit whose results are written to files.
    with suppress(OSError, ValueError):
        # In a terminal lines are wrapped between words; elsewhere a message is one line.
        console.print(printable(line), soft_wrap=not console.is_terminal, **_PLAIN)


def print_output(text: str) -> None:
    """Print the output that the user asked for; an error if it cannot be printed."""
    if sys.stdout is None:
        raise OutputError("standard output is closed: write the result to a file")
    with _output_errors():
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def flush_output() -> None:
    """Write what standard output still holds, so that a failure is not lost."""
    if sys.stdout is not None:
        with _output_errors():
            sys.stdout.flush()


@contextmanager
def _output_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read the output has seen enough
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror}") from error


def close_output() -> int:
    """Print no more to standard output, whose reader has gone; return the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return 0


@contextmanager
def warnings_as_lines() -> Iterator[list[str]]:
    """Print every Python warning once, as one line, without source code and line numbers.

    Yields the list of the different warnings so far.
    """
    lines: list[str] = []

    def show(message: Warning | str, *_: object, **__: object) -> None:
        line = one_line(str(message))
        if line not in lines:
            lines.append(line)
            say(f"warning: {line}")

    with warnings.catch_warnings():
        # Deprecations and the like are for programmers, not for users of a command.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield lines


@contextmanager
def signal_handled(
    number: int, handler: Callable[[int, FrameType | None], Any] | signal.Handlers
) -> Iterator[None]:
    """Replace the handler of a signal; has no effect outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
