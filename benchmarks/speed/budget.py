"""Whether fits keep within ``memory_limit``: the peak of a fresh process beside what it may take.

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
from pyrocco.estimators.budget import parse_bytes, plan_for

# Rows, columns, limits; each from enough for a fit in memory down to too little.
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
    """Blocks and noise in a file, written by parts; and the labels of the rows."""
    rng = np.random.default_rng(0)
    rows, columns = np.arange(n_rows) * 7919 % k, np.arange(n_columns) % k
    levels = rng.uniform(-10, 10, (k, k))
    X = np.lib.format.open_memmap(path, "w+", np.float64, (n_rows, n_columns))
    for start in range(0, n_rows, 10_000):
        part = slice(start, start + 10_000)
        X[part] = levels[rows[part]][:, columns] + rng.normal(0, 10, X[part].shape)
    X.flush()
    return rows


def megabytes(field):
    """Memory of this process: its own (RssAnon), or all at its highest (VmHWM)."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) / 1000


class Peak(threading.Thread):
    """Looks again and again what memory of its own the process has."""

    def __init__(self):
        super().__init__(daemon=True)
        self.megabytes, self.running = 0.0, True

    def run(self):
        while self.running:
            self.megabytes = max(self.megabytes, megabytes("RssAnon"))
            time.sleep(0.005)


def measure(path, limit):
    """In this process: fit the matrix of a file and tell way, peak, seconds and labels."""
    X = np.load(path, mmap_mode="r")
    model = ROCCO(memory_limit=limit)
    try:
        way = plan_for(model, X).way
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
    told = json.loads(done.stdout.splitlines()[-1])
    size = shape[0] * shape[1] * 8 / 1e6
    start = [f"{shape[0]} x {shape[1]}", size, limit, told["way"]]
    if "error" in told:
        print(told["error"], flush=True)
        return [*start, "-", "-", "-", "-", "-"]
    share = told["peak"] * 1e6 / parse_bytes(limit)
    score = adjusted_rand_score(truth, told["labels"])
    rest = [told["resident"], told["seconds"], f"{score:.4f}"]
    full = [*start, told["peak"], f"{share:.2f}", *rest]
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
        "X lies in a file and is memory-mapped. The peak is the memory that the process has for "
        "itself at its highest, looked at every five milliseconds; pages of mapped files come "
        "on top (the system takes them back when it needs them). A fit goes in memory where the "
        "limit allows it, in single precision where that does, else with its representation and "
        "panels in files; or it is refused before it starts.",
        markdown(HEADER, lines),
    )


if __name__ == "__main__":
    main()
