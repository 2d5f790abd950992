"""Run experiments of the paper: ``python -m benchmarks.paper table2 --quick``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.paper import RESULTS
from benchmarks.paper.options import add_run_options, set_threads


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    set_threads(options.threads)
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
        help="fig1_fig2, fig3, fig4, fig5, readings, robustness, table1, table2; default all",
    )
    add("--quick", action="store_true", help="small data, few seeds; results in results/quick")
    add("--datasets", nargs="+", metavar="D", help="only these data sets (name or name:scaling)")
    add("--time-limit", type=float, metavar="S", help="seconds per cell (600; quick: 20)")
    add_run_options(parser, RESULTS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
