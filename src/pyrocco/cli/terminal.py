"""Messages, warnings and progress bars in the terminal, and stopping by Ctrl-C."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

if TYPE_CHECKING:
    from pyrocco.progress import Observer

__all__ = [
    "ERRORS",
    "StoppedError",
    "fit_bars",
    "one_line",
    "reading_bar",
    "say",
    "say_all",
    "signal_handled",
    "tell",
    "warnings_as_lines",
]

ERRORS = Console(stderr=True)
_OUTPUT = Console()
# Print text as it is: names of files and genes may contain brackets, and lines are not wrapped.
_PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}


class StoppedError(Exception):
    """The user stopped a command; the message says what was saved."""


def say(line: str) -> None:
    """Print a line of progress, or an error, on standard error."""
    ERRORS.print(line, **_PLAIN)


def say_all(lines: Iterable[str]) -> None:
    """Print several lines on standard error."""
    for line in lines:
        say(line)


def tell(line: str) -> None:
    """Print a line of the result on standard output."""
    _OUTPUT.print(line, **_PLAIN)


def one_line(message: str) -> str:
    """Join the lines of a message."""
    return " ".join(message.split())


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
def reading_bar(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar while a file is read, if standard error is a terminal.

    Yields a function of the bytes read so far and the size of the file; None without a bar.
    """
    if quiet or not ERRORS.is_terminal:
        yield None
        return
    # The bar disappears at the end.
    with Progress(console=ERRORS, transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, size: bar.update(task, completed=done, total=size)


@contextmanager
def fit_bars(quiet: bool, observer: Observer | None = None) -> Iterator[Observer | None]:
    """Show progress bars of the stages and iterations of a fit, if standard error is a terminal.

    Yields an observer for ``fit``, which passes everything on to `observer`.
    """
    if quiet or not ERRORS.is_terminal:
        yield observer
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # The bars disappear at the end; the lines of `verbose` stay.
    with Progress(*columns, TimeElapsedColumn(), console=ERRORS, transient=True) as bars:
        yield _Bars(bars, observer)


class _Bars:
    """Observer with one progress bar for every running stage."""

    def __init__(self, bars: Progress, observer: Observer | None):
        self.bars, self.observer = bars, observer
        self.tasks: list[TaskID] = []

    def begin(self, stage: str, steps: int | None) -> None:
        # Without a total the bar shows that something is running, but not how far it is.
        self.tasks.append(self.bars.add_task(stage, total=steps or None))
        if self.observer is not None:
            self.observer.begin(stage, steps)

    def end(self, stage: str) -> None:
        self.bars.remove_task(self.tasks.pop())
        if self.observer is not None:
            self.observer.end(stage)

    def iteration(self, record: dict[str, Any]) -> bool:
        self.bars.update(self.tasks[-1], completed=record["iteration"])
        return self.observer is not None and self.observer.iteration(record)


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
