"""Reports on progress: one line per stage, the state of a whole run for a bar, callbacks."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import escape
from threading import RLock
from typing import Any, Protocol, TypeVar, cast

from pyrocco._typing import MatrixLike
from pyrocco.texts import format_seconds
from pyrocco.validation import shown

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before version 1.9 has no callbacks
    CallbackSupportMixin = object
    _with_callbacks = None

_Method = TypeVar("_Method", bound=Callable[..., Any])
# What an observer is called by.
_CALLED = ("begin", "end", "iteration")


__all__ = [
    "FIT_STAGES",
    "CallbackSupportMixin",
    "NotebookBar",
    "Observer",
    "Overall",
    "Progress",
    "StageLog",
    "State",
    "in_notebook",
    "observed_fit",
    "with_callbacks",
]


def with_callbacks(method: _Method) -> _Method:
    """Let scikit-learn clean up its callbacks when a fit ends, however it ends."""
    return method if _with_callbacks is None else cast(_Method, _with_callbacks(method))


class Observer(Protocol):
    """Follows a fit; pass it to ``fit(X, observer=...)``.

    Stages may be nested. The names of the stages are for people to read.
    """

    def begin(self, stage: str, steps: int | None) -> None:
        """Called when a stage begins.

        `steps` is the largest number of iterations, 0 for a stage without iterations, and None
        if the number is not known in advance.
        """

    def end(self, stage: str) -> None:
        """Called when the stage that began last has ended."""

    def iteration(self, record: dict[str, Any]) -> bool:
        """Called after each iteration of the representation; return True to stop there."""


class Progress:
    """Passes the progress of one fit on to observers, and can itself observe a fit.

    Parameters
    ----------
    *observers : Observer
        All of them are told, in this order.

    Examples
    --------
    >>> progress = Progress(StageLog(verbose=0))
    >>> with progress.stage("graph of rows"):
    ...     pass
    """

    def __init__(self, *observers: Observer):
        self.observers = observers

    @contextmanager
    def stage(self, name: str, steps: int | None = 0) -> Iterator[None]:
        """Announce the beginning and, unless an exception is raised, the end of a stage."""
        self.begin(name, steps)
        yield
        self.end(name)

    def begin(self, stage: str, steps: int | None) -> None:
        """Announce the beginning of a stage."""
        for observer in self.observers:
            observer.begin(stage, steps)

    def end(self, stage: str) -> None:
        """Announce the end of a stage."""
        for observer in self.observers:
            observer.end(stage)

    def iteration(self, record: dict[str, Any]) -> bool:
        """Report one iteration; return whether any observer asks to stop."""
        answers = [observer.iteration(record) for observer in self.observers]
        return any(answers)


class StageLog:
    """Prints a line for each stage (verbose 1); parts of stages and iterations too (verbose 2).

    Parameters
    ----------
    verbose : int
        0 prints nothing.

    Examples
    --------
    >>> log = StageLog(verbose=0)
    >>> log.begin("graph of rows", 0)
    >>> log.end("graph of rows")
    """

    def __init__(self, verbose: int):
        self.verbose = verbose
        self._started: list[float] = []

    def begin(self, stage: str, steps: int | None) -> None:
        """Start the clock."""
        self._started.append(time.perf_counter())

    def end(self, stage: str) -> None:
        """Print how long the stage took."""
        seconds = time.perf_counter() - self._started.pop()
        depth = len(self._started)
        if self.verbose >= min(depth + 1, 2):
            self._print(f"{'  ' * depth}{stage}: {seconds:.2f} s")

    def iteration(self, record: dict[str, Any]) -> bool:
        """Print the objective of the iteration."""
        if self.verbose >= 2:
            self._print(
                f"  iteration {record['iteration']}: objective {record['objective']:.6g}, "
                f"{record['solver_iterations']} solver iterations"
            )
        return False

    def _print(self, line: str) -> None:
        if sys.stderr is None:  # a process without a terminal may have none
            return
        with suppress(OSError, ValueError):  # a closed or full stream must not end a fit
            sys.stderr.write(line + "\n")
            sys.stderr.flush()


# The stages of a fit in memory that every matrix goes through, in this order.
FIT_STAGES = ("isolated outlier cells", "preparation", "clusters")


@dataclass(frozen=True)
class _Pace:
    """How long a stage takes: some seconds, and some for every million cells."""

    seconds: float
    per_million: float


# Measured on two cores with matrices of 0.6, 1, 8 and 40 million cells. Only proportions matter:
# how fast a machine is, is seen from the stages that have ended.
_PACES = {
    "reading": _Pace(0.1, 0.07),
    "isolated outlier cells": _Pace(0.1, 0.33),
    "preparation": _Pace(0.02, 0.03),
    "missing values": _Pace(0.2, 10.0),
    "graph of rows": _Pace(0.1, 3.0),
    "graph of columns": _Pace(0.1, 0.5),
    "graph of features": _Pace(0.1, 0.5),
    "representation": _Pace(0.2, 10.0),
    "clusters": _Pace(0.5, 0.35),
    "outlier cells": _Pace(0.5, 30.0),
    "fit without outlier cells": _Pace(0.5, 0.35),
    "tables": _Pace(0.02, 0.01),
    "figure": _Pace(0.6, 0.01),
    "model": _Pace(0.8, 0.45),
    "report": _Pace(0.6, 0.03),
}
_UNKNOWN = _Pace(0.5, 0.2)
# Stages that come together: when the first begins, the others are expected.
_TOGETHER = {
    "graph of rows": ("graph of columns", "graph of features", "representation"),
    "outlier cells": ("fit without outlier cells",),
}
# Share of a stage of unknown length that can be shown as done before it ends.
_MOST_OF_STAGE = 0.9
# The time left is said once this share of all work is done, while no stage takes this many times
# as long as expected.
_KNOWN_FROM, _TOO_LONG = 0.1, 1.5


@dataclass(frozen=True)
class State:
    """Where a run stands.

    Attributes
    ----------
    stage : str
        Name of the stage that is running, or that ended last; empty before the first.
    step, steps : int
        Finished parts of the stage, and all of them; both 0 if they are not counted.
    fraction : float
        Share of all work that is done, from 0 to 1. It never decreases.
    elapsed : float
        Seconds since the start.
    left : float or None
        Seconds that the rest takes, if that can be estimated.
    """

    stage: str
    step: int
    steps: int
    fraction: float
    elapsed: float
    left: float | None


class Overall:
    """Follows a run of several stages as one, for a single progress bar.

    It is an `Observer`, and may be asked for its `state` at any time, from any thread. How much
    of the work each stage is, is known from measurements; how fast the machine is, from the stages
    that have ended.

    Parameters
    ----------
    plan : iterable of str
        The stages that are expected, in their order. Others may come, and some may be left out.
    n_cells : int, default=0
        Cells of the matrix, if they are known.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> run = Overall(["preparation", "clusters"], n_cells=6000)
    >>> run.begin("preparation", 0)
    >>> run.end("preparation")
    >>> run.begin("clusters", 0)
    >>> run.state().stage, 0 < run.state().fraction < 1
    ('clusters', True)
    """

    def __init__(
        self,
        plan: Iterable[str],
        n_cells: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self.n_cells = n_cells
        self._clock, self._started = clock, clock()
        self._ahead = list(plan)
        self._ended: list[tuple[str, float]] = []  # stages, and the seconds they took
        self._open: list[str] = []
        self._began = self._started
        self._step = self._steps = 0
        self._share: float | None = None  # of the current stage, where it is counted
        self._fraction = 0.0
        self._lock = RLock()  # a bar is drawn by another thread

    def expect(self, stages: Iterable[str]) -> None:
        """Add stages that come after all others."""
        with self._lock:
            self._ahead.extend(stages)

    def begin(self, stage: str, steps: int | None) -> None:
        """Note that a stage begins; within another stage, it is a part of that one."""
        with self._lock:
            self._open.append(stage)
            if len(self._open) > 1:
                return
            if stage in self._ahead:
                # What was expected before it has been left out.
                del self._ahead[: self._ahead.index(stage) + 1]
            else:
                others = [part for part in _TOGETHER.get(stage, ()) if part not in self._ahead]
                self._ahead[:0] = others
            self._began, self._share = self._clock(), None
            self._step, self._steps = 0, steps or 0

    def end(self, stage: str) -> None:
        """Note that the stage that began last has ended."""
        with self._lock:
            self._open.pop()
            if self._open:
                self._part_ended()
            else:
                self._ended.append((stage, self._clock() - self._began))

    def iteration(self, record: dict[str, Any]) -> bool:
        """Do nothing: how many iterations are needed is not known in advance."""
        return False

    def advance(self, done: float, total: float) -> None:
        """Note how much of the current stage is done."""
        with self._lock:
            self._share = min(done / total, 1.0) if total else None

    def state(self) -> State:
        """Return where the run stands now."""
        with self._lock:
            now = self._clock()
            ended = sum(self._expected(name) for name, _ in self._ended)
            ahead = sum(map(self._expected, self._ahead))
            current, share, left = self._current(now, ended)
            total = ended + current + ahead
            reached = (ended + share * current) / total if total else 0.0
            self._fraction = max(self._fraction, min(reached, 1.0))
            rest = None if left is None else left + ahead * self._speed(ended)
            last = [name for name, _ in self._ended[-1:]]
            name = next(iter([*self._open[:1], *last]), "")
            step, steps = (self._step, self._steps) if self._share is not None else (0, 0)
            elapsed = now - self._started
            return State(name, step, steps, self._fraction, elapsed, rest)

    def _part_ended(self) -> None:
        if len(self._open) == 1 and self._steps:
            self._step += 1
            self._share = min(self._step / self._steps, 1.0)

    def _expected(self, stage: str) -> float:
        pace = _PACES.get(stage, _UNKNOWN)
        return pace.seconds + pace.per_million * self.n_cells / 1e6

    def _speed(self, ended: float) -> float:
        """How many times as long as expected the stages took that have ended."""
        return sum(seconds for _, seconds in self._ended) / ended if ended else 1.0

    def _current(self, now: float, ended: float) -> tuple[float, float, float | None]:
        """Return the size of the current stage, its share that is done, and its seconds left."""
        if not self._open:
            return 0.0, 0.0, None
        seconds, expected = now - self._began, self._expected(self._open[0])
        if self._share is not None:
            counted = self._share >= _KNOWN_FROM
            left = seconds / self._share * (1 - self._share) if counted else None
            return expected, self._share, left
        usual = expected * self._speed(ended)
        share = min(seconds / usual, _MOST_OF_STAGE)
        all_work = ended + expected + sum(map(self._expected, self._ahead))
        is_known = ended >= _KNOWN_FROM * all_work and seconds <= _TOO_LONG * usual
        return expected, share, max(usual - seconds, 0.0) if is_known else None


class _CallbackTasks:
    """Passes stages and iterations on to the scikit-learn callbacks of an estimator."""

    def __init__(self, estimator: Any, X: MatrixLike):
        self.estimator, self.X = estimator, X
        root = estimator._init_callback_context(max_subtasks=None)
        self.open = [root.call_on_fit_task_begin(estimator=estimator, X=X)]

    def begin(self, stage: str, steps: int | None) -> None:
        self.open.append(self._task(stage, steps))

    def end(self, stage: str) -> None:
        self.open.pop().call_on_fit_task_end(estimator=self.estimator, X=self.X)

    def iteration(self, record: dict[str, Any]) -> bool:
        # An iteration is reported when it has ended, so its task begins only now.
        task = self._task("iteration", 0)
        return bool(task.call_on_fit_task_end(estimator=self.estimator, X=self.X))

    def finish(self) -> None:
        self.open.pop().call_on_fit_task_end(
            estimator=self.estimator, X=self.X, reconstruction_attributes=dict
        )

    def _task(self, name: str, steps: int | None) -> Any:
        task = self.open[-1].subcontext(task_name=name, max_subtasks=steps)
        return task.call_on_fit_task_begin(estimator=self.estimator, X=self.X)


# Seconds between two changes of what is shown.
_PAUSE = 0.1


def in_notebook() -> bool:
    """Return whether this process shows HTML, as the kernel of a notebook does.

    Examples
    --------
    >>> in_notebook()
    False
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class NotebookBar:
    """Shows one bar for a whole fit, with the stage that is running.

    It is an `Observer`. A fit in a notebook with ``verbose=1`` uses it by itself.

    Parameters
    ----------
    n_cells : int
        Cells of the matrix, from which the shares of the stages are estimated.
    show : callable
        Shows HTML, and returns a function that shows other HTML in its place.

    Examples
    --------
    >>> pages = []
    >>> bar = NotebookBar(6000, lambda page: pages.append(page) or pages.append)
    >>> bar.begin("preparation", 0)
    >>> bar.end("preparation")
    >>> bar.finish()
    >>> "<progress" in pages[0], "Fitted in 1 s" in pages[-1]
    (True, True)
    """

    def __init__(self, n_cells: int, show: Callable[[str], Callable[[str], object]] | None = None):
        self._run = Overall(FIT_STAGES, n_cells)
        self._change = (show or _show)(self._page())
        self._shown = time.perf_counter()

    def begin(self, stage: str, steps: int | None) -> None:
        """Show the stage that begins."""
        self._run.begin(stage, steps)
        self._update()

    def end(self, stage: str) -> None:
        """Show what has ended."""
        self._run.end(stage)
        self._update()

    def iteration(self, record: dict[str, Any]) -> bool:
        """Never ask to stop."""
        self._update()
        return False

    def finish(self) -> None:
        """Show that the fit has ended, in place of the bar."""
        seconds = format_seconds(self._run.state().elapsed)
        self._change(_line(f"Fitted in {seconds}."))

    def stop(self) -> None:
        """Show where the fit was stopped by an error or by the user."""
        stage = self._run.state().stage
        self._change(_line(f"Stopped{f' during {stage}' if stage else ''}."))

    def _update(self) -> None:
        now = time.perf_counter()
        if now - self._shown >= _PAUSE:
            self._change(self._page())
            self._shown = now

    def _page(self) -> str:
        state = self._run.state()
        left = f", {format_seconds(state.left)} left" if state.left is not None else ""
        bar = f'<progress max="1" value="{state.fraction:.3f}" style="width:20em"></progress>'
        return _line(f"{bar} {100 * state.fraction:.0f} % {escape(state.stage)}{left}")


def _line(content: str) -> str:
    return f'<div style="font-family:sans-serif;font-size:13px">{content}</div>'


def _show(page: str) -> Callable[[str], object]:
    """Show HTML in the notebook."""
    display: Any = sys.modules["IPython"].display  # a notebook has imported it
    handle = display.display(display.HTML(page), display_id=True)
    return lambda other: handle.update(display.HTML(other))


@contextmanager
def observed_fit(estimator: Any, X: MatrixLike, observer: Observer | None) -> Iterator[Progress]:
    """Report on the fit in this block, within which the fitted attributes are to be set.

    Parameters
    ----------
    estimator : estimator
        Its ``verbose`` and, with scikit-learn 1.9 or newer, its callbacks are respected. In a
        notebook, ``verbose=1`` is a bar. Stages are tasks for callbacks; iterations are tasks
        within the stage "representation".
    X : array-like
        The data, for the callbacks.
    observer : Observer or None
        Is told too.

    Yields
    ------
    Progress
    """
    if observer is not None and not all(callable(getattr(observer, m, None)) for m in _CALLED):
        raise TypeError(
            f"observer must be None or have the methods {', '.join(_CALLED)}; got "
            f"{shown(observer)}."
        )
    bar = NotebookBar(_n_cells(X)) if estimator.verbose == 1 and in_notebook() else None
    observers: list[Observer] = [StageLog(estimator.verbose) if bar is None else bar]
    tasks = _CallbackTasks(estimator, X) if hasattr(estimator, "set_callbacks") else None
    if tasks is not None:
        observers.append(tasks)
    if observer is not None:
        observers.append(observer)
    try:
        yield Progress(*observers)
    except BaseException:
        if bar is not None:
            bar.stop()
        raise
    if bar is not None:
        bar.finish()
    if tasks is not None:
        tasks.finish()


def _n_cells(X: MatrixLike) -> int:
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return math.prod(shape) if len(shape) == 2 else 0
