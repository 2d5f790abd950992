"""A real cluster of two processes, started once."""

import pytest

from pyrocco.backends.chunked import dask as chunks

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

# A busy machine may be slow to start a process.
dask.config.set({"distributed.comm.timeouts.connect": "120s"})


@pytest.fixture(autouse=True)
def small_chunks_stay(monkeypatch):
    """Small arrays have several chunks on each worker, as large ones do."""
    monkeypatch.setattr(chunks, "_SMALL", 0)


def start_cluster():
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )


@pytest.fixture(scope="session")
def cluster():
    with start_cluster() as running:
        yield running


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected


@pytest.fixture
def doomed_client():
    """A cluster of its own, for a test that kills a worker: no other test waits for a new one."""
    with start_cluster() as running, distributed.Client(running) as connected:
        yield connected
