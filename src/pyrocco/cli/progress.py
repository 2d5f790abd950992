"""Bars on the screen while a large file is read and while a fit runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from pyrocco.cli.messages import ERRORS
from pyrocco.io.sniff import Watch
from pyrocco.progress import watched_by

__all__ = ["fitting_bars", "reading_bar"]


@contextmanager
def reading_bar(quiet: bool) -> Iterator[Watch | None]:
    """Show how far reading has come, where somebody looks.

    Parameters
    ----------
    quiet : bool
        Show nothing.

    Yields
    ------
    callable or None
        To be told the bytes read and those of the whole file; None where nobody looks.

    Examples
    --------
    >>> with reading_bar(quiet=True) as watch:
    ...     print(watch)
    None
    """
    if quiet or not ERRORS.is_terminal:
        yield None
        return
    # Gone when the file is read: the notes say what was found in it.
    with Progress(console=ERRORS, transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, size: bar.update(task, completed=done, total=size)


@contextmanager
def fitting_bars(quiet: bool) -> Iterator[None]:
    """Show the stages of the fit in this block and its iterations, where somebody looks.

    Parameters
    ----------
    quiet : bool
        Show nothing.

    Examples
    --------
    >>> with fitting_bars(quiet=True):
    ...     pass
    """
    if quiet or not ERRORS.is_terminal:
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # Gone when the fit is over: a line for every stage stays.
    with (
        Progress(*columns, TimeElapsedColumn(), console=ERRORS, transient=True) as bars,
        watched_by(_Bars(bars)),
    ):
        yield


class _Bars:
    """One bar for every stage that is under way."""

    def __init__(self, bars: Progress):
        self.bars = bars
        self.tasks: list[TaskID] = []

    def begin(self, stage: str, steps: int | None) -> None:
        # Without a total the bar moves to and fro.
        self.tasks.append(self.bars.add_task(stage, total=steps or None))

    def end(self, stage: str) -> None:
        self.bars.remove_task(self.tasks.pop())

    def iteration(self, record: dict[str, Any]) -> bool:
        self.bars.update(self.tasks[-1], completed=record["iteration"])
        return False
