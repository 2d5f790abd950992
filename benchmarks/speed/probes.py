"""Recall and CPU time of approximate search at a million rows, by the number of cells searched.

python -m benchmarks.speed.probes

Compares our search with the inverted file of faiss-cpu, if that is installed. Only some rows are
queried and the time is scaled to all rows, because a million queries would take hours.
"""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.speed.machine import markdown, write
from benchmarks.speed.neighbors import K
from pyrocco.graph.approximate import _Partition
from pyrocco.graph.distances import distances_between_rows
from pyrocco.graph.exact import nearest_first, nearest_outside

ROWS = 1_000_000
PROBES = (64, 128, 256)
# Our search is queried in chunks of rows; some of these rows are compared with the truth.
CHUNKS = (slice(0, 8192), slice(400_000, 408_192))
SAMPLE = 1000


def biclusters(n):
    """Make a matrix like the paper's synthetic sets, without the copies of scikit-learn."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 5, n), rng.integers(0, 5, 100)
    X = 10 * rng.standard_normal((n, 100), dtype=np.float32)
    for k, mean in enumerate(rng.uniform(10, 100, 5)):
        X[np.ix_(rows == k, columns == k)] += np.float32(mean)
    return X


def cpu_seconds(work):
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def recall(found, truth):
    shared = [len(set(a) & set(b)) for a, b in zip(found, truth, strict=True)]
    return sum(shared) / truth.size


def ask(distances, partition, probes):
    """Yield the rows of each chunk and their neighbours, sorted by exact distance."""
    for chunk in CHUNKS:
        rows, candidates = partition.candidates(chunk, probes, K)
        lengths = distances.exact(rows, candidates)
        yield rows, nearest_first(candidates, lengths, K).indices


def our_lines(distances, partition, build, asked, truth):
    for probes in PROBES:
        seconds, parts = cpu_seconds(partial(list, ask(distances, partition, probes)))
        rows, found = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        found = found[np.argsort(rows)[np.searchsorted(np.sort(rows), asked)]]
        yield ["ours", probes, build, seconds * ROWS / len(rows), recall(found, truth)]


def faiss_lines(X, asked, truth):
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(1)
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], int(2 * ROWS**0.5))
    index.cp.niter, index.cp.max_points_per_centroid = 6, 32
    index.cp.min_points_per_centroid = 1
    build, _ = cpu_seconds(lambda: (index.train(X), index.add(X)))
    for probes in PROBES:
        index.nprobe = probes
        seconds, found = cpu_seconds(lambda: index.search(X[asked], K + 1)[1])
        yield ["faiss, ivf", probes, build, seconds * ROWS / len(asked), recall(found, truth)]


def lines():
    X = biclusters(ROWS)
    distances = distances_between_rows(X, "euclidean")
    build, partition = cpu_seconds(lambda: _Partition(distances.points(), 1))
    asking = np.concatenate([partition.order[chunk] for chunk in CHUNKS])
    asked = np.sort(np.random.default_rng(1).choice(asking, SAMPLE, replace=False))
    seconds, exact = cpu_seconds(
        lambda: nearest_outside(distances, asked, np.arange(ROWS), K, n_threads=1)
    )
    yield ["exact, ours", "", "", seconds * ROWS / len(asked), 1.0]
    yield from our_lines(distances, partition, build, asked, exact.indices)
    if find_spec("faiss"):
        yield from faiss_lines(X, asked, exact.indices)


def main():
    table = []
    with threadpool_limits(1):
        for line in lines():
            table.append(line)
            print(line, flush=True)
    header = [
        "search",
        "cells searched",
        "CPU s, index",
        "CPU s, a million queries",
        "recall@10",
    ]
    write(
        "probes",
        "Approximate search at a million rows",
        "python -m benchmarks.speed.probes",
        f"{ROWS} x 100 float32, five biclusters, noise 10: rows of one cluster have no further "
        "structure, which is the hard case for an index. One thread, "
        f"{int(2 * ROWS**0.5)} cells. Our search is queried in chunks of 8,192 rows, faiss with "
        f"{SAMPLE} rows; both times are scaled to a million.",
        markdown(header, table),
        "The partitions are trained separately and have the same number of cells. Ours multiplies "
        "all rows of a chunk that search a cell with that cell at once, which is possible because "
        "all rows are queried; faiss answers single queries. Its HNSW and usearch were not "
        "measured at this size.",
    )


if __name__ == "__main__":
    main()
