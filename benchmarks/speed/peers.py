"""Time whole fits with unknown K and compare them with common methods on the same matrices.

python -m benchmarks.speed.peers [--cases classic3,10k,100k] [--limit 40]
"""

from __future__ import annotations

import argparse
import multiprocessing
import queue
import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.cluster import HDBSCAN, KMeans, SpectralCoclustering

from benchmarks.collection.methods import leiden
from benchmarks.speed.machine import markdown, write
from benchmarks.speed.solvers import matrix
from pyrocco import ROCCO, AutoKMeans

# Counts of single cells in sparse matrices: cells, genes, share of the cells of the matrix that
# are not zero. The first is also measured as an array.
CELLS = {
    "cells-40%": (307, 14_078, 0.4),
    "cells-40%-array": (307, 14_078, 0.4),
    "cells-5%": (2100, 20_670, 0.05),
}
CASES = ("classic3", "20news10", *CELLS, "10k", "50k", "100k")
TRUE_K = {"classic3": 3, "20news10": 10}


def load(case):
    """Return the matrix of a case in single precision, and its number of row clusters."""
    if case not in CELLS:
        return matrix(case), TRUE_K.get(case, 5)
    X = cell_counts(*CELLS[case])
    return (X.toarray() if case.endswith("array") else X), 5


def cell_counts(n_cells, n_genes, filled):
    """Draw counts of five types of cells; depths of cells and levels of genes are log-normal."""
    rng = np.random.default_rng(0)
    types = rng.integers(5, size=n_cells)
    changed = rng.random((5, n_genes)) < 0.05
    fold = np.exp(changed * rng.normal(0, 1.5, (5, n_genes)))
    rates = np.outer(rng.lognormal(0, 0.3, n_cells), rng.lognormal(0, 2, n_genes)) * fold[types]
    return sparse.csr_array(rng.poisson(rates * depth(rates, filled)).astype(np.float32))


def depth(rates, filled):
    """Return the factor of the rates with which the wanted share of Poisson counts is not zero."""
    low, high = 1e-6, 1e3
    for _ in range(40):
        middle = np.sqrt(low * high)
        if (1 - np.exp(-rates[:200] * middle)).mean() < filled:
            low = middle
        else:
            high = middle
    return middle


def leiden_of_cells(X):
    """Leiden as users of scanpy prepare it: equal totals, logarithms, principal components."""
    return leiden.cluster_prepared(X, None, 0, "cells")


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
    "Leiden, prepared by hand": lambda X, k: leiden_of_cells(X),
}


def methods(case):
    """Return the names of the methods to compare: Leiden is for cells."""
    return [name for name in METHODS if case in CELLS or not name.startswith("Leiden")]


def run(name, case, answer):
    """Time one method on one case; called in a new process, with ROCCO's kernels compiled."""
    X, k = load(case)
    warnings.simplefilter("ignore")
    if name == "ROCCO()":
        ROCCO().fit(X[:2000])
    started = time.perf_counter()
    try:
        METHODS[name](X, k)
    except Exception as error:
        answer.put(f"{type(error).__name__}: {error}")
    else:
        answer.put(time.perf_counter() - started)


def timed(name, case, limit):
    """Return the seconds, the error, or None if the method did not finish within the limit."""
    answer = CONTEXT.Queue()
    process = CONTEXT.Process(target=run, args=(name, case, answer))
    process.start()
    try:
        seconds = answer.get(timeout=limit)
    except queue.Empty:
        seconds = None
        process.kill()
    process.join()
    return seconds


def _cells(seconds, ours, limit):
    """Return the last two cells of a row."""
    if seconds is None:
        return f"over {limit:g}, stopped", f"over {limit / ours:.3g}"
    return (seconds, "-") if isinstance(seconds, str) else (seconds, seconds / ours)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--limit", type=float, default=120.0, help="seconds per method")
    arguments = parser.parse_args()
    rows = []
    for case in arguments.cases.split(","):
        shape = "{} x {}".format(*load(case)[0].shape)
        ours = timed("ROCCO()", case, arguments.limit)
        rows.append([case, shape, "ROCCO()", ours, 1.0])
        for name in methods(case)[1:]:
            seconds = timed(name, case, arguments.limit)
            rows.append([case, shape, name, *_cells(seconds, ours, arguments.limit)])
            print(rows[-1], flush=True)
    write(
        "peers",
        "Whole fits against peers",
        f"python -m benchmarks.speed.peers --limit {arguments.limit:g}"
        + ("" if arguments.cases == ",".join(CASES) else f" --cases {arguments.cases}"),
        "One run each, float32, all cores. ROCCO determines K for rows and for columns. The cells "
        "are drawn: five types, Poisson counts.",
        markdown(["case", "shape", "method", "seconds", "times ROCCO's"], rows),
    )


if __name__ == "__main__":
    main()
