"""Fits on a real cluster of processes: the labels of one machine, whatever happens."""

import os
import signal
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from pyrocco import ROCCO
from pyrocco.backends.chunked import dask as chunks
from pyrocco.backends.chunked.dask import DaskStore
from pyrocco.datasets import make_noisy_biclusters

dask = pytest.importorskip("dask")
sizeof = pytest.importorskip("dask.sizeof").sizeof
da = pytest.importorskip("dask.array")


def planted(shape, noise, seed=0, k=5):
    return make_noisy_biclusters(shape, k, noise=noise, random_state=seed).X


def chunked(X, rows):
    return da.from_array(X, chunks=(rows, -1))


def text(n_rows=600, n_columns=150, seed=0):
    """Counts of words of three topics, with a few empty and repeated documents."""
    rng = np.random.default_rng(seed)
    topics = np.where(np.arange(n_columns) % 3 == np.arange(3)[:, None], 0.5, 0.02)
    X = sparse.csr_matrix(rng.poisson(topics[np.arange(n_rows) % 3]).astype(float))
    return sparse.vstack([X, X[:5], sparse.csr_matrix((3, n_columns))]).tocsr()


def csr_chunks(X, rows):
    parts = [
        da.from_delayed(
            dask.delayed(part), part.shape, dtype=X.dtype, meta=sparse.csr_matrix((0, 0))
        )
        for part in (X[i : i + rows] for i in range(0, X.shape[0], rows))
    ]
    return da.concatenate(parts)


def same(model, other):
    assert adjusted_rand_score(model.row_labels_, np.asarray(other.row_labels_)) == 1.0
    assert adjusted_rand_score(model.column_labels_, np.asarray(other.column_labels_)) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "noise", "rows"), [((700, 60), 10, 200), ((300, 120), 30, 90), ((80, 240), 30, 30)]
)
def test_labels_are_those_of_one_machine(client, shape, noise, rows):
    X = planted(shape, noise)
    model, on_chunks = ROCCO().fit(X), ROCCO().fit(chunked(X, rows))
    same(model, on_chunks)
    assert on_chunks.n_features_in_ == shape[1]
    np.testing.assert_allclose(on_chunks.block_means_, model.block_means_)
    np.testing.assert_allclose(
        on_chunks.representation_.compute(), model.representation_, atol=1e-2
    )
    np.testing.assert_allclose(on_chunks.row_membership_, model.row_membership_, atol=0.02)
    assert (on_chunks.row_graph_.heads == model.row_graph_.heads).all()


def test_chunks_of_small_data_are_joined_to_one_for_each_worker(client, monkeypatch):
    X, store = planted((200, 40), 5), DaskStore(client)
    several = chunks.from_dask(chunked(X, 30), store)
    assert len(several.chunks) == 7
    monkeypatch.setattr(chunks, "_SMALL", 2**20)
    joined = chunks.from_dask(chunked(X, 30), store)
    assert joined.ends.tolist() == [0, 100, 200]
    np.testing.assert_array_equal(joined[np.arange(200)], X)
    on_chunks = ROCCO().fit(chunked(X, 30))
    same(ROCCO().fit(X), on_chunks)
    assert on_chunks.row_labels_.chunks == ((30,) * 6 + (20,),)
    assert len(chunks.from_dask(csr_chunks(text(), 200), store).chunks) == 4


def test_labels_are_dask_arrays_chunked_like_the_rows(client):
    on_chunks = ROCCO(5).fit(chunked(planted((200, 40), 5), 80))
    assert isinstance(on_chunks.row_labels_, da.Array)
    assert on_chunks.row_labels_.chunks == ((80, 80, 40),)
    assert on_chunks.representation_.chunks[0] == (80, 80, 40)


def test_text_in_sparse_chunks(client):
    X = text()
    same(ROCCO().fit(X), ROCCO().fit(csr_chunks(X, 200)))


@pytest.mark.slow
def test_conjugate_gradients(client):
    X = planted((300, 60), 20)
    model = ROCCO(solver="conjugate-gradient").fit(X)
    on_chunks = ROCCO(solver="conjugate-gradient").fit(chunked(X, 110))
    same(model, on_chunks)
    assert on_chunks.history_[0]["solver_iterations"] == model.history_[0]["solver_iterations"]
    difference = on_chunks.representation_.compute() - model.representation_
    assert np.abs(difference).max() < 1e-9 * np.abs(X).max()


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_metrics(client, metric):
    X = planted((200, 50), 10)
    same(ROCCO(metric=metric).fit(X), ROCCO(metric=metric).fit(chunked(X, 70)))


def kill(pid):
    os.kill(pid, signal.SIGKILL)


class KillAt:
    """Kills a worker when a stage begins."""

    def __init__(self, client, stage):
        self.client, self.stage, self.killed = client, stage, None

    def begin(self, stage, steps):
        if stage == self.stage:
            self.killed = next(iter(self.client.run(os.getpid).values()))
            # A little later, in the middle of the stage.
            threading.Timer(0.1, kill, [self.killed]).start()

    def end(self, stage):
        pass

    def iteration(self, record):
        return False


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["preparation", "clusters"])
def test_a_killed_worker_changes_nothing(doomed_client, stage):
    X = planted((3000, 60), 20)
    watcher = KillAt(doomed_client, stage)
    on_chunks = ROCCO().fit(chunked(X, 500), observer=watcher)
    assert watcher.killed is not None
    same(ROCCO().fit(X), on_chunks)


@pytest.mark.slow
def test_nothing_of_the_size_of_the_matrix_comes_to_the_client(client, monkeypatch):
    fetched = []
    fetch = DaskStore.fetch

    def noting(self, chunks):
        values = fetch(self, chunks)
        fetched.append(sizeof(values))
        return values

    monkeypatch.setattr(DaskStore, "fetch", noting)
    # Made on the workers: it was never here.
    X = da.random.default_rng(0).normal(size=(6000, 300), chunks=(1000, -1))
    X = X + 3 * (da.arange(6000, chunks=1000)[:, None] % 4 == np.arange(300) % 4)
    model = ROCCO().fit(X)
    assert (model.n_row_clusters_, model.n_column_clusters_) == (4, 4)
    # The largest is the sample in which blocks are sought, whatever the size of the matrix.
    assert max(fetched) < X.nbytes / 6
