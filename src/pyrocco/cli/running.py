"""Options about where a fit runs, and the cluster they ask for."""

from __future__ import annotations

import gc
import logging
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from joblib import cpu_count

from pyrocco import ROCCO
from pyrocco.backends.chunked.dask import spilling_early
from pyrocco.cli.stopping import handled
from pyrocco.estimators.budget import parse_bytes
from pyrocco.io import is_sharded
from pyrocco.io.extras import extra

__all__ = ["NoClusterError", "Running", "parse_cluster", "peak_memory"]

_PANEL = "Matrices larger than memory"
_SECONDS_TO_ANSWER = 10


class NoClusterError(OSError):
    """The cluster that was asked for cannot be used; the message says what to do.

    Examples
    --------
    >>> raise NoClusterError("nobody answers")
    Traceback (most recent call last):
    pyrocco.cli.running.NoClusterError: nobody answers
    """


@dataclass(frozen=True)
class Running:
    """Where to run, and whether to go on with what was begun.

    Examples
    --------
    >>> Running(cluster="local:2").in_blocks(Path("counts.csv")), Running().limit
    (True, None)
    """

    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="local[:N]|tcp://HOST:PORT",
            help="Fit in blocks of rows on a Dask cluster: N processes of this machine, or a "
            "scheduler that runs.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Keep within this much memory, such as 4GB; of a local cluster, all processes "
            "together.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a fit that was stopped by Ctrl-C.")
    ] = False

    @property
    def limit(self) -> int | None:
        """The memory limit in bytes."""
        try:
            size = None if self.memory_limit is None else parse_bytes(self.memory_limit)
        except ValueError:
            size = 0
        if size == 0:
            raise typer.BadParameter(
                f"write a size such as 4GB or 500MB, not '{self.memory_limit}'",
                param_hint="--memory-limit",
            )
        return size

    def in_blocks(self, path: Path) -> bool:
        """Whether the matrix is fitted in blocks of rows."""
        return is_sharded(path) or self.cluster is not None

    def check(self) -> None:
        """Refuse options that make no sense, before any work is done."""
        where = None if self.cluster is None else parse_cluster(self.cluster)
        if self.limit is not None and isinstance(where, str):
            raise typer.BadParameter(
                f"has no effect on the workers of {where}, which have limits of their own: start "
                "them with dask worker --memory-limit",
                param_hint="--memory-limit",
            )

    def limit_estimator(self, model: ROCCO) -> None:
        """Let the estimator keep the limit where no cluster does."""
        if self.limit is not None and self.cluster is None:
            model.set_params(memory_limit=self.limit)

    @contextmanager
    def started(self) -> Iterator[Any]:
        """Start or find the cluster for this block; yields its client, or None."""
        where = None if self.cluster is None else parse_cluster(self.cluster)
        if where is None:
            yield None
            return
        with extra("cluster", "Fits on a cluster"):
            import distributed  # noqa: PLC0415 - an optional package
        if isinstance(where, str):
            cluster = _connect(distributed, where)
        else:
            cluster = _local(distributed, where, self.limit)
        with _without_chatter(), cluster as client:
            yield client


def parse_cluster(text: str) -> str | int:
    """Understand ``local``, ``local:4`` and ``tcp://host:8786``.

    Parameters
    ----------
    text : str
        What the user wrote.

    Returns
    -------
    str or int
        Address of a scheduler, or number of processes on this machine.

    Examples
    --------
    >>> parse_cluster("local:4"), parse_cluster("tcp://10.0.0.7:8786")
    (4, 'tcp://10.0.0.7:8786')
    """
    if text == "local":
        return int(cpu_count())
    found = re.fullmatch(r"local:([1-9]\d*)", text)
    if found:
        return int(found[1])
    if re.fullmatch(r"\w+://[^/\s]+:\d+", text):
        return text
    raise typer.BadParameter(
        f"write local for this machine, local:4 for four processes of it, or the address of a "
        f"Dask scheduler such as tcp://192.168.0.10:8786, not '{text}'",
        param_hint="--cluster",
    )


def peak_memory() -> int | None:
    """Most memory that this process has had at any time.

    Returns
    -------
    int or None
        Bytes; None where the system does not say.

    Examples
    --------
    >>> peak_memory() is None or peak_memory() > 1_000_000
    True
    """
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
def _without_chatter() -> Iterator[None]:
    """What goes wrong is raised, and told in a line of our own.

    A fit that is stopped leaves tasks that nobody asks about, and asyncio would list them; a
    scheduler that is lost makes Dask's client print where in it that happened.
    """
    loggers = [logging.getLogger(name) for name in ("asyncio", "distributed.client")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        gc.collect()  # they are listed when they go, so let them go now
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def _local(distributed: Any, n_workers: int, limit: int | None) -> Iterator[Any]:
    # A terminal sends Ctrl-C to all processes, but only the one that keeps the state of the fit is
    # to act on it. While the others start, a matter of seconds, it is deaf as well.
    with handled(signal.SIGINT, signal.SIG_IGN), spilling_early():
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit="auto" if limit is None else limit // n_workers,
            dashboard_address=":0",  # any free port: several may run on one machine
            silence_logs=logging.CRITICAL,  # what goes wrong is raised here
        )
    with cluster, distributed.Client(cluster) as client:
        yield client


@contextmanager
def _connect(distributed: Any, address: str) -> Iterator[Any]:
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
