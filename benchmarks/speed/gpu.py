"""Time whole fits on a GPU after a warm-up, and compare the labels with those of the CPU.

python -m benchmarks.speed.gpu [--cases 100k,1000k,20news10] [--check 20news10,10k]

The representation, which the default learns only when it is read, is timed after the fit.
`benchmarks.speed.gpu_neighbors` measures the searches for neighbours alone, with their recall.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time

from sklearn.metrics import adjusted_rand_score

from benchmarks.speed.machine import markdown, write
from benchmarks.speed.solvers import matrix
from pyrocco import ROCCO


def fit(X, device):
    output = io.StringIO()
    started = time.perf_counter()
    with contextlib.redirect_stderr(output):
        model = ROCCO(device=device, verbose=1).fit(X)
    return time.perf_counter() - started, model, output.getvalue()


def learned(model):
    """Return the seconds until the representation is learned, and the search of its graph."""
    started = time.perf_counter()
    search = model.row_graph_.search
    return time.perf_counter() - started, search


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default="20news10,classic3,10k,100k,1000k")
    parser.add_argument("--check", default="20news10,classic3,10k")
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    rows = []
    for case in arguments.cases.split(","):
        X = matrix(case)
        fit(X[:5000], arguments.device)
        repeats = 3 if X.shape[0] <= 200_000 else 1
        runs = [fit(X, arguments.device) for _ in range(repeats)]
        seconds, model, output = min(runs, key=lambda run: run[0])
        representation, search = learned(model)
        same, cpu_seconds = "", ""
        if case in arguments.check.split(","):
            cpu_seconds, cpu, _ = fit(X, "cpu")
            same = adjusted_rand_score(cpu.row_labels_, model.row_labels_)
        rows.append(
            [
                case,
                f"{X.shape[0]} x {X.shape[1]}",
                seconds,
                cpu_seconds,
                same,
                model.n_row_clusters_,
                representation,
                search,
                " ".join(output.split("\n")),
            ]
        )
        print(rows[-1], flush=True)
    write(
        "gpu",
        "Whole fits on a GPU",
        f"python -m benchmarks.speed.gpu --device {arguments.device}",
        "float32, K unknown, least of three runs after a warm-up (one run at 1000k).",
        markdown(
            [
                "case",
                "shape",
                "seconds",
                "CPU of the same machine",
                "ARI with the CPU",
                "row clusters",
                "seconds of the representation",
                "search of its graph",
                "stages",
            ],
            rows,
        ),
    )


if __name__ == "__main__":
    main()
