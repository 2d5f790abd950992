"""A bar on the screen while a large file is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import Progress

from pyrocco.cli.messages import ERRORS
from pyrocco.io.request import Watch

__all__ = ["reading_bar"]


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
