"""Change a checkpoint at random, and continue the fit from what is left of it.

Run as a process of its own, so that a crash of the interpreter is seen:
``python -m tests.fuzz_checkpoints CHECKPOINT FIT FIRST COUNT``.
"""

import random
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_biclusters

from pyrocco import ROCCO
from pyrocco.checkpoint import CheckpointError, checkpoint_to
from tests.model_files import put_together, take_apart, with_digest
from tests.results.fuzz_models import SECONDS, change_array, change_text
from tests.stopping import StopAt

X, _, _ = make_biclusters((30, 20), 3, noise=20, random_state=0)
OUTLIERS, _, _ = make_biclusters((30, 20), 2, noise=2, random_state=1)
OUTLIERS[np.random.default_rng(0).random(X.shape) < 0.02] *= 40
# The matrix, the parameters and the stage before which the fit is stopped for the last time.
FITS = {
    "paper": (X, {"variant": "paper", "n_clusters": 3, "max_iter": 9}, "iteration 4"),
    "outlier cells": (OUTLIERS, {}, "clusters"),
}


def stop(name, path):
    """Leave the checkpoint of a fit that was stopped."""
    data, parameters, moment = FITS[name]
    observer = StopAt()
    ROCCO(**parameters).fit(data, observer=observer)
    last = len(observer.events) - 1 - observer.events[::-1].index(moment)
    try:
        with checkpoint_to(path) as checkpoint:
            ROCCO(**parameters).fit(data, observer=StopAt(last), checkpoint=checkpoint)
    except KeyboardInterrupt:
        return


def resume(name, path):
    """Continue a fit."""
    data, parameters, _ = FITS[name]
    with checkpoint_to(path, resume=True) as checkpoint:
        return ROCCO(**parameters).fit(data, checkpoint=checkpoint)


def main(path, name, first, count):
    """Try `count` changes, each with the number of the change as its seed."""
    warnings.simplefilter("ignore")
    continued = 0
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / "checkpoint.pyrocco"
        for number in range(first, first + count):
            sys.stdout.write(f"change {number}\n")
            sys.stdout.flush()
            signal.alarm(SECONDS)  # ends the process if it hangs
            rng = random.Random(number)
            text, arrays = take_apart(path)
            position = {"content": text["content"]["checkpoint"]["position"]}
            rng.choice([change_text, change_array])(position, arrays, rng)
            put_together(changed, with_digest(text, arrays), arrays)
            try:
                resume(name, changed)
            except CheckpointError as error:
                if "\n" in str(error):
                    raise
                continue
            except ValueError:
                pass  # numbers of another size cannot be fitted
            continued += 1
    sys.stdout.write(f"continued {continued}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
