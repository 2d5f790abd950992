"""Time whole fits with unknown K and compare them with common methods on the same matrices.

python -m benchmarks.speed.peers [--cases classic3,10k,50k]
"""

from __future__ import annotations

import argparse
import multiprocessing
import queue
import time
import warnings

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralCoclustering

from benchmarks.speed.machine import markdown, write
from benchmarks.speed.solvers import matrix
from pyrocco import ROCCO, AutoKMeans


def without_empty(X):
    """Remove rows and columns of zeros, on which spectral co-clustering fails."""
    rows = np.flatnonzero(np.asarray(abs(X).sum(axis=1)).ravel())
    columns = np.flatnonzero(np.asarray(abs(X).sum(axis=0)).ravel())
    return X[rows][:, columns]


CONTEXT = multiprocessing.get_context("spawn")
METHODS = {
    "ROCCO()": lambda X, k: ROCCO().fit(X),
    "SpectralCoclustering(K given)": lambda X, k: SpectralCoclustering(k, random_state=0).fit(
        without_empty(X)
    ),
    "KMeans(K given)": lambda X, k: KMeans(k, n_init=10, random_state=0).fit(X),
    "HDBSCAN(10)": lambda X, k: HDBSCAN(10, n_jobs=-1).fit(X),
    "k-means, K = 2..20 by exact silhouette": lambda X, k: AutoKMeans(random_state=0).fit(X),
}


def run(name, case, k, answer):
    """Time one method on one case; called in a new process, with ROCCO's kernels compiled."""
    X = matrix(case)
    warnings.simplefilter("ignore")
    if name == "ROCCO()":
        ROCCO().fit(X[:600])
    started = time.perf_counter()
    METHODS[name](X, k)
    answer.put(time.perf_counter() - started)


def timed(name, case, k, limit):
    """Return the seconds, or None if the method did not finish within the limit."""
    answer = CONTEXT.Queue()
    process = CONTEXT.Process(target=run, args=(name, case, k, answer))
    process.start()
    try:
        seconds = answer.get(timeout=limit)
    except queue.Empty:
        seconds = None
        process.kill()
    process.join()
    return seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default="classic3,10k,50k")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds per method")
    arguments = parser.parse_args()
    rows = []
    for case in arguments.cases.split(","):
        k = 3 if case == "classic3" else 5
        ours = timed("ROCCO()", case, k, arguments.limit)
        rows.append([case, "ROCCO()", ours, 1.0])
        for name in list(METHODS)[1:]:
            seconds = timed(name, case, k, arguments.limit)
            if seconds is None:
                least = arguments.limit
                rows.append([case, name, f"over {least:g}, stopped", f"over {least / ours:.3g}"])
            else:
                rows.append([case, name, seconds, seconds / ours])
            print(rows[-1], flush=True)
    write(
        "peers",
        "Whole fits against peers",
        f"python -m benchmarks.speed.peers --cases {arguments.cases} --limit {arguments.limit:g}",
        "One run each, float32, all cores. ROCCO determines K for rows and for columns.",
        markdown(["case", "method", "seconds", "times ROCCO's"], rows),
    )


if __name__ == "__main__":
    main()
