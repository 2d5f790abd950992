"""What the commands tell the user: progress on standard error, one line at a time."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from pyrocco.plots.style import count

__all__ = ["ERRORS", "count", "one_line", "say", "say_all", "tell", "warnings_as_lines"]

# Names of files and genes may hold brackets: no markup; and a line stays a line.
_PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}
ERRORS = Console(stderr=True)
_OUTPUT = Console()


def say(line: str) -> None:
    """Print a line of progress, or an error, on standard error.

    Parameters
    ----------
    line : str
        The line.

    Examples
    --------
    >>> say("reading")
    """
    ERRORS.print(line, **_PLAIN)


def say_all(lines: Iterable[str]) -> None:
    """Print several lines of progress on standard error.

    Parameters
    ----------
    lines : iterable of str
        The lines.

    Examples
    --------
    >>> say_all(["reading", "writing"])
    """
    for line in lines:
        say(line)


def tell(line: str) -> None:
    """Print a line of the result on standard output.

    Parameters
    ----------
    line : str
        The line.

    Examples
    --------
    >>> tell("Found [2] clusters")
    Found [2] clusters
    """
    _OUTPUT.print(line, **_PLAIN)


def one_line(message: str) -> str:
    r"""Join the lines of a message.

    Parameters
    ----------
    message : str
        Any text.

    Returns
    -------
    str

    Examples
    --------
    >>> one_line("too\n   many  lines")
    'too many lines'
    """
    return " ".join(message.split())


@contextmanager
def warnings_as_lines() -> Iterator[list[str]]:
    """Print Python warnings as one clear line each instead of source code and line numbers.

    Yields
    ------
    list of str
        The different warnings so far.

    Examples
    --------
    >>> with warnings_as_lines() as lines:
    ...     warnings.warn("not converged", UserWarning)
    >>> lines
    ['not converged']
    """
    lines: list[str] = []

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        line = one_line(str(message))
        if line not in lines:
            lines.append(line)
            say(f"warning: {line}")

    with warnings.catch_warnings():
        # Those for programmers (deprecations) are no use to who runs a command.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield lines
