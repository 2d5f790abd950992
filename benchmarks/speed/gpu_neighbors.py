"""Seconds, memory and recall of the searches for neighbours by PyTorch, on rows on the device.

python -m benchmarks.speed.gpu_neighbors [--cases 50k,100k,300k,1000k] [--device cuda]

Every search runs once before it is timed. The recall of the search among rounded rows is that of
a sample of rows, in double precision, and of the graph, compared with that of the exact search.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.speed.machine import markdown, write
from benchmarks.speed.neighbors import blobs
from benchmarks.speed.solvers import matrix
from pyrocco.backends.device_neighbors import RoundedNeighbors
from pyrocco.backends.torch import TorchBackend

K = 10
# Least of so many runs.
REPEATS = 3
HEADER = [
    "data", "rows", "exact s", "rounded s", "product s", "selection s", "distances s",
    "recall of the sample", "shared with exact", "rows in a block", "peak GB beside the rows",
]  # fmt: skip


class Timer:
    """Times work on a device, which runs after the call that starts it has returned."""

    def __init__(self, backend):
        self.torch, self.on_gpu = backend.torch, backend.device.type == "cuda"

    def wait(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def __call__(self, work, repeats=REPEATS):
        result, times = work(), []
        for _ in range(repeats):
            del result
            self.wait()
            started = time.perf_counter()
            result = work()
            self.wait()
            times.append(time.perf_counter() - started)
        return min(times), result

    def peak(self, work):
        """Return the memory in GB that some work takes at most, beyond what is taken before."""
        if not self.on_gpu:
            return float("nan")
        before = self.torch.cuda.memory_allocated()
        self.torch.cuda.reset_peak_memory_stats()
        work()
        return (self.torch.cuda.max_memory_allocated() - before) / 2**30


def stages(search, timer):
    """Return the seconds of product, selection and distances, each for all blocks of rows."""
    queries = search.torch.arange(search.block_rows(), device=search.rows.device)
    queries = queries[: len(search.rows)]
    n_blocks = len(search.rows) / len(queries)
    product, scores = timer(lambda: search.scores(queries))
    selection, (candidates, absent) = timer(lambda: search.candidates(scores))
    distances, _ = timer(lambda: search.lengths.nearest(queries, candidates, absent, search.count))
    return [n_blocks * seconds for seconds in (product, selection, distances)]


def measure(name, X, backend):
    timer, rows = Timer(backend), backend.prepare(X, "euclidean")
    everyone = np.arange(len(X))
    search = RoundedNeighbors(backend.torch, rows, K, "euclidean")
    seconds, found = timer(lambda: backend.nearest_of_many(rows, K, "euclidean"))
    exact, truth = timer(lambda: backend.nearest(rows, everyone, everyone, K, "euclidean"), 1)
    shared = 0.0
    if found is not None:
        pairs = zip(found[0], truth[0], strict=True)
        shared = np.mean([len(np.intersect1d(a, b)) for a, b in pairs]) / K
    peak = timer.peak(lambda: backend.nearest_of_many(rows, K, "euclidean"))
    recall, each = search.recall(), stages(search, timer)
    return [
        name, len(X), exact, seconds, *each, f"{recall:.4f}", f"{shared:.4f}",
        search.block_rows(), peak,
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default="50k,100k,300k,1000k")
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    backend, rows = TorchBackend(arguments.device), []
    for case in arguments.cases.split(","):
        n_rows = 1000 * int(case[:-1])
        for name, X in (("biclusters", matrix(case)), ("blobs", blobs(n_rows))):
            rows.append(measure(name, X, backend))
            print(rows[-1], flush=True)
    write(
        "gpu_neighbors",
        "Neighbours of rows on a GPU",
        f"python -m benchmarks.speed.gpu_neighbors --device {arguments.device}",
        f"{arguments.device}, PyTorch {backend.torch.__version__}, {K} neighbours of rows with "
        f"100 columns in float32, least of {REPEATS} runs after a warm-up (one run of the exact "
        "search). Product, selection and distances are one block of rows times the number of "
        "blocks.",
        markdown(HEADER, rows),
    )


if __name__ == "__main__":
    main()
