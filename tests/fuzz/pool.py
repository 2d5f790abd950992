"""Worker processes that run cases, and the tables of what happened."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

from .outcome import OUTCOMES, is_control
from .runner import DEADLINE, Result
from .seeds import FORMATS

# The process that forks must not have threads of its own.
_ONE_THREAD = {
    **{f"{library}_NUM_THREADS": "1" for library in ("NUMBA", "OPENBLAS", "OMP", "MKL")},
    "NUMBA_THREADING_LAYER": "workqueue",
    "PYTHONUTF8": "1",
    "MPLBACKEND": "agg",
}
_ROOT = Path(__file__).parents[2]


def write_seeds(folder: Path) -> None:
    """Write the valid inputs to a folder, in a process of its own."""
    words = [sys.executable, "-m", "tests.fuzz.seeds", str(folder)]
    ended = subprocess.run(words, cwd=_ROOT, env=_environment(), capture_output=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"the valid inputs could not be written: {ended.stderr.decode()}")


def _environment() -> dict[str, str]:
    return {**os.environ, **_ONE_THREAD}


class Worker:
    """A process that forks for every case; see `runner.main` for its parameters."""

    def __init__(
        self, seeds: Path, keep: Path | None = None, deadline: float = DEADLINE, command: str = ""
    ):
        kept = "" if keep is None else str(keep.absolute())
        words = [str(seeds), kept, str(deadline), command]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.runner", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            cwd=_ROOT,
            env=_environment(),
        )

    def run(self, request: str) -> Result:
        """Run a case, by its name or the absolute path of a kept one."""
        self.process.stdin.write(f"{request}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{request}: the worker ended")
        fields = json.loads(answer)
        return Result(**{**fields, "words": tuple(fields["words"])})

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def run_all(
    requests: Iterable[str],
    *,
    jobs: int = 1,
    keep: Path | None = None,
    seconds: float = float("inf"),
    deadline: float = DEADLINE,
    watch: Callable[[list[Result]], None] = lambda results: None,
) -> list[Result]:
    """Run cases on several workers until there is none left, or the time has passed.

    `watch` is called with all results so far after every case.
    """
    results: list[Result] = []
    with _workers(jobs, keep, deadline) as workers:
        waiting = _Requests(requests, time.monotonic() + seconds)
        answers: Queue[Result | BaseException | None] = Queue()
        for worker in workers:
            words = (worker, waiting, answers)
            threading.Thread(target=_work, args=words, daemon=True).start()
        for _ in workers:
            while (answer := answers.get()) is not None:
                if isinstance(answer, BaseException):
                    raise answer
                results.append(answer)
                watch(results)
    return results


@contextmanager
def _workers(jobs: int, keep: Path | None, deadline: float) -> Iterator[list[Worker]]:
    with tempfile.TemporaryDirectory(prefix="fuzz-seeds-") as seeds:
        # Workers import their libraries while the valid inputs are written.
        workers = [Worker(Path(seeds), keep, deadline) for _ in range(jobs)]
        try:
            write_seeds(Path(seeds))
            yield workers
        finally:
            for worker in workers:
                worker.stop()


class _Requests:
    """Cases that wait for a worker, until a time has passed."""

    def __init__(self, requests: Iterable[str], until: float):
        self._requests, self._until, self._lock = iter(requests), until, threading.Lock()

    def take(self) -> str | None:
        with self._lock:
            return next(self._requests, None) if time.monotonic() < self._until else None


def _work(worker: Worker, waiting: _Requests, answers: Queue) -> None:
    """Answer requests, in a thread for every worker; None says that there are no more."""
    try:
        while (request := waiting.take()) is not None:
            answers.put(worker.run(request))
    except BaseException as error:
        answers.put(error)
    answers.put(None)


def describe_table(results: Iterable[Result]) -> str:
    """Return a table of formats and outcomes."""
    counts = Counter((_format(result), result.outcome) for result in results)
    formats = [format for format in FORMATS if any(format == other for other, _ in counts)]
    lines = [" ".join([f"{'':14}", *(f"{outcome:>18}" for outcome in OUTCOMES)])]
    for format in formats:
        cells = (counts[format, outcome] or "" for outcome in OUTCOMES)
        lines.append(" ".join([f"{format:14}", *(f"{cell:>18}" for cell in cells)]))
    totals = Counter(outcome for _, outcome in counts.elements())
    cells = (totals[outcome] for outcome in OUTCOMES)
    lines.append(" ".join([f"{'all':14}", *(f"{cell:>18}" for cell in cells)]))
    return "\n".join(lines)


def _format(result: Result) -> str:
    return result.case.split("-")[0]


def describe_failure(result: Result) -> str:
    """Return the name, the command and the essential lines of the output of a failed case."""
    output = "\n".join(f"    {line}" for line in essential_lines(result.stderr))
    words = " ".join(result.words)
    text = f"{result.case}: {result.outcome}: {result.why}\n    pyrocco {words}\n{output}"
    return "".join(repr(c)[1:-1] if is_control(c) else c for c in text)


def essential_lines(stderr: str, most: int = 8) -> list[str]:
    """Return the last lines, or the innermost calls of a process that was killed."""
    _, killed, calls = stderr.rpartition("(most recent call first):\n")
    return calls.splitlines()[:most] if killed else stderr.strip().splitlines()[-most:]


def group_failures(results: Iterable[Result]) -> list[list[Result]]:
    """Group failed cases that seem to have the same cause, the most frequent ones first."""
    groups: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        if not result.is_fine:
            groups.setdefault(_cause(result), []).append(result)
    return sorted(
        groups.values(), key=lambda group: (OUTCOMES.index(group[0].outcome), -len(group))
    )


def _cause(result: Result) -> tuple[str, ...]:
    """What failures with the same cause have in common: where in pyrocco, and the exception."""
    calls = [line.strip() for line in result.stderr.splitlines() if "/pyrocco/" in line]
    if not calls:
        return result.outcome, _format(result), re.sub(r"0x\w+|\d+|'.*?'|\".*?\"", "", result.why)
    if result.outcome != "traceback":  # the innermost call comes first
        return result.outcome, calls[0]
    return result.outcome, calls[-1], result.why.partition(":")[0]
