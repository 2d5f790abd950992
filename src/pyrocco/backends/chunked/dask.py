"""Chunks on the workers of a Dask cluster. Dask is imported in this module only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import numpy as np

from pyrocco._typing import Dense, Labels
from pyrocco.backends.chunked.files import as_mapped
from pyrocco.backends.chunked.matrix import ChunkedMatrix, Store, unchanged

if TYPE_CHECKING:
    from dask.array import Array as DaskArray
    from dask.delayed import Delayed
    from distributed import Client

# Share of the memory of a worker that one piece of work may take. Dask writes results to disk
# above 60 %, the program itself takes some hundred megabytes, and above 80 % Dask pauses.
_SHARE = 0.12
# Assumed memory of a worker without a limit.
_UNLIMITED = 4 * 2**30
# A chunk may take this part of the memory for one piece of work; larger ones are split into
# chunks that take that part.
_LARGEST_CHUNK, _GOOD_CHUNK = 3, 4
# Bytes for each worker up to which chunks are joined. Every chunk costs some milliseconds in every
# round of work, and data of this size are quickly sent to another worker.
_SMALL = 32 * 2**20
# Submissions after which the client waits for an answer of the scheduler.
_AHEAD = 200

# Workers write results to disk earlier than by default, which leaves memory for the pieces that
# they send to each other.
_SPILL_EARLY = {
    "distributed.worker.memory.target": 0.2,
    "distributed.worker.memory.spill": 0.3,
    "distributed.worker.memory.pause": 0.9,
    "distributed.worker.connections.incoming": 4,
    "distributed.worker.connections.outgoing": 4,
    "distributed.worker.transfer.message-bytes-limit": "20MB",
    # Small arrays are returned to the system instead of fragmenting the heap.
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 65536,
    "distributed.nanny.pre-spawn-environ.MALLOC_ARENA_MAX": 2,
}


class ClusterLostError(RuntimeError):
    """The connection to the cluster was lost during a fit."""


class DaskStore:
    """Holds chunks as futures. If a worker dies, other workers compute its chunks again."""

    def __init__(self, client: Client):
        self.client = client
        self._scheduler = cast(Any, client.scheduler)
        self._address = self._scheduler.address
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            raise ClusterLostError(
                f"The cluster at {self._address} has no workers. Start some with "
                f"`dask worker {self._address}`."
            )
        self.n_workers = sum(worker["nthreads"] for worker in workers)
        each = (worker["memory_limit"] or _UNLIMITED for worker in workers)
        threads = (worker["nthreads"] for worker in workers)
        self.memory = int(min(m * _SHARE / t for m, t in zip(each, threads, strict=True)))
        self._run, self._names = uuid4().hex[:8], count()

    def submit(self, work: Callable[..., Any], *arguments: object) -> Any:
        """Start some work; the scheduler remembers how to compute a chunk while it is needed."""
        number = next(self._names)
        key = f"{getattr(work, '__name__', 'work')}-{self._run}-{number}"
        if number % _AHEAD == 0:
            self._wait_for_answer()
        with self._explained(), _large_values():
            return self.client.submit(work, *arguments, key=key, pure=False)

    def put(self, value: object) -> Any:
        """Store a value as the result of work, because scattered data are lost with a worker."""
        return self.submit(unchanged, value)

    def fetch(self, chunks: Sequence[Any]) -> list[Any]:
        """Return the contents of chunks."""
        with self._explained():
            return list(self.client.gather(list(chunks)))

    def _wait_for_answer(self) -> None:
        """Wait until the scheduler has worked off its messages."""
        try:
            self.client.sync(self._scheduler.identity)
        except OSError as error:  # of the connection, since no code of the user runs here
            raise self._lost() from error

    def _lost(self) -> ClusterLostError:
        return ClusterLostError(
            f"The connection to the scheduler at {self._address} was lost. Restart it, then start "
            "the fit again."
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
                f"Workers of {self._address} died repeatedly at the same work, most likely for "
                "lack of memory. Give them more memory, or use more workers."
            ) from error
        except (FutureCancelledError, CommClosedError) as error:
            raise self._lost() from error


def active_client() -> Client | None:
    """Return the Dask client of this program, or None."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def checked_array(X: DaskArray) -> Any:
    """Check that a Dask array can be fitted and convert it to float32 or float64."""
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


def from_dask(X: DaskArray, store: Store) -> ChunkedMatrix:
    """Convert a Dask array to chunks of whole rows in a store."""
    X = _fitting(X.rechunk({1: -1}), store)
    if isinstance(store, DaskStore):
        X = _joined(X, store)
    ends = np.r_[0, np.cumsum(X.chunks[0])].astype(np.intp)
    parts = X.to_delayed(optimize_graph=True).ravel()
    if isinstance(store, DaskStore):
        chunks = store.client.compute(list(parts))
    else:
        chunks = [store.submit(_computed, part) for part in parts]
    return ChunkedMatrix(store, chunks, ends, X.shape[1], X.dtype)


def _fitting(X: DaskArray, store: Store) -> Any:
    """Split chunks that leave too little memory for the work on them."""
    row_bytes = X.shape[1] * X.dtype.itemsize
    if max(X.chunks[0]) * row_bytes <= store.memory / _LARGEST_CHUNK:
        return X
    return X.rechunk({0: max(1, int(store.memory / _GOOD_CHUNK / row_bytes))})


def _joined(X: DaskArray, store: DaskStore) -> Any:
    """Join the chunks of a small dense array to one for each worker."""
    each_worker = -(-X.shape[0] // store.n_workers)
    fits = each_worker * X.shape[1] * X.dtype.itemsize <= min(_SMALL, store.memory / _GOOD_CHUNK)
    is_dense = isinstance(cast(Any, X)._meta, np.ndarray)
    return X.rechunk({0: each_worker}) if fits and is_dense else X


def to_dask(matrix: ChunkedMatrix) -> Any:
    """Convert to a Dask array, which keeps the chunks alive; nothing is moved."""
    import dask.array as da
    from dask.delayed import delayed

    if not isinstance(matrix.store, DaskStore):
        return da.from_array(as_mapped(matrix), chunks=(tuple(np.diff(matrix.ends)), -1))
    matrix = matrix.persist()
    sizes = np.diff(matrix.ends).tolist()
    parts = [
        da.from_delayed(delayed(chunk), (size, matrix.n_columns), dtype=matrix.dtype)
        for chunk, size in zip(matrix.chunks, sizes, strict=True)
    ]
    return da.concatenate(parts)


def chunked_like(values: Dense, ends: Labels) -> Any:
    """Convert an array by row to a Dask array with the same chunks as the rows."""
    import dask.array as da

    return da.from_array(values, chunks=(tuple(np.diff(ends).tolist()),))


@contextmanager
def spilling_early() -> Iterator[None]:
    """Let workers that are started in this context write results to disk early.

    This suits workers whose memory is small compared with the matrix.

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
    """Suppress the warning about values over ten megabytes: the graph of the rows is larger."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        yield


def _computed(part: Delayed) -> Any:
    return part.compute(scheduler="synchronous")
