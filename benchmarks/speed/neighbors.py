"""Seconds, recall and memory of neighbour searches, each in a new process.

python -m benchmarks.speed.neighbors [--sizes 50000 ...] [--methods exact graph ...] [--limit 900]

One run writes the whole table. The methods hnsw, ivf (faiss-cpu), pynndescent and usearch are for
comparison and run if the package is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.datasets import make_biclusters, make_blobs

from benchmarks.speed.machine import RESULTS, markdown, write
from pyrocco import mutual_knn_graph
from pyrocco.graph.approximate import ApproximateSearch
from pyrocco.graph.build import choose_search
from pyrocco.graph.distances import distances_between_rows
from pyrocco.graph.exact import ExactSearch, nearest_outside

K = 10
SAMPLE = 2_000
HEADER = [
    "data", "rows", "method", "seconds", "CPU seconds", "CPU / exact", "recall@10", "peak GB",
    "load",
]  # fmt: skip


def biclusters(n):
    """Make a matrix like the paper's synthetic sets."""
    X = make_biclusters((n, 100), 5, noise=10, random_state=0)[0]
    return X.astype(np.float32, order="C")


def blobs(n):
    """Make overlapping clusters in 20 of 100 dimensions, with noise in all."""
    rng = np.random.default_rng(0)
    X = make_blobs(n, 20, centers=50, cluster_std=3, random_state=0)[0].astype(np.float32)
    basis = np.linalg.qr(rng.normal(size=(100, 20)))[0].astype(np.float32)
    return X @ basis.T + rng.standard_normal((n, 100), dtype=np.float32)


def hnsw(X):
    faiss = import_module("faiss")

    index = faiss.IndexHNSWFlat(X.shape[1], 24)
    index.hnsw.efConstruction, index.hnsw.efSearch = 100, 64
    index.add(X)
    return index.search(X, K + 1)[1]


def ivf(X):
    faiss = import_module("faiss")

    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], int(2 * len(X) ** 0.5))
    index.cp.niter, index.cp.max_points_per_centroid, index.nprobe = 6, 32, 64
    index.cp.min_points_per_centroid = 1
    index.train(X)
    index.add(X)
    return index.search(X, K + 1)[1]


def pynndescent(X):
    module = import_module("pynndescent")
    return module.NNDescent(X, n_neighbors=K + 1, random_state=0, n_jobs=1).neighbor_graph[0]


def usearch(X):
    index = import_module("usearch.index").Index(
        ndim=X.shape[1], metric="l2sq", dtype="f32", connectivity=24
    )
    index.add(np.arange(len(X)), X)
    return np.asarray(index.search(X, K + 1).keys).astype(np.intp)


class Recorded:
    """A search that stores its result, to compute the recall of a whole graph."""

    def __init__(self, search):
        self.search_with, self.name = search, search.name

    def search(self, X, n_neighbors, metric):
        self.found = self.search_with.search(X, n_neighbors, metric)
        return self.found


def graph(X):
    """Build a graph as an estimator does: search, spanning forest and bridges."""
    search = Recorded(choose_search(X, "euclidean"))
    mutual_knn_graph(X, K, search=search)
    return search.found.indices


DATA = {"biclusters": biclusters, "blobs": blobs}
METHODS = {
    "exact": lambda X: ExactSearch().search(X, K, "euclidean").indices,
    "approximate": lambda X: ApproximateSearch().search(X, K, "euclidean").indices,
    "graph": graph,
    "hnsw": hnsw,
    "ivf": ivf,
    "pynndescent": pynndescent,
    "usearch": usearch,
}
PACKAGES = {
    "hnsw": "faiss", "ivf": "faiss", "pynndescent": "pynndescent", "usearch": "usearch",
}  # fmt: skip


def recall(X, indices):
    rows = np.random.default_rng(1).choice(len(X), min(SAMPLE, len(X)), replace=False)
    distances = distances_between_rows(X, "euclidean")
    truth = nearest_outside(distances, rows, np.arange(len(X)), K).indices
    shared = [len(set(indices[i]) & set(t)) for i, t in zip(rows, truth, strict=True)]
    return sum(shared) / truth.size


def measure(data, n, method):
    """Return one row of the table; kernels are compiled before timing starts."""
    X = DATA[data](n)
    METHODS[method](X[:2000])
    wall, cpu = time.perf_counter(), time.process_time()
    indices = METHODS[method](X)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = recall(X, indices)
    return [data, n, method, wall, cpu, None, found, peak, os.getloadavg()[0]]


def in_a_process(data, n, method, limit):
    command = [sys.executable, "-m", "benchmarks.speed.neighbors", "--cell", data, str(n), method]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
        line = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        line = [data, n, method, *[None] * 5, os.getloadavg()[0]]
    print(*line, file=sys.stderr, flush=True)
    return line


def cells(sizes, methods):
    for n in sizes:
        for data in DATA:
            for method in methods:
                # The exact search of a million rows would take half an hour.
                if n <= 100_000 or method != "exact":
                    yield data, n, method


def with_ratios(frame):
    exact = frame[frame["method"] == "exact"].set_index(["data", "rows"])["CPU seconds"]
    keys = pd.MultiIndex.from_frame(frame[["data", "rows"]])
    ratios = frame["CPU seconds"].to_numpy() / exact.reindex(keys).to_numpy()
    return frame.assign(**{"CPU / exact": ratios})


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sizes", nargs="+", type=int, default=[50_000, 100_000, 1_000_000])
    arguments.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    arguments.add_argument("--limit", type=float, default=900, help="seconds per row")
    arguments.add_argument("--cell", nargs=3)
    options = arguments.parse_args()
    if options.cell:
        data, n, method = options.cell
        print(json.dumps(measure(data, int(n), method)))
        return
    methods = [m for m in options.methods if find_spec(PACKAGES.get(m, "pyrocco"))]
    lines = [in_a_process(*cell, options.limit) for cell in cells(options.sizes, methods)]
    report(with_ratios(pd.DataFrame(lines, columns=HEADER)), options.limit)


def report(frame, limit):
    RESULTS.mkdir(exist_ok=True)
    frame.round(4).to_csv(RESULTS / "neighbors.csv", index=False)
    write(
        "neighbors",
        "Nearest neighbours of rows of 100 columns, float32",
        "python -m benchmarks.speed.neighbors",
        markdown(HEADER, frame.astype(object).where(frame.notna(), "").values.tolist()),
        "Exact and approximate are our searches; graph is the search chosen for the size, the "
        "spanning forest and the bridges. For comparison: hnsw (M=24, efConstruction 100, "
        "efSearch 64) and ivf (cells and probes as ours) of faiss-cpu, pynndescent (one thread, "
        "its defaults) and usearch (connectivity 24).",
        "Recall is computed for 2,000 rows against exact search. Peak memory is that of the "
        "process, including the generation of the data, which hides most searches at 50,000 and "
        f"100,000 rows. A row that took more than {limit:g} s, including its recall, was stopped "
        "and is empty. Load is the machine's mean over the minute of the measurement: above the "
        "number of cores, other work has slowed it down, and ratios of CPU seconds to those of "
        "exact search are more reliable than seconds.",
        "A million rows with more cells searched: [probes](probes.md).",
    )


if __name__ == "__main__":
    main()
