"""Start a Dask cluster on this machine, or connect to a running one."""

from __future__ import annotations

import gc
import logging
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import typer
from joblib import cpu_count

from pyrocco.backends.chunked.dask import spilling_early
from pyrocco.cli.terminal import signal_handled
from pyrocco.io.errors import extra

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["NoClusterError", "parse_cluster", "peak_memory", "start_cluster"]

_SECONDS_TO_ANSWER = 10
_THIS_MACHINE = "127.0.0.1"


class NoClusterError(OSError):
    """The cluster cannot be used; the message says what to do."""


@contextmanager
def start_cluster(cluster: str | None, memory_limit: int | None) -> Iterator[Client | None]:
    """Start the cluster of the option ``--cluster`` or connect to it, and close it at the end.

    All processes of a local cluster together may use `memory_limit` bytes.
    """
    if cluster is None:
        yield None
        return
    with extra("cluster", "Fits on a cluster"):
        import distributed  # noqa: PLC0415 - an optional package
    address = parse_cluster(cluster)
    started = (
        _connect(distributed, address)
        if isinstance(address, str)
        else _start_local(distributed, address, memory_limit)
    )
    with _quiet_loggers(), started as client:
        yield client


def parse_cluster(text: str) -> str | int:
    """Parse ``local``, ``local:4`` (a number of processes) or ``tcp://host:8786``."""
    if text == "local":
        return int(cpu_count())
    local = re.fullmatch(r"local:([1-9]\d*)", text)
    if local:
        return int(local[1])
    if re.fullmatch(r"\w+://[^/\s]+:\d+", text):
        return text
    raise typer.BadParameter(
        "write local for this machine, local:4 for four processes on it, or the address of a "
        f"Dask scheduler such as tcp://192.168.0.10:8786, not '{text}'",
        param_hint="--cluster",
    )


def peak_memory() -> int | None:
    """Return the peak memory of this process in bytes, or None if it is not reported."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        pass
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


@contextmanager
def _start_local(
    distributed: ModuleType, n_workers: int, memory_limit: int | None
) -> Iterator[Client]:
    # A terminal sends Ctrl-C to all processes, but only the main process should act on it, since
    # it writes the checkpoint. Worker processes inherit that they ignore it.
    with signal_handled(signal.SIGINT, signal.SIG_IGN), spilling_early():
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit="auto" if memory_limit is None else memory_limit // n_workers,
            # Only this machine can connect, to a free port, so that several clusters can run.
            host=_THIS_MACHINE,
            dashboard_address=f"{_THIS_MACHINE}:0",
            silence_logs=logging.CRITICAL,  # errors are raised in the main process
        )
    with cluster, distributed.Client(cluster) as client:
        yield client


@contextmanager
def _connect(distributed: ModuleType, address: str) -> Iterator[Client]:
    try:
        client = distributed.Client(address, timeout=_SECONDS_TO_ANSWER)
    except (OSError, ValueError) as error:
        raise NoClusterError(
            f"{address}: no Dask scheduler answers there; start one with: dask scheduler, and "
            f"workers for it with: dask worker {address}; or use --cluster local"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_SECONDS_TO_ANSWER)
        except TimeoutError as error:
            raise NoClusterError(
                f"{address}: the scheduler has no workers; start some with: dask worker {address}"
            ) from error
        yield client


@contextmanager
def _quiet_loggers() -> Iterator[None]:
    """Silence loggers that would repeat, with tracebacks, the errors that are raised anyway.

    asyncio lists the unfinished tasks of a fit that was stopped, and the client of Dask prints
    a traceback when it loses its scheduler.
    """
    loggers = [logging.getLogger(name) for name in ("asyncio", "distributed.client")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        gc.collect()  # asyncio lists tasks when they are collected: collect them now
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
