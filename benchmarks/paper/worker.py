"""Worker process for cells: a hang or a crash ends only the current cell."""

from __future__ import annotations

import math
import resource
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.paper.cell import Cell
from benchmarks.paper.compute import Row, compute

_START_LIMIT = 300.0


class Worker:
    """Computes one cell at a time; starts on first use and restarts after a crash.

    Parameters
    ----------
    time_limit : float
        Seconds per cell, including loading the data.
    memory_limit : float
        GiB of address space; infinity for no limit.
    """

    def __init__(self, time_limit: float, memory_limit: float):
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self._process: Any = None

    def run(self, cell: Cell) -> Row:
        """Compute `cell`, or return the reason of the failure."""
        if self._process is None:
            self._start()
        try:
            self._pipe.send(cell)
            if self._pipe.poll(self.time_limit):
                return self._pipe.recv()
            return self._lost("timeout", f"not done after {self.time_limit:g} s")
        except (EOFError, OSError):
            self._process.join(10)
            return self._lost("failed", f"process died, exit code {self._process.exitcode}")

    def close(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, end = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(end, self.memory_limit, compute), daemon=True
        )
        self._process.start()
        end.close()
        if not self._pipe.poll(_START_LIMIT):
            raise RuntimeError("the worker process did not start")
        self._pipe.recv()

    def _lost(self, status: str, reason: str) -> Row:
        self.close()
        return {"status": status, "reason": reason}


def _serve(pipe: Connection, memory_limit: float, answer: Callable[[Cell], Row]) -> None:
    if math.isfinite(memory_limit):
        limit = int(memory_limit * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    pipe.send("ready")
    while True:
        try:
            cell = pipe.recv()
        except EOFError:
            return
        pipe.send(answer(cell))
