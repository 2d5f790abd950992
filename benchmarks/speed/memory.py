"""Peak memory that a fit adds to the process; each case runs in a new process.

python -m benchmarks.speed.memory [--cases 20k,100k,classic3,20news10]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.speed.machine import markdown, write
from pyrocco import ROCCO
from pyrocco.datasets import load, make_noisy_biclusters

SHAPES = {"20k": (20_000, 1000), "100k": (100_000, 100)}
CASES = (*SHAPES, "classic3", "20news10")
LIMIT = 6
HEADER = [
    "case", "shape", "dense float32, MB", "graphs, MB", "before, MB", "peak above it, MB",
    "less graphs, times dense", "peak of each stage, times dense",
]  # fmt: skip


def matrix(case):
    if case in SHAPES:
        made = make_noisy_biclusters(SHAPES[case], 5, noise=10, random_state=0)
        return made.X.astype(np.float32, order="C")
    return load(case).X.astype(np.float32)


def megabytes(field):
    """Return the resident memory of this process: current (VmRSS) or peak (VmHWM)."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024


class Stages:
    """A stream for the verbose output of a fit that records the peak memory of every stage."""

    def __init__(self):
        self.peaks = {}
        self.restart()

    def restart(self):
        Path("/proc/self/clear_refs").write_text("5")

    def write(self, text):
        for stage in re.findall(r"^(.+): [\d.]+ s$", text, flags=re.MULTILINE):
            self.peaks[stage] = megabytes("VmHWM")
            self.restart()

    def flush(self):
        pass


def graph_megabytes(*graphs):
    """Memory of the edges: ends, weight, and two entries of the Laplacian."""
    return sum(graph.n_edges for graph in graphs) * (3 * 8 + 2 * (8 + 4 + 2 * 8)) / 2**20


def measure(case):
    """Return one row of the table; kernels are compiled before the baseline is measured."""
    X = matrix(case)
    ROCCO().fit(X[:2000])
    before = megabytes("VmRSS")
    stages = Stages()
    with contextlib.redirect_stderr(stages):
        model = ROCCO(verbose=1).fit(X)
    stages.peaks["the rest"] = megabytes("VmHWM")
    rows, columns = X.shape
    dense = 4 * rows * columns / 2**20
    graphs = (model.row_graph_, model.column_graph_) if model.has_representation_ else ()
    graph = graph_megabytes(*graphs)
    peaks = {stage: (peak - before) / dense for stage, peak in stages.peaks.items()}
    above = max(peaks.values()) * dense
    shown = ", ".join(f"{stage} {ratio:.1f}" for stage, ratio in peaks.items())
    ratio = (above - graph) / dense
    return [case, f"{rows} x {columns}", dense, graph, before, above, ratio, shown]


def in_a_process(case):
    command = [sys.executable, "-m", "benchmarks.speed.memory", "--cell", case]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    line = json.loads(done.stdout.splitlines()[-1])
    print(*line, file=sys.stderr, flush=True)
    return line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--cell")
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(measure(options.cell)))
        return
    write(
        "memory",
        "Peak memory of a fit",
        f"python -m benchmarks.speed.memory --cases {options.cases}",
        "float32, row-major, K unknown, defaults. Before the fit the process contains X, the "
        "libraries and the compiled kernels; the peak is the largest resident memory that the "
        f"fit adds. The limit is {LIMIT} times the dense float32 size of X, plus the graphs. Text "
        "is sparse.",
        markdown(HEADER, [in_a_process(case) for case in options.cases.split(",")]),
    )


if __name__ == "__main__":
    main()
