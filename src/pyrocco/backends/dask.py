"""Blocks on the workers of a Dask cluster: the one home of Dask among the back ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any
from uuid import uuid4

import numpy as np

from pyrocco.backends.rowblocks import RowBlocks
from pyrocco.backends.scratch import as_mapped

# Share of a worker's memory that one piece of work may take: Dask lets results take 60 % before
# it writes them to disk, the program itself takes some hundred megabytes, and at 80 % Dask gives
# out no more work.
_SHARE = 0.12
# What is taken for a worker's memory where it has no limit.
_UNLIMITED = 4 * 2**30
# Parts of the memory for one piece of work: what a chunk may be at most, and what it becomes
# where it is more.
_LARGEST_CHUNK, _GOOD_CHUNK = 3, 4
# Pieces of work submitted before the scheduler is asked whether it still answers.
_AHEAD = 200


# Workers write results to disk earlier than by default, so that parts on their way to others,
# read back from disk, fit beside them.
_SPILL_EARLY = {
    "distributed.worker.memory.target": 0.2,
    "distributed.worker.memory.spill": 0.3,
    "distributed.worker.memory.pause": 0.9,
    "distributed.worker.connections.incoming": 4,
    "distributed.worker.connections.outgoing": 4,
    "distributed.worker.transfer.message-bytes-limit": "20MB",
    # Parts of blocks are given back to the system, not kept in a heap that they leave in pieces.
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 65536,
    "distributed.nanny.pre-spawn-environ.MALLOC_ARENA_MAX": 2,
}


class ClusterLostError(RuntimeError):
    """The connection to the cluster broke in the middle of a fit."""


class DaskStore:
    """Blocks are futures: what a worker loses when it dies, others compute again.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    """

    def __init__(self, client: Any):
        self.client = client
        self._address = client.scheduler.address
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            raise ClusterLostError(
                f"The cluster at {self._address} has no workers: start some with "
                f"`dask worker {self._address}`."
            )
        self.n_workers = sum(worker["nthreads"] for worker in workers)
        each = (worker["memory_limit"] or _UNLIMITED for worker in workers)
        threads = (worker["nthreads"] for worker in workers)
        self.memory = int(min(m * _SHARE / t for m, t in zip(each, threads, strict=True)))
        self._run, self._names = uuid4().hex[:8], count()

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Begin some work; the scheduler keeps how a block was made until nobody needs it."""
        number = next(self._names)
        key = f"{getattr(work, '__name__', 'work')}-{self._run}-{number}"
        if number % _AHEAD == 0:
            self._wait_for_answer()
        with self._explained(), _large_values():
            return self.client.submit(work, *arguments, key=key, pure=False)

    def put(self, value: Any) -> Any:
        """Lay a value down as the result of work: data laid on workers would die with them."""
        return self.submit(_same, value)

    def fetch(self, blocks: Sequence[Any]) -> list[Any]:
        """Contents of blocks."""
        with self._explained():
            return list(self.client.gather(list(blocks)))

    def _wait_for_answer(self) -> None:
        """An answer of the scheduler means that nobody is drowning in messages."""
        try:
            self.client.sync(self.client.scheduler.identity)
        except OSError as error:  # of the connection: nothing of the user's runs here
            raise self._lost() from error

    def _lost(self) -> ClusterLostError:
        return ClusterLostError(
            f"The connection to the scheduler at {self._address} was lost. Start it again, then "
            "go on from the last finished stage: --resume on the command line, "
            "checkpoint_to(path, resume=True) in Python."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        try:
            yield
        except KilledWorker as error:
            raise ClusterLostError(
                f"Workers of {self._address} died again and again at the same work, most likely "
                "for want of memory: give them more, or use more of them."
            ) from error
        except (FutureCancelledError, CommClosedError) as error:
            raise self._lost() from error


def is_dask_array(X: Any) -> bool:
    """Whether `X` is a Dask array, without importing Dask.

    Examples
    --------
    >>> is_dask_array(np.eye(2))
    False
    """
    return type(X).__module__.split(".")[0] == "dask" and hasattr(X, "to_delayed")


def active_client() -> Any:
    """The Dask client of this program, or None.

    Examples
    --------
    >>> active_client() is None
    True
    """
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def checked_array(X: Any) -> Any:
    """A Dask array that can be fitted, in single or double precision.

    Raises
    ------
    ValueError
        Says what is wrong with it, and how to mend it.
    """
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns; this Dask array has {X.ndim} axes.")
    if any(np.isnan(size) for size in X.shape):
        raise ValueError(
            "The chunks of this Dask array have unknown sizes: call X.compute_chunk_sizes() first."
        )
    if min(X.shape) < 2:
        raise ValueError(f"X must have at least 2 rows and 2 columns; its shape is {X.shape}.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must hold numbers; this Dask array has the type {X.dtype}.")
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def blocks_of(X: Any, store: Any) -> RowBlocks:
    """The chunks of a Dask array as blocks of a store; rows are cut, columns are not."""
    X = _fitting(X.rechunk({1: -1}), store)
    ends = np.r_[0, np.cumsum(X.chunks[0])].astype(np.intp)
    parts = X.to_delayed(optimize_graph=True).ravel()
    if isinstance(store, DaskStore):
        blocks = store.client.compute(list(parts))
    else:
        blocks = [store.submit(_computed, part) for part in parts]
    return RowBlocks(store, blocks, ends, X.shape[1], X.dtype)


def _fitting(X: Any, store: Any) -> Any:
    """Chunks cut smaller where one would not leave room for the work on it."""
    row_bytes = X.shape[1] * X.dtype.itemsize
    if max(X.chunks[0]) * row_bytes <= store.memory / _LARGEST_CHUNK:
        return X
    return X.rechunk({0: max(1, int(store.memory / _GOOD_CHUNK / row_bytes))})


def as_dask_array(blocks: RowBlocks) -> Any:
    """Blocks as a Dask array, which keeps them alive; nothing is moved."""
    import dask.array as da
    from dask.delayed import delayed

    if not isinstance(blocks.store, DaskStore):
        return da.from_array(as_mapped(blocks), chunks=(tuple(np.diff(blocks.ends)), -1))
    settled = blocks.settled()
    shapes = [(int(size), settled.n_columns) for size in np.diff(settled.ends)]
    parts = [
        da.from_delayed(delayed(block), shape, dtype=settled.dtype)
        for block, shape in zip(settled.blocks, shapes, strict=True)
    ]
    return da.concatenate(parts)


def chunked_like(values: Any, ends: Any) -> Any:
    """An array by row as a Dask array, chunked like the rows."""
    import dask.array as da

    return da.from_array(values, chunks=(tuple(np.diff(ends).tolist()),))


@contextmanager
def spilling_early() -> Iterator[None]:
    """Settings for workers that are started in this block, whose memory is small for the matrix.

    Examples
    --------
    >>> import pytest
    >>> dask = pytest.importorskip("dask")
    >>> with spilling_early():
    ...     dask.config.get("distributed.worker.memory.target")
    0.2
    """
    import dask

    with dask.config.set(_SPILL_EARLY):
        yield


@contextmanager
def _large_values() -> Iterator[None]:
    """Dask warns of values of ten megabytes; a graph of the rows has more, and must travel."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        yield


def _computed(part: Any) -> Any:
    return part.compute(scheduler="synchronous")


def _same(value: Any) -> Any:
    return value
