"""Fits that can be watched: by `verbose`, by the command line, by scikit-learn's callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from pyrocco.progress import Lines, Progress

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # before scikit-learn 1.9, which brought callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def _with_callbacks(method: Any) -> Any:
        return method


__all__ = ["WatchedMixin", "with_callbacks"]


_Method = TypeVar("_Method", bound=Callable[..., Any])


def with_callbacks(method: _Method) -> _Method:
    """Let scikit-learn's callbacks clean up when a fit is over, however it ends.

    Examples
    --------
    >>> with_callbacks(lambda estimator: "fitted")(None)
    'fitted'
    """
    return cast(_Method, _with_callbacks(method))


class WatchedMixin(CallbackSupportMixin):
    """Gives an estimator scikit-learn's ``set_callbacks``, from scikit-learn 1.9 on.

    Stages of a fit are its tasks; iterations are tasks of the stage "representation". Its
    `fit` must be decorated by `with_callbacks`.

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> isinstance(ROCCO(), WatchedMixin)
    True
    """

    @contextmanager
    def _watched_fit(self, X: Any) -> Iterator[Progress]:
        """Tell of the fit in this block; the attributes are to be set within it."""
        lines = Lines(self.verbose)
        if not hasattr(self, "_init_callback_context"):
            yield Progress(lines)
            return
        tasks = _Tasks(self, X)
        yield Progress(lines, tasks)
        tasks.finish()


class _Tasks:
    """Passes stages and iterations on to the callbacks of an estimator."""

    def __init__(self, estimator: Any, X: Any):
        self.estimator, self.X = estimator, X
        root = estimator._init_callback_context(max_subtasks=None)
        self.open = [root.call_on_fit_task_begin(estimator=estimator, X=X)]

    def begin(self, stage: str, steps: int | None) -> None:
        self.open.append(self._task(stage, steps))

    def end(self, stage: str) -> None:
        self.open.pop().call_on_fit_task_end(estimator=self.estimator, X=self.X)

    def iteration(self, record: dict[str, Any]) -> bool:
        # The loop tells of an iteration once it is over, so that is when its task begins.
        task = self._task("iteration", 0)
        return bool(task.call_on_fit_task_end(estimator=self.estimator, X=self.X))

    def finish(self) -> None:
        self.open.pop().call_on_fit_task_end(
            estimator=self.estimator, X=self.X, reconstruction_attributes=dict
        )

    def _task(self, name: str, steps: int | None) -> Any:
        task = self.open[-1].subcontext(task_name=name, max_subtasks=steps)
        return task.call_on_fit_task_begin(estimator=self.estimator, X=self.X)
