"""Compare methods on a collection of matrices: ``python -m benchmarks.collection real``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.collection import RESULTS
from benchmarks.paper.options import add_run_options, set_threads


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    set_threads(options.threads)
    from benchmarks.collection.command import run_experiments  # noqa: PLC0415

    return run_experiments(options)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.collection",
        description="Run experiments on real sets as they come and on planted matrices. "
        "Finished cells are not computed again.",
    )
    add = parser.add_argument
    add("experiments", nargs="*", help="real, planted; default both")
    add("--sets", nargs="+", metavar="D", dest="datasets", help="only these sets or cases")
    add("--rows", type=int, help="cut text to this many random rows, one seed each")
    add("--time-limit", type=float, metavar="S", help="seconds per cell (600)")
    add_run_options(parser, RESULTS)
    parser.set_defaults(quick=False)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
