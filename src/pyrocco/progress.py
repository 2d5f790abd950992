"""Reports on the progress of a fit: lines on standard error, progress bars, callbacks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar, cast

from pyrocco._typing import MatrixLike
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
    "CallbackSupportMixin",
    "Observer",
    "Progress",
    "StageLog",
    "observed_fit",
    "with_callbacks",
]


def with_callbacks(method: _Method) -> _Method:
    """Let scikit-learn clean up its callbacks when a fit ends, however it ends."""
    return method if _with_callbacks is None else cast(_Method, _with_callbacks(method))


class Observer(Protocol):
    """Follows a fit; hand it to ``fit(X, observer=...)``.

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
    """Passes the progress of one fit on to observers.

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
        for observer in self.observers:
            observer.begin(name, steps)
        yield
        for observer in self.observers:
            observer.end(name)

    def iteration(self, record: dict[str, Any]) -> bool:
        """Report one iteration; return whether any observer asks to stop."""
        answers = [observer.iteration(record) for observer in self.observers]
        return any(answers)


class StageLog:
    """Prints a line for each stage (verbose 1) and for each iteration (verbose 2).

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
        if self.verbose >= 1:
            self._print(f"{stage}: {seconds:.2f} s")

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


@contextmanager
def observed_fit(estimator: Any, X: MatrixLike, observer: Observer | None) -> Iterator[Progress]:
    """Report on the fit in this block, within which the fitted attributes are to be set.

    Parameters
    ----------
    estimator : estimator
        Its ``verbose`` and, with scikit-learn 1.9 or newer, its callbacks are respected. Stages
        are tasks for callbacks; iterations are tasks within the stage "representation".
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
    observers: list[Observer] = [StageLog(estimator.verbose)]
    tasks = _CallbackTasks(estimator, X) if hasattr(estimator, "set_callbacks") else None
    if tasks is not None:
        observers.append(tasks)
    if observer is not None:
        observers.append(observer)
    yield Progress(*observers)
    if tasks is not None:
        tasks.finish()
