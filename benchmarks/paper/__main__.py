"""Run experiments of the paper: ``python -m benchmarks.paper table2 --quick``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.paper import RESULTS


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    # Worker processes read these variables when they load the linear algebra libraries.
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{library}_NUM_THREADS"] = str(options.threads)
    from benchmarks.paper.command import run_experiments  # noqa: PLC0415

    return run_experiments(options)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper",
        description="Run the paper's experiments. Finished cells are not computed again.",
    )
    add = parser.add_argument
    add(
        "experiments",
        nargs="*",
        help="fig1_fig2, fig3, fig4, fig5, robustness, table1, table2; default all",
    )
    add("--quick", action="store_true", help="small data, few seeds; results in results/quick")
    add("--seeds", type=int, help="number of seeds, from 0")
    add("--methods", nargs="+", metavar="M", help="only these methods")
    add("--datasets", nargs="+", metavar="D", help="only these data sets (name or name:scaling)")
    add("--time-limit", type=float, metavar="S", help="seconds per cell (600; quick: 20)")
    add("--memory-limit", type=float, default=16, metavar="GIB", help="per cell (%(default)s)")
    add("--threads", type=int, default=1, help="threads of linear algebra (%(default)s)")
    add("--jobs", type=int, default=1, help="cells computed at the same time (%(default)s)")
    add("--retry", action="store_true", help="compute failed and timed-out cells again")
    add("--again", action="store_true", help="compute the selected cells again, finished or not")
    add("--report-only", action="store_true", help="rewrite tables and figures from the CSV files")
    add("--results", type=Path, default=RESULTS, help="folder to write to")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
