"""The scheduler dies in the middle of a fit; another one resumes it."""

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


class Recorder:
    """Notes stages, and does something when one begins."""

    def __init__(self, stage=None, act=None):
        self.stage, self.act, self.stages = stage, act, []

    def begin(self, stage, steps):
        self.stages.append(stage)
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


STAGES = ["representation", "clusters"]


@pytest.fixture(scope="module")
def another_scheduler():
    with scheduler_and_worker() as (_, address):
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.filterwarnings("ignore")
def test_a_fit_resumes_after_its_scheduler_was_lost(tmp_path, stage, another_scheduler):
    X = make_noisy_biclusters((400, 60), 4, noise=10, random_state=0).X
    parts = da.from_array(X, chunks=(100, -1))
    path = tmp_path / "checkpoint.pyrocco"
    with scheduler_and_worker() as (scheduler, address), connected(address):

        def lose():
            scheduler.send_signal(signal.SIGKILL)
            scheduler.wait()

        with (
            pytest.raises(ClusterLostError, match="--resume"),
            checkpoint_to(path) as checkpoint,
        ):
            ROCCO().fit(parts, checkpoint=checkpoint, observer=Recorder(stage, lose))
    assert path.exists()
    recorder = Recorder()
    with connected(another_scheduler):
        with checkpoint_to(path, resume=True) as checkpoint:
            model = ROCCO().fit(parts, checkpoint=checkpoint, observer=recorder)
        labels = np.asarray(model.row_labels_)
    assert adjusted_rand_score(ROCCO().fit(X).row_labels_, labels) == 1.0
    # Graphs are not made again; neither is the representation, once it was learned.
    learned = [name for name in recorder.stages if name != "preparation"]
    assert learned == STAGES[STAGES.index(stage) :]
    assert not list(tmp_path.iterdir())
