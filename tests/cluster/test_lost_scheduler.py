"""The scheduler dies in the middle of a fit, which then starts again on another one."""

import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.backends.chunked.dask import ClusterLostError
from pyrocco.checkpoint import checkpoint_to
from pyrocco.datasets import make_noisy_biclusters

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


class LoseAt:
    """Does something when a stage begins."""

    def __init__(self, stage, act):
        self.stage, self.act = stage, act

    def begin(self, stage, steps):
        if stage == self.stage:
            self.act()

    def end(self, stage):
        pass

    def iteration(self, record):
        return False


@contextmanager
def running(*command):
    """A program of Dask, killed in the end; gives the process and what it says first."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *command], stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@contextmanager
def scheduler_and_worker():
    with running("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard") as scheduler:
        said = next(line for line in scheduler.stderr if "Scheduler at" in line)
        address = re.search(r"tcp://[\d.:]+", said)[0]
        options = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny")
        with running("worker", address, *options):
            yield scheduler, address


@contextmanager
def connected(address):
    client = distributed.Client(address, timeout=3)
    client.wait_for_workers(1, timeout=60)
    try:
        yield client
    finally:
        client.close(timeout=1)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["preparation", "clusters"])
@pytest.mark.filterwarnings("ignore")
def test_a_fit_starts_again_after_its_scheduler_was_lost(tmp_path, stage):
    X = make_noisy_biclusters((400, 60), 4, noise=10, random_state=0).X
    parts = da.from_array(X, chunks=(100, -1))
    path, model = tmp_path / "checkpoint.pyrocco", ROCCO()
    with scheduler_and_worker() as (scheduler, address), connected(address):

        def lose():
            scheduler.send_signal(signal.SIGKILL)
            scheduler.wait()

        with (
            pytest.raises(ClusterLostError, match="start the fit again"),
            checkpoint_to(path) as checkpoint,
        ):
            model.fit(parts, checkpoint=checkpoint, observer=LoseAt(stage, lose))
    with scheduler_and_worker() as (_, address), connected(address):
        with checkpoint_to(path, resume=True) as checkpoint:
            model.fit(parts, checkpoint=checkpoint)
        labels = np.asarray(model.row_labels_)
    assert adjusted_rand_score(ROCCO().fit(X).row_labels_, labels) == 1.0
    assert not list(tmp_path.iterdir())
