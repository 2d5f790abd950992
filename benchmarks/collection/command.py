"""Run the command line: compute missing cells, write the pages."""

from __future__ import annotations

import argparse
import sys

from benchmarks.collection.experiments.planted import NAMES, PLANTED
from benchmarks.collection.experiments.real import real_experiment
from benchmarks.collection.methods import METHODS
from benchmarks.collection.planted import CASES, NOISES
from benchmarks.collection.sets import ALL
from benchmarks.paper.command import run_experiment, unknown_name


def run_experiments(options: argparse.Namespace) -> int:
    experiments = {"real": real_experiment(options.rows), "planted": PLANTED}
    problem = unknown_name(
        (options.experiments, experiments),
        (options.methods, [*METHODS, *NAMES]),
        (options.datasets, [*ALL, *(source.name for source in (*CASES, *NOISES))]),
    )
    if problem:
        sys.stderr.write(problem + "\n")
        return 2
    for name in options.experiments or experiments:
        run_experiment(experiments[name], options.results, options)
    return 0
