"""Telling the user where a fit stands, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Progress:
    """Prints one line a stage (verbose 1) and one an iteration (verbose 2).

    Examples
    --------
    >>> progress = Progress(verbose=0)
    >>> with progress.stage("row graph"):
    ...     pass
    """

    def __init__(self, verbose: int = 0):
        self.verbose = verbose

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Announce a stage and, when it is over, how long it took."""
        started = time.perf_counter()
        yield
        if self.verbose >= 1:
            self._say(f"{name}: {time.perf_counter() - started:.2f} s")

    def iteration(self, record: dict[str, Any]) -> None:
        """Tell of one iteration of the representation."""
        if self.verbose >= 2:
            self._say(
                f"  iteration {record['iteration']}: objective {record['objective']:.6g}, "
                f"{record['solver_iterations']} solver iterations"
            )

    def _say(self, line: str) -> None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
