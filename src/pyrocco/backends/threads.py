"""Work that is spread over the threads of this process, and limits of their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")


def in_threads(
    work: Callable[[Any], Result], items: Sequence[Any], n_threads: int | None = None
) -> list[Result]:
    """Do `work` on each of `items` in threads, with single-threaded linear algebra in each."""
    if len(items) < 2:
        return [work(item) for item in items]
    libraries = _libraries()
    n_threads = n_threads or max([1, *(library["num_threads"] for library in libraries.info())])
    with libraries.limit(limits=1), ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, items))


def limit_threads(n_threads: int | None) -> AbstractContextManager[Any]:
    """Limit the threads of the libraries for linear algebra; None leaves them as they are."""
    limit: AbstractContextManager[Any] = _libraries().limit(limits=n_threads)
    return limit


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries for linear algebra of this process.

    To find them takes many milliseconds. pyrocco has imported them all when it first computes.
    """
    return ThreadpoolController()
