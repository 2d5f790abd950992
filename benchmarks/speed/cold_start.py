"""Seconds that a user waits for the first fit of an environment and of a process.

python -m benchmarks.speed.cold_start [--source NAME=FOLDER ...] [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.speed.machine import markdown, write

CASES = ("float64", "float32", "counts", "missing", "units")
SHAPE = (300, 200)
# Commands of the command line. Those of a fit and of a prediction write into `work`.
COMMANDS = {
    "pyrocco --version": ["--version"],
    "pyrocco fit small.csv": ["fit", "small.csv", "-o", "out"],
    "pyrocco predict": ["predict", "out", "small.csv", "-o", "predicted.csv"],
}
HERE = Path(__file__).parents[2] / "src"
# The process that is measured does no more than a user would: none of this package is imported.
FIT = """
import sys, time
import numpy as np
from scipy import sparse
loaded = np.load(sys.argv[1])
X = sparse.csr_array(loaded["X"]) if "counts" in sys.argv[1] else loaded["X"]
marks = [(time.perf_counter(), time.process_time())]
from pyrocco import ROCCO
model = ROCCO().fit(X)
marks.append((time.perf_counter(), time.process_time()))
model.predict(X[:50])
marks.append((time.perf_counter(), time.process_time()))
print(*np.diff(marks, axis=0).ravel())
"""
COMMAND = "import sys; from pyrocco.cli import main; sys.exit(main())"


def matrix(case):
    """Return blocks under noise, as values of one kind."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 4, SHAPE[0]), rng.integers(0, 3, SHAPE[1])
    X = 3 * rng.normal(size=(4, 3))[rows][:, columns] + rng.normal(size=SHAPE)
    if case == "counts":
        X = rng.poisson(np.exp(X / 2 - 2)).astype(float)
    elif case == "missing":
        X[rng.random(SHAPE) < 0.1] = np.nan
    elif case == "units":
        X = X * np.exp(3 * rng.normal(size=SHAPE[1])) + 5 * rng.normal(size=SHAPE[1])
    return X.astype(np.float32) if case == "float32" else X


def environment(source, cache):
    """Return the variables of a process: the version it imports, and where kernels are kept."""
    # With one thread, CPU seconds do not contain the waiting of threads for each other.
    return {
        **os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache),
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip


def fit_and_predict(case, source, cache, work):
    """Return wall and CPU seconds of import and fit, and of the first prediction."""
    command = [sys.executable, "-c", FIT, str(work / f"{case}.npz")]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment(source, cache)
    )
    wall, cpu, predict_wall, predict_cpu = map(float, done.stdout.split())
    return {f"fit, {case}": (wall, cpu), f"predict, {case}": (predict_wall, predict_cpu)}


def commands(source, cache, work):
    """Return wall and CPU seconds of each command, one process each."""
    found = {}
    for name, arguments in COMMANDS.items():
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", COMMAND, *arguments],
            check=True, capture_output=True, env=environment(source, cache), cwd=work,
        )  # fmt: skip
        wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found[name] = (wall, cpu)
    return found


def once(source, work):
    """Measure everything once, without compiled kernels and with them."""
    found = {}
    for case in (*CASES, None):
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            (here / "small.csv").write_bytes((work / "small.csv").read_bytes())
            for state in ("empty", "filled"):
                measured = (
                    commands(source, cache, here)
                    if case is None
                    else fit_and_predict(case, source, cache, work)
                )
                for name, seconds in measured.items():
                    found[name, state] = seconds
                for made in ("out", "predicted.csv"):
                    subprocess.run(["rm", "-rf", str(here / made)], check=True)
    return found


def inputs(work):
    """Write the matrices that the processes read."""
    for case in CASES:
        np.savez(work / f"{case}.npz", X=matrix(case))
    values = matrix("float64")[:, :30]
    header = ",".join(f"c{j}" for j in range(values.shape[1]))
    np.savetxt(work / "small.csv", values, delimiter=",", header=header, comments="", fmt="%.4f")


def table(runs, names):
    """Return one line for each thing that is measured: least wall / CPU seconds by version."""
    lines = []
    for key in runs[names[0]][0]:
        least = [np.min([run[key] for run in runs[name]], axis=0) for name in names]
        first, last = least[0], least[-1]
        ratio = [float(last[1] / first[1])] if len(names) > 1 else []
        lines.append([*key, *(f"{wall:.2f} / {cpu:.2f}" for wall, cpu in least), *ratio])
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    sources = dict(source.split("=", 1) for source in options.source) | {"this version": HERE}
    names = list(sources)
    runs = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        inputs(Path(folder))
        for _ in range(options.repeats):
            for name, source in sources.items():
                runs[name].append(once(Path(source).resolve(), Path(folder)))
                print(name, json.dumps([list(k) + list(v) for k, v in runs[name][-1].items()]),
                      file=sys.stderr, flush=True)  # fmt: skip
    header = ["what", "kernel cache", *names]
    write(
        "cold_start",
        "The first fit",
        " ".join(["python -m benchmarks.speed.cold_start", *sys.argv[1:]]),
        "Wall / CPU seconds of new processes, the least of "
        f"{options.repeats}, the versions in turns, one thread. If other programs run, wall "
        "seconds contain the waiting for them. A fit is the import of "
        f"pyrocco and the default fit of a matrix of {SHAPE[0]} x {SHAPE[1]}: dense float64 and "
        "float32, sparse counts, with a tenth of the values missing, and columns in different "
        "units. The prediction, of 50 of its rows, is the first one in the same process. With an "
        "empty kernel cache numba compiles what is needed; with a filled one the same process "
        "has run before. A command is the whole process, after the ones above it.",
        markdown([*header, "CPU, last / first"] if len(names) > 1 else header, table(runs, names)),
    )


if __name__ == "__main__":
    main()
