"""Kill fits with SIGKILL at random moments, resume them, and see what is left.

``python -m tests.faults.kills --times 35`` prints what happened, as JSON.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_biclusters

from pyrocco.checkpoint import checkpoint_to
from pyrocco.cli import fit_command, main
from pyrocco.io.result_folder import CHECKPOINT_FILE

OPTIONS = ["--variant", "paper", "--n-clusters", "3", "--no-report", "-q"]


def fit(matrix, out, *words):
    return main(["fit", str(matrix), "-o", str(out), *OPTIONS, *words])


def labels(out):
    tables = [pd.read_csv(out / f"{side}_labels.csv") for side in ("row", "column")]
    return [table["label"].tolist() for table in tables]


def start(matrix, out, *words):
    """Start a fit in a copy of this process, in which everything is imported and compiled."""
    pid = os.fork()
    if pid:
        return pid
    with contextlib.suppress(BaseException):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os._exit(fit(matrix, out, *words))
    os._exit(99)


def kill(pid, delay, wait_for=None):
    """Kill a process some seconds after a file exists; return whether it was still running."""
    while wait_for is not None and not wait_for.exists():
        if os.waitpid(pid, os.WNOHANG)[0]:
            return False
        time.sleep(0.001)
    time.sleep(delay)
    os.kill(pid, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def run(folder, times, seed, with_checkpoint):
    """Kill `times` fits; after each, another one continues and is killed or ends."""
    matrix, whole, out = folder / "x.npy", folder / "whole", folder / "out"
    choose = random.Random(seed)
    started = time.monotonic()
    assert fit(matrix, whole, "--force") == 0
    seconds = time.monotonic() - started
    checkpoint = out / CHECKPOINT_FILE
    result = {"killed": 0, "with_checkpoint": 0, "ended": 0, "same_labels": 0, "left": []}

    def finish():
        assert fit(matrix, out, "--resume") == 0
        result["same_labels"] += labels(out) == labels(whole)
        result["ended"] += 1
        expected = {path.name for path in whole.iterdir()}
        result["left"] += sorted({path.name for path in out.iterdir()} - expected)
        shutil.rmtree(out)

    while result["killed"] < times:
        pid = start(matrix, out, "--resume")
        if kill(pid, choose.uniform(0, 0.4 * seconds), checkpoint if with_checkpoint else None):
            result["killed"] += 1
            result["with_checkpoint"] += checkpoint.exists()
        if choose.random() < 0.4 or not checkpoint.exists():
            finish()
    if out.exists():
        finish()
    return result


def many(times, seed, size=(30, 20)):
    # Small fits end before a checkpoint is due; here every iteration is written.
    fit_command.checkpoint_to = partial(checkpoint_to, interval=0.0)
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    try:
        np.save(folder / "x.npy", make_biclusters(tuple(size), 3, noise=30, random_state=0)[0])
        n_checkpoint = round(times * 20 / 35)
        return {
            "with checkpoint": run(folder, n_checkpoint, seed, with_checkpoint=True),
            "at any moment": run(folder, times - n_checkpoint, seed + 1, with_checkpoint=False),
        }
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=35)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, nargs=2, default=(30, 20))
    options = parser.parse_args()
    sys.stdout.write(json.dumps(many(options.times, options.seed, options.size), indent=1) + "\n")
