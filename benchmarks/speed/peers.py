"""Whole fits, K unknown, against the methods people use, on the same matrix in the same run.

python -m benchmarks.speed.peers [--cases classic3,10k,50k]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralCoclustering

from benchmarks.speed.machine import markdown, write
from benchmarks.speed.solvers import matrix
from pyrocco import ROCCO, AutoKMeans


def without_empty(X):
    """Spectral co-clustering fails on rows or columns of zeros; its peers keep them."""
    rows = np.flatnonzero(np.asarray(abs(X).sum(axis=1)).ravel())
    columns = np.flatnonzero(np.asarray(abs(X).sum(axis=0)).ravel())
    return X[rows][:, columns]


METHODS = {
    "ROCCO()": lambda X, k: ROCCO().fit(X),
    "SpectralCoclustering(K given)": lambda X, k: SpectralCoclustering(k, random_state=0).fit(
        without_empty(X)
    ),
    "KMeans(K given)": lambda X, k: KMeans(k, n_init=10, random_state=0).fit(X),
    "HDBSCAN(10)": lambda X, k: HDBSCAN(10, n_jobs=-1).fit(X),
    "k-means, K = 2..20 by exact silhouette": lambda X, k: AutoKMeans(random_state=0).fit(X),
}


def timed(work, X, k):
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work(X, k)
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", default="classic3,10k,50k")
    parser.add_argument("--limit", type=float, default=900.0, help="skip a method after this")
    arguments = parser.parse_args()
    ROCCO().fit(np.random.default_rng(0).random((600, 520), dtype=np.float32))
    rows, too_slow = [], set()
    for case in arguments.cases.split(","):
        X = matrix(case)
        k = 3 if case == "classic3" else 5
        ours = None
        for name, work in METHODS.items():
            if name in too_slow:
                rows.append([case, name, "not run: over the limit on a smaller case", ""])
                continue
            seconds = timed(work, X, k)
            ours = ours or seconds
            if seconds > arguments.limit:
                too_slow.add(name)
            rows.append([case, name, seconds, seconds / ours])
            print(rows[-1], flush=True)
    write(
        "peers",
        "Whole fits against peers",
        "python -m benchmarks.speed.peers",
        "One run each, float32, all cores. ROCCO finds K for rows and for columns.",
        markdown(["case", "method", "seconds", "times ROCCO's"], rows),
    )


if __name__ == "__main__":
    main()
