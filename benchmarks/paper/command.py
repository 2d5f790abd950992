"""Run the command line: compute missing cells, write the reports."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks.paper import RESULTS
from benchmarks.paper.cell import Cell
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
            cells = _chosen(experiment.cells(_request(options)), options)
            run(cells, store, _limits(options), retry=options.retry, again=options.again)
    finally:
        # Also after an interruption, so that finished cells are in the report.
        frame = store.read()
        if len(frame):
            experiment.report(frame, folder, options.quick)


def _request(options: argparse.Namespace) -> Request:
    return Request(options.quick, options.seeds, options.methods, options.datasets)


def _chosen(cells: Iterable[Cell], options: argparse.Namespace) -> list[Cell]:
    """Return the cells of the selected seeds, on the device if their methods can use it."""
    seeds = options.only_seeds
    chosen = [cell for cell in cells if seeds is None or cell.seed in seeds]
    return [
        replace(cell, device=options.device) if cell.method.takes_device else cell
        for cell in chosen
    ]


def _limits(options: argparse.Namespace) -> Limits:
    seconds = options.time_limit or (20.0 if options.quick else 600.0)
    # The limit is on address space, of which the driver of a GPU reserves more than is used.
    memory = math.inf if options.device == "cuda" else options.memory_limit
    return Limits(seconds, memory, options.threads, options.jobs)


def unknown_name(*pairs: tuple[Iterable[str] | None, Collection[str]]) -> str:
    """Return an error message if a given name is not among the known ones, else an empty string.

    Each pair contains the names on the command line, or None, and the known names.
    """
    for given, known in pairs:
        for name in given or ():
            if name not in known:
                return f"unknown name {name!r}; known: {', '.join(known)}"
    return ""
