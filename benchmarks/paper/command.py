"""Run the command line: compute missing cells, write the reports."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from benchmarks.paper import RESULTS
from benchmarks.paper.experiments import EXPERIMENTS, Experiment, Request
from benchmarks.paper.methods import METHODS
from benchmarks.paper.page import refresh_all
from benchmarks.paper.runner import Limits, run
from benchmarks.paper.store import Store


def run_experiments(options: argparse.Namespace) -> int:
    problem = unknown_name((options.experiments, EXPERIMENTS), (options.methods, METHODS))
    if problem:
        sys.stderr.write(problem + "\n")
        return 2
    folder = options.results / "quick" if options.quick else options.results
    for name in options.experiments or EXPERIMENTS:
        run_experiment(EXPERIMENTS[name], folder, options)
    if folder == RESULTS:
        refresh_all(RESULTS)
    return 0


def run_experiment(experiment: Experiment, folder: Path, options: argparse.Namespace) -> None:
    """Compute the missing cells of an experiment and write its report."""
    store = Store(folder / f"{experiment.name}.csv")
    try:
        if not options.report_only:
            cells = experiment.cells(_request(options))
            run(cells, store, _limits(options), retry=options.retry, again=options.again)
    finally:
        # Also after an interruption, so that finished cells are in the report.
        frame = store.read()
        if len(frame):
            experiment.report(frame, folder, options.quick)


def _request(options: argparse.Namespace) -> Request:
    return Request(options.quick, options.seeds, options.methods, options.datasets)


def _limits(options: argparse.Namespace) -> Limits:
    seconds = options.time_limit or (20.0 if options.quick else 600.0)
    return Limits(seconds, options.memory_limit, options.threads, options.jobs)


def unknown_name(*pairs: tuple[Iterable[str] | None, Collection[str]]) -> str:
    """Return an error message if a given name is not among the known ones, else an empty string.

    Each pair contains the names on the command line, or None, and the known names.
    """
    for given, known in pairs:
        for name in given or ():
            if name not in known:
                return f"unknown name {name!r}; known: {', '.join(known)}"
    return ""
