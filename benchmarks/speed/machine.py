"""Timing, a description of the machine, and the pages with speed tables."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import joblib

import pyrocco
from benchmarks.paper.versions import source_commit

RESULTS = Path(__file__).parent / "results"


def best_of(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the least wall-clock seconds of several runs after a warm-up, and the result."""
    result = work()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - started)
    return min(times), result


def describe() -> str:
    """Return date, processor, cores, load, versions and commit in one line."""
    names = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    processor = names[0].split(":")[1].strip() if names else platform.processor()
    return (
        f"{date.today()}, {processor}, {joblib.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f} at the end, Python {platform.python_version()}, "
        f"pyrocco {pyrocco.__version__}, commit {source_commit() or 'unknown'}"
    )


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table; floats have three significant digits."""
    lines = [header, ["---"] * len(header), *([_cell(value) for value in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def write(name: str, title: str, command: str, *parts: str) -> None:
    """Write and print a page of results."""
    RESULTS.mkdir(exist_ok=True)
    page = "\n\n".join([f"# {title}", f"`{command}`, {describe()}.", *parts]) + "\n"
    (RESULTS / f"{name}.md").write_text(page, encoding="utf-8")
    print(page)
