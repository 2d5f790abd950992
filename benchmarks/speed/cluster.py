"""Fits on a cluster of local processes: labels, times, memory, killed workers.

python -m benchmarks.speed.cluster [same] [workers] [growth] [limit] [kills]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import re
import signal
import threading
import time
from itertools import pairwise
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from dask.utils import parse_bytes
from distributed import Client, LocalCluster, wait
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from benchmarks.speed.machine import markdown, write
from pyrocco import ROCCO
from pyrocco.backends.chunked.dask import spilling_early
from pyrocco.datasets import load, make_noisy_biclusters

PARTS = ("same", "workers", "growth", "limit", "kills")
SEEDS = range(5)


@contextlib.contextmanager
def cluster(n_workers, memory="auto"):

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=n_workers, memory_limit=memory, **options) as running,
        Client(running) as client,
    ):
        yield client


def peak_memory():
    """Return the peak resident memory of this process in megabytes."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def bytes_sent(dask_worker):
    """Return the bytes that a worker sent to others."""
    return dask_worker.transfer_outgoing_bytes_total


def planted_on_workers(n_rows, n_columns, chunk, k=5, dtype=np.float32):
    """Make planted blocks under noise on the workers; return them and the row labels."""

    rows = da.arange(n_rows, chunks=chunk) * 7919 % k
    levels = np.random.default_rng(1).uniform(-10, 10, (k, k))
    columns = np.arange(n_columns) % k
    noise = da.random.default_rng(0).normal(0, 10, (n_rows, n_columns), chunks=(chunk, -1))
    table = levels[:, columns]
    X = noise + rows.map_blocks(lambda block: table[block], chunks=(rows.chunks[0], (n_columns,)),
                                new_axis=1, dtype=float)  # fmt: skip
    return X.astype(dtype), np.arange(n_rows) * 7919 % k


def chunks_of(X, count):
    """Convert a matrix to a Dask array with `count` chunks, sparse if the matrix is sparse."""

    ends = np.linspace(0, X.shape[0], count + 1).astype(int)
    chunks = [X[a:b] for a, b in pairwise(ends)]
    meta = sparse.csr_matrix((0, 0)) if sparse.issparse(X) else np.empty((0, 0))
    return da.concatenate(
        [
            da.from_delayed(dask.delayed(chunk), chunk.shape, dtype=X.dtype, meta=meta)
            for chunk in chunks
        ]
    )


def with_stages(work):
    """Return the result of `work` and the seconds of the stages from the verbose output."""
    with contextlib.redirect_stderr(io.StringIO()) as lines:
        result = work()
    return result, dict(re.findall(r"^(.+): ([\d.]+) s$", lines.getvalue(), flags=re.MULTILINE))


def agreement(model, other):
    rows = adjusted_rand_score(model.row_labels_, np.asarray(other.row_labels_))
    return rows, adjusted_rand_score(model.column_labels_, other.column_labels_)


def same():
    """Compare the labels of two workers with those of one process."""
    lines = []
    sets = [
        ("separated, noise 10", [planted((5000, 100), 10, 0)]),
        ("noise 30", [planted((100, 100), 30, seed) for seed in SEEDS]),
        ("noise 30", [planted((2000, 100), 30, seed) for seed in SEEDS]),
        ("20news10", [load("20news10").X]),
        ("classic3", [load("classic3").X]),
        ("noise 10", [planted_on_workers(120_000, 50, 7500)[0].compute()]),
    ]
    with cluster(2):
        for name, matrices in sets:
            found = [agreement(ROCCO().fit(X), ROCCO().fit(chunks_of(X, 4))) for X in matrices]
            rows, columns = np.min(found, axis=0)
            shape = " x ".join(map(str, matrices[0].shape))
            lines.append([name, shape, len(matrices), f"{rows:.4f}", f"{columns:.4f}"])
            print(*lines[-1], flush=True)
    return markdown(["data", "shape", "seeds", "least ARI of rows", "of columns"], lines)


def planted(shape, noise, seed):
    return make_noisy_biclusters(shape, 5, noise=noise, random_state=seed).X


STAGES = ("preparation", "clusters")


def warm_up(n_columns):
    """Make a small matrix whose fit imports the libraries, on the workers too."""
    return planted_on_workers(4000, n_columns, 1000)[0]


def timed(n_rows, n_columns, n_workers, memory="auto", k=5, chunk=None):
    """Return one row: shape, workers, seconds of the fit and its stages, peak, agreement."""
    X, truth = planted_on_workers(n_rows, n_columns, chunk or max(1000, n_rows // 16), k)
    with cluster(n_workers, memory) as client:
        ROCCO().fit(warm_up(n_columns))
        X = X.persist()
        wait(X)
        started = time.perf_counter()
        model, stages = with_stages(lambda: ROCCO(verbose=1).fit(X))
        seconds = time.perf_counter() - started
        peaks = max(client.run(peak_memory).values())
        sent = sum(client.run(bytes_sent).values()) / X.nbytes
        score = adjusted_rand_score(truth, np.asarray(model.row_labels_))
    shares = [float(stages.get(stage, 0)) for stage in STAGES]
    line = [f"{n_rows} x {n_columns}", n_workers, seconds, *shares, sent, peaks, f"{score:.4f}"]
    print(*line, flush=True)
    return line


HEADER = [
    "shape", "workers", "seconds", *STAGES, "sent between workers, times X",
    "peak of a worker, MB", "ARI with the truth",
]  # fmt: skip


def alone(n_rows, n_columns):
    """Return the row of a fit in one process, with as many threads as there are cores."""
    X, truth = planted_on_workers(n_rows, n_columns, max(1000, n_rows // 16))
    X = X.compute()
    ROCCO().fit(warm_up(n_columns).compute())
    started = time.perf_counter()
    model, stages = with_stages(lambda: ROCCO(verbose=1).fit(X))
    seconds = time.perf_counter() - started
    score = adjusted_rand_score(truth, model.row_labels_)
    shares = [float(stages.get(stage, 0)) for stage in STAGES]
    return [f"{n_rows} x {n_columns}", "none", seconds, *shares, 0, "", f"{score:.4f}"]


def workers():
    """Fit the same matrix in one process, with one worker and with two."""
    ROCCO().fit(planted((600, 100), 10, 0))  # compiles the kernels
    lines = []
    for n in (20_000, 80_000):
        lines += [alone(n, 100), *(timed(n, 100, count) for count in (1, 2))]
    return markdown(HEADER, lines)


def growth():
    """Double the number of rows twice, with two workers."""
    sizes = (125_000, 250_000, 500_000)
    lines = [timed(n, 50, 2) for n in sizes]
    seconds = [line[2] for line in lines]
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    return markdown(HEADER, lines) + f"\n\nSlope of log seconds against log rows: {slope:.2f}."


def limit():
    """Fit a matrix of more than three times the memory of a worker."""

    memory, shape = "1GB", (400_000, 1000)
    times = shape[0] * shape[1] * 8 / parse_bytes(memory)
    X, truth = planted_on_workers(*shape, 3_000, dtype=np.float64)
    with spilling_early(), cluster(2, memory) as client:
        first = list(client.run(os.getpid).values())
        started = time.perf_counter()
        model = ROCCO(verbose=1).fit(X)
        seconds = time.perf_counter() - started
        peak = max(client.run(peak_memory).values())
        score = adjusted_rand_score(truth, np.asarray(model.row_labels_))
        restarts = 2 - len(set(first) & set(client.run(os.getpid).values()))
    kept = [seconds, peak, restarts, f"{score:.4f}"]
    line = [f"{shape[0]} x {shape[1]}", memory, f"{times:.1f}", *kept]
    return markdown(
        ["shape, float64", "limit of a worker", "matrix over limit", "seconds",
         "peak of a worker, MB", "workers restarted", "ARI with the truth"], [line],
    )  # fmt: skip


def kills():
    """Kill a worker at a random time during a fit, five times."""
    X = planted((20_000, 100), 30, 0)
    chunks, alone = chunks_of(X, 8), ROCCO().fit(X)
    draw, lines = random.Random(0), []
    with cluster(2) as client:
        started = time.perf_counter()
        ROCCO().fit(chunks)
        usual = time.perf_counter() - started
        for run in range(5):
            moment = draw.uniform(0.05, 0.95) * usual
            victim = draw.choice(list(client.run(os.getpid).values()))
            timer = threading.Timer(moment, os.kill, [victim, signal.SIGKILL])
            timer.start()
            started = time.perf_counter()
            model = ROCCO().fit(chunks)
            seconds = time.perf_counter() - started
            timer.cancel()
            rows, columns = agreement(alone, model)
            lines.append([run, moment, usual, seconds, f"{rows:.4f}", f"{columns:.4f}"])
            print(*lines[-1], flush=True)
            client.wait_for_workers(2, timeout=60)
    return markdown(
        ["run", "killed after, s", "seconds undisturbed", "seconds", "ARI of rows", "of columns"],
        lines,
    )


TITLES = {
    "same": "Labels of two workers compared with those of one process, the minimum over the seeds",
    "workers": "One process with as many threads as cores, one worker and two; after a small fit",
    "growth": "Number of rows doubled, two workers; after a small fit",
    "limit": "A matrix larger than the memory of the workers",
    "kills": "A worker killed during a fit, 20,000 x 100 at noise 30",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=PARTS)
    for part in parser.parse_args().parts:
        write(
            f"cluster_{part}",
            f"On a cluster: {part}",
            f"python -m benchmarks.speed.cluster {part}",
            f"{TITLES[part]}. Workers are processes with one thread; K unknown, defaults.",
            globals()[part](),
        )


if __name__ == "__main__":
    main()
