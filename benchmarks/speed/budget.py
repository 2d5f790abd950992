"""Peak memory of fits with ``memory_limit``, each in a new process, compared with the limit.

python -m benchmarks.speed.budget
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.speed.machine import markdown, write
from pyrocco import ROCCO
from pyrocco.fitting.memory_plan import parse_bytes, plan_fit

# Rows, columns, and limits from enough for a fit in memory to too little.
CASES = [
    (20_000, 500, ("2GB", "1GB", "600MB", "300MB")),
    (100_000, 100, ("2GB", "900MB", "600MB")),
    (300_000, 100, ("1.2GB",)),
]
HEADER = [
    "shape, float64", "X, MB", "limit", "way", "peak, MB", "share of the limit",
    "with mapped files, MB", "seconds", "ARI with the truth",
]  # fmt: skip


def planted(path, n_rows, n_columns, k=5):
    """Write planted blocks under noise to a file in chunks; return the row labels."""
    rng = np.random.default_rng(0)
    rows, columns = np.arange(n_rows) * 7919 % k, np.arange(n_columns) % k
    levels = rng.uniform(-10, 10, (k, k))
    X = np.lib.format.open_memmap(path, "w+", np.float64, (n_rows, n_columns))
    for start in range(0, n_rows, 10_000):
        chunk = slice(start, start + 10_000)
        X[chunk] = levels[rows[chunk]][:, columns] + rng.normal(0, 10, X[chunk].shape)
    X.flush()
    return rows


def megabytes(field):
    """Return the memory of this process: anonymous (RssAnon) or peak of all (VmHWM)."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) / 1000


class Peak(threading.Thread):
    """A thread that records the peak of the anonymous memory of this process."""

    def __init__(self):
        super().__init__(daemon=True)
        self.megabytes, self.running = 0.0, True

    def run(self):
        while self.running:
            self.megabytes = max(self.megabytes, megabytes("RssAnon"))
            time.sleep(0.005)


def measure(path, limit):
    """Fit the matrix of a file in this process; return how, peak, seconds and labels."""
    X = np.load(path, mmap_mode="r")
    model = ROCCO(memory_limit=limit)
    try:
        way = plan_fit(X.shape, X.dtype, model.n_neighbors, parse_bytes(limit), mapped=True).way
    except MemoryError as error:
        return {"way": "refused", "error": str(error)}
    watch = Peak()
    watch.start()
    started = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - started
    watch.running = False
    return {
        "way": way,
        "peak": watch.megabytes,
        "resident": megabytes("VmHWM"),
        "seconds": seconds,
        "labels": model.row_labels_.tolist(),
    }


def line(path, shape, limit, truth):
    command = [sys.executable, "-m", "benchmarks.speed.budget", "--cell", str(path), limit]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout.splitlines()[-1])
    size = shape[0] * shape[1] * 8 / 1e6
    start = [f"{shape[0]} x {shape[1]}", size, limit, result["way"]]
    if "error" in result:
        print(result["error"], flush=True)
        return [*start, "-", "-", "-", "-", "-"]
    share = result["peak"] * 1e6 / parse_bytes(limit)
    score = adjusted_rand_score(truth, result["labels"])
    rest = [result["resident"], result["seconds"], f"{score:.4f}"]
    full = [*start, result["peak"], f"{share:.2f}", *rest]
    print(*full, flush=True)
    return full


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cell", nargs=2)
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(measure(*options.cell)))
        return
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for *shape, limits in CASES:
            path = Path(folder) / "X.npy"
            truth = planted(path, *shape)
            lines += [line(path, shape, limit, truth) for limit in limits]
    write(
        "budget",
        "Fits within a memory limit",
        "python -m benchmarks.speed.budget",
        "X is a memory-mapped file. The peak is the largest anonymous memory of the process, "
        "measured every five milliseconds; pages of mapped files are additional (the system "
        "reclaims them when it needs them). A fit runs in memory if the limit allows it (memory), "
        "else in single precision (single), else with its representation in files "
        "(files), or it is refused before it starts.",
        markdown(HEADER, lines),
    )


if __name__ == "__main__":
    main()
