"""Stopping ``pyrocco fit`` by Ctrl-C so that ``--resume`` can go on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyrocco.checkpoint import Checkpoint, checkpoint_to
from pyrocco.cli.messages import say

__all__ = ["CHECKPOINT_FILE", "StoppedError", "handled", "stoppable"]

CHECKPOINT_FILE = "checkpoint.pyrocco"


class StoppedError(Exception):
    """The user stopped a command; the message says what is left of it.

    Examples
    --------
    >>> raise StoppedError("stopped")
    Traceback (most recent call last):
    pyrocco.cli.stopping.StoppedError: stopped
    """


@contextmanager
def stoppable(output: Path, resume: bool) -> Iterator[None]:
    """Keep the state of the fit in this block in its folder when it is stopped.

    Parameters
    ----------
    output : Path
        The folder for the results.
    resume : bool
        Go on from the state that is there.

    Raises
    ------
    StoppedError
        By Ctrl-C, or by the signal with which batch systems end a job.

    Examples
    --------
    >>> with stoppable(Path("results"), resume=False):
    ...     raise KeyboardInterrupt
    Traceback (most recent call last):
    pyrocco.cli.stopping.StoppedError: stopped; no results were written
    """
    path = output / CHECKPOINT_FILE
    _tell_of(path, resume)
    try:
        # SIGTERM does what Ctrl-C does.
        ended = handled(signal.SIGTERM, signal.default_int_handler)
        with ended, checkpoint_to(path, resume=resume) as keeper:
            yield
    except KeyboardInterrupt as error:
        raise StoppedError(_what_is_left(keeper)) from error


def _tell_of(path: Path, resume: bool) -> None:
    if path.exists() and not resume:
        say(
            f"warning: {path} is left from a fit that was stopped, and --resume would go on from "
            "there; this one starts anew and replaces it"
        )
    if resume and not path.exists():
        say(f"{path} is not there, so this fit starts from the beginning")


def _what_is_left(keeper: Checkpoint) -> str:
    if not keeper.path.exists():
        return "stopped; no results were written"
    return (
        f"stopped; no results were written, but the work so far is in {keeper.path}: the same "
        "command with --resume goes on from there"
    )


@contextmanager
def handled(number: int, handler: Any) -> Iterator[None]:
    """Let a signal do something else in this block; only a main thread may say so.

    Examples
    --------
    >>> with handled(signal.SIGINT, signal.SIG_IGN):
    ...     signal.raise_signal(signal.SIGINT)
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
