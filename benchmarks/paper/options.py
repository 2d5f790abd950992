"""Options that the command lines of the benchmarks share."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def add_run_options(parser: argparse.ArgumentParser, results: Path) -> None:
    """Add the options about what is computed again, limits, and where results are written."""
    add = parser.add_argument
    add("--seeds", type=int, help="number of seeds, from 0")
    add("--only-seeds", type=int, nargs="+", metavar="N", help="only these of the seeds")
    add("--methods", nargs="+", metavar="M", help="only these methods")
    add("--memory-limit", type=float, default=16, metavar="GIB", help="per cell (%(default)s)")
    add("--threads", type=int, default=1, help="threads of linear algebra (%(default)s)")
    add(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="where methods compute that can use a GPU; without a limit on memory if it is one "
        "(%(default)s)",
    )
    add("--jobs", type=int, default=1, help="cells computed at the same time (%(default)s)")
    add("--retry", action="store_true", help="compute failed and timed-out cells again")
    add("--again", action="store_true", help="compute the selected cells again, finished or not")
    add("--report-only", action="store_true", help="rewrite tables and figures from the CSV files")
    add("--results", type=Path, default=results, help="folder to write to")


def set_threads(threads: int) -> None:
    """Set the variables that worker processes read when they load linear algebra libraries."""
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{library}_NUM_THREADS"] = str(threads)
