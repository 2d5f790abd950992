"""Telling whoever watches where a fit stands: lines on standard error, bars, callbacks."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

_WATCHERS: ContextVar[tuple[Watcher, ...]] = ContextVar("watchers", default=())


class Watcher(Protocol):
    """Is told of the stages of a fit, which may lie within each other, and of iterations."""

    def begin(self, stage: str, steps: int | None) -> None:
        """A stage begins: of so many iterations at most, 0 for none, None for nobody knows."""

    def end(self, stage: str) -> None:
        """The stage that began last is over."""

    def iteration(self, record: dict[str, Any]) -> bool:
        """An iteration of the representation is over; True asks for a stop."""


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Let somebody watch the fits in this block.

    Examples
    --------
    >>> from pyrocco import RCC
    >>> class Shout:
    ...     def begin(self, stage, steps): print(stage.upper())
    ...     def end(self, stage): pass
    ...     def iteration(self, record): return False
    >>> with watched_by(Shout()):
    ...     _ = RCC().fit([[1.0, 2.0], [3.0, 5.0]])
    GRAPH
    REPRESENTATION
    """
    token = _WATCHERS.set((*_WATCHERS.get(), watcher))
    try:
        yield
    finally:
        _WATCHERS.reset(token)


class Progress:
    """Passes on where a fit stands: to `watchers` and to those of `watched_by`.

    Examples
    --------
    >>> progress = Progress(Lines(verbose=0))
    >>> with progress.stage("row graph"):
    ...     pass
    """

    def __init__(self, *watchers: Watcher):
        self.watchers = (*watchers, *_WATCHERS.get())

    @contextmanager
    def stage(self, name: str, steps: int | None = 0) -> Iterator[None]:
        """Announce a stage, and when it is over."""
        for watcher in self.watchers:
            watcher.begin(name, steps)
        yield
        for watcher in self.watchers:
            watcher.end(name)

    def iteration(self, record: dict[str, Any]) -> bool:
        """Tell of one iteration of the representation; return whether somebody says stop."""
        answers = [watcher.iteration(record) for watcher in self.watchers]
        return any(answers)


class Lines:
    """Prints one line a stage (verbose 1) and one an iteration (verbose 2).

    Examples
    --------
    >>> lines = Lines(verbose=0)
    >>> lines.begin("row graph", 0)
    >>> lines.end("row graph")
    """

    def __init__(self, verbose: int):
        self.verbose = verbose
        self._started: list[float] = []

    def begin(self, stage: str, steps: int | None) -> None:
        """Look at the clock."""
        self._started.append(time.perf_counter())

    def end(self, stage: str) -> None:
        """Say how long the stage took."""
        seconds = time.perf_counter() - self._started.pop()
        if self.verbose >= 1:
            self._say(f"{stage}: {seconds:.2f} s")

    def iteration(self, record: dict[str, Any]) -> bool:
        """Say how far the iterations have come."""
        if self.verbose >= 2:
            self._say(
                f"  iteration {record['iteration']}: objective {record['objective']:.6g}, "
                f"{record['solver_iterations']} solver iterations"
            )
        return False

    def _say(self, line: str) -> None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
