"""One progress bar for a whole command, or one line per stage where there is no terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from threading import Event, Thread

from rich.console import RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from pyrocco.cli import terminal
from pyrocco.progress import Observer, Overall, Progress, StageLog, State
from pyrocco.texts import format_seconds

__all__ = ["CommandProgress", "bar_only", "command_progress"]

_PER_SECOND = 8  # how often the bar is drawn
_WIDEST, _NARROWEST = 40, 8  # of the bar itself
# A bar would only flicker for less than these seconds.
_QUIET_SECONDS = 0.3
_PAUSE = 0.25  # seconds between two lines of JSON


class CommandProgress(Progress):
    """The stages of a command: reading, those of the fit, and writing."""

    def __init__(self, *observers: Observer, overall: Overall | None = None):
        super().__init__(*observers)
        self.overall = overall

    @property
    def watch(self) -> Callable[[float, float], None] | None:
        """A function of what is read so far and of the whole; None if nobody looks."""
        return None if self.overall is None else self.overall.advance

    def of_matrix(self, n_rows: int, n_columns: int) -> None:
        """Note the size of the matrix, on which depends how long the stages take."""
        if self.overall is not None:
            self.overall.n_cells = n_rows * n_columns

    def of_fit(self, observer: Observer | None) -> Observer:
        """Return what observes the fit: this, and another observer."""
        return self if observer is None else Progress(self, observer)


@contextmanager
def command_progress(
    quiet: bool, stages: Iterable[str], as_json: bool = False
) -> Iterator[CommandProgress]:
    """Show the progress of a command on standard error until this block ends.

    In a terminal it is one bar, which disappears at the end; elsewhere, such as in the log file
    of a batch system, one line for each stage; for another program, lines of JSON.
    """
    if as_json:
        with _state_lines(stages) as progress:
            yield progress
    elif quiet or terminal.ERRORS.is_terminal:
        with bar_only(quiet, stages) as progress:
            yield progress
    else:
        yield CommandProgress(StageLog(1))


@contextmanager
def _state_lines(stages: Iterable[str]) -> Iterator[CommandProgress]:
    """Print the state of the command as a line of JSON several times a second."""
    overall, ended = Overall(stages), Event()
    printer = Thread(target=_print_states, args=(overall, ended), daemon=True)
    printer.start()
    try:
        yield CommandProgress(overall, overall=overall)
    finally:
        ended.set()
        printer.join()


def _print_states(overall: Overall, ended: Event) -> None:
    while not ended.wait(_PAUSE):
        terminal.say(json.dumps({"progress": asdict(overall.state())}))


@contextmanager
def bar_only(quiet: bool, stages: Iterable[str]) -> Iterator[CommandProgress]:
    """Show the progress of a command whose stages are not worth a line in a log."""
    if quiet or not terminal.ERRORS.is_terminal:
        yield CommandProgress()
        return
    overall = Overall(stages)
    bar = _Bar(overall)
    with Live(
        console=terminal.ERRORS,
        get_renderable=bar.draw,
        refresh_per_second=_PER_SECOND,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield CommandProgress(overall, overall=overall)


class _Bar:
    """Draws the state of a run in one line, as wide as the terminal allows."""

    def __init__(self, overall: Overall):
        self.overall = overall
        self.spinner = Spinner("dots")

    def draw(self) -> RenderableType:
        state = self.overall.state()
        if state.elapsed < _QUIET_SECONDS:
            return Text("")
        texts = _texts(state)
        room = terminal.ERRORS.width - 3  # beside the spinner
        # What does not fit is left out: first the bar, then the share, then the time.
        while len(texts) > 1 and sum(len(text) + 2 for text in texts) > room:
            texts.pop()
        width = room - sum(len(text) + 2 for text in texts)
        line = Table.grid(padding=(0, 2, 0, 0))
        line.add_row(self.spinner, *_cells(texts, state, width))
        return line


def _texts(state: State) -> list[str]:
    counted = f" {state.step} of {state.steps}" if state.steps else ""
    left = "" if state.left is None else f"about {format_seconds(state.left)} left"
    texts = [f"{state.stage}{counted}", f"{100 * state.fraction:.0f} %", left]
    return [text for text in texts if text]


def _cells(texts: list[str], state: State, width: int) -> list[RenderableType]:
    cells: list[RenderableType] = [Text(text, no_wrap=True) for text in texts]
    if width >= _NARROWEST:
        bar = ProgressBar(100, 100 * state.fraction, width=min(width, _WIDEST))
        cells.insert(1, bar)
    return cells
