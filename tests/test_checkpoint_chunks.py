"""A fit of a chunked matrix that was stopped resumes and finds what it would have found."""

import numpy as np
import pytest

from pyrocco import ROCCO
from pyrocco.backends import ChunkedMatrix, ScratchStore
from pyrocco.checkpoint import CheckpointError, checkpoint_to
from pyrocco.chunk_folder import ChunkFolder
from pyrocco.datasets import make_noisy_biclusters
from pyrocco.fitting import memory_plan
from pyrocco.io.model_file import read_model_file
from tests.stopping import StopAt

da = pytest.importorskip("dask.array")

X = make_noisy_biclusters((60, 40), 3, noise=20, random_state=0).X
REPEATED = np.vstack([X, X[:9]])
DATA = {"tall": X, "wide": np.ascontiguousarray(X.T), "repeated rows": REPEATED}
GRAPHS = ["graph of rows", "graph of columns", "graph of features"]


def chunked(data, rows=25):
    return da.from_array(data, chunks=(rows, -1))


def begun(events):
    """Stages that a fit went through after the preparation, which is never stored."""
    stages = [what for what in events if not what.startswith(("end", "iteration"))]
    assert stages[0] == "preparation"
    return stages[1:]


@pytest.fixture(scope="module")
def whole():
    """Uninterrupted fits and their events."""
    found = {}
    for name, data in DATA.items():
        observer = StopAt()
        found[name] = ROCCO().fit(chunked(data), observer=observer), observer.events
    return found


def stop(name, path, moment, **options):
    observer = StopAt(moment)
    with pytest.raises(KeyboardInterrupt), checkpoint_to(path, **options) as checkpoint:
        ROCCO().fit(chunked(DATA[name]), observer=observer, checkpoint=checkpoint)
    return observer.events


def resume_fit(name, path):
    observer = StopAt()
    with checkpoint_to(path, resume=True) as checkpoint:
        model = ROCCO().fit(chunked(DATA[name]), observer=observer, checkpoint=checkpoint)
    return model, observer.events


def check_same(model, whole):
    for name in ("row_labels_", "column_labels_", "representation_", "row_membership_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(whole, name))
    for name in ("heads", "tails", "weights"):
        ours, theirs = getattr(model.row_graph_, name), getattr(whole.row_graph_, name)
        np.testing.assert_array_equal(ours, theirs)
    assert [r["objective"] for r in model.history_] == [r["objective"] for r in whole.history_]
    assert (model.n_iter_, model.converged_) == (whole.n_iter_, whole.converged_)


# Where a fit is stopped, and the stages that are left when it resumes.
MOMENTS = {
    "graph of rows": [*GRAPHS, "representation", "clusters"],
    "graph of features": [*GRAPHS, "representation", "clusters"],
    "representation": ["representation", "clusters"],
    "iteration 1": ["representation", "clusters"],
    "end of representation": ["representation", "clusters"],
    "clusters": ["clusters"],
    "end of clusters": ["clusters"],
}


def test_these_are_all_the_stages(whole):
    assert begun(whole["tall"][1]) == [*GRAPHS, "representation", "clusters"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_resumes_from_every_stage_with_the_same_result(moment, whole, tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    stop("tall", path, moment)
    model, events = resume_fit("tall", path)
    check_same(model, whole["tall"][0])
    assert begun(events) == MOMENTS[moment]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["wide", "repeated rows"])
@pytest.mark.parametrize("moment", ["representation", "clusters"])
def test_resumes_with_transposed_or_repeated_rows(name, moment, whole, tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    stop(name, path, moment)
    model, events = resume_fit(name, path)
    check_same(model, whole[name][0])
    assert begun(events) == MOMENTS[moment]
    assert not list(tmp_path.iterdir())


def test_stopped_again_and_again(whole, tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    for moment in ("graph of columns", "representation", "iteration 1", "clusters", "clusters"):
        stop("tall", path, moment, resume=True)
    model, events = resume_fit("tall", path)
    check_same(model, whole["tall"][0])
    assert begun(events) == ["clusters"]
    assert not list(tmp_path.iterdir())


def test_the_representation_is_in_files_beside_the_checkpoint(tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    stop("tall", path, "clusters")
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {"checkpoint.chunks", "checkpoint.pyrocco"}
    saved = read_model_file(path)["checkpoint"]["position"]["state"]["U"]
    assert saved["ends"].tolist() == [0, 25, 50, 60]
    parts = [np.load(f"{saved['folder']}/{i}.npy") for i in range(3)]
    assert np.concatenate(parts).shape == X.shape
    assert not list(tmp_path.glob("**/*.part.npy"))


@pytest.mark.parametrize("moment", ["representation", "clusters"])
def test_other_data_or_chunks_are_refused(moment, tmp_path, whole):
    path = tmp_path / "checkpoint.pyrocco"
    stop("tall", path, moment)
    other = X.copy()
    other[55, 4] += 1e-9
    for data, options, match in [
        (chunked(other), {}, "another matrix: use the same data"),
        (chunked(X, 20), {}, "another matrix"),
        (chunked(X, (25, 20, 15)), {}, "another matrix"),
        (chunked(X.astype(np.float32)), {}, "another matrix"),
        (X, {}, "another matrix"),
        (chunked(X), {"n_neighbors": 7}, r"another n_neighbors \(10 then, 7 now\)"),
    ]:
        with (
            pytest.raises(CheckpointError, match=match),
            checkpoint_to(path, resume=True) as checkpoint,
        ):
            ROCCO(**options).fit(data, checkpoint=checkpoint)
    # Nothing of the refused fits has changed the checkpoint.
    model, _ = resume_fit("tall", path)
    check_same(model, whole["tall"][0])


def test_chunks_of_columns_are_no_other_data(tmp_path, whole):
    path = tmp_path / "checkpoint.pyrocco"
    stop("tall", path, "clusters")
    with checkpoint_to(path, resume=True) as checkpoint:
        model = ROCCO().fit(da.from_array(X, chunks=(25, 9)), checkpoint=checkpoint)
    check_same(model, whole["tall"][0])


def test_without_resume_it_starts_anew(tmp_path, whole):
    path = tmp_path / "checkpoint.pyrocco"
    stop("tall", path, "clusters")
    observer = StopAt()
    with checkpoint_to(path) as checkpoint:
        model = ROCCO().fit(chunked(X), checkpoint=checkpoint, observer=observer)
    check_same(model, whole["tall"][0])
    assert begun(observer.events)[0] == "graph of rows"
    assert not list(tmp_path.iterdir())


def test_a_fit_in_files_resumes_too(tmp_path, monkeypatch):
    for name, value in {"BASE": 0, "EDGE_BYTES": 0, "ROW_BYTES": 0, "LEAST_WORK": 0,
                        "COPIES": 1e9}.items():  # fmt: skip
        monkeypatch.setattr(memory_plan, name, value)
    path, observer = tmp_path / "checkpoint.pyrocco", StopAt("clusters")
    model = ROCCO(memory_limit=600_000, n_jobs=1)
    with pytest.raises(KeyboardInterrupt), checkpoint_to(path) as checkpoint:
        model.fit(X, checkpoint=checkpoint, observer=observer)
    observer = StopAt()
    with checkpoint_to(path, resume=True) as checkpoint:
        model.fit(X, checkpoint=checkpoint, observer=observer)
    assert begun(observer.events) == ["clusters"]
    check_same(model, ROCCO(memory_limit=600_000, n_jobs=1).fit(X))
    assert not list(tmp_path.iterdir())


def test_chunks_are_written_to_two_folders_in_turn(tmp_path):
    """While one folder is written, the other is complete."""
    store = ScratchStore()
    folder = ChunkFolder(tmp_path / "checkpoint.chunks", store)
    saved = [
        folder.write(ChunkedMatrix.split(np.full((4, 2), float(i)), [0, 1, 4], store))
        for i in range(3)
    ]
    assert saved[0]["folder"] == saved[2]["folder"] != saved[1]["folder"]
    again = ChunkFolder(tmp_path / "checkpoint.chunks", store)
    for i in (1, 2):
        assert again.read(saved[i])[:].tolist() == np.full((4, 2), float(i)).tolist()
    # The next writing spares what was just read.
    assert (
        again.write(ChunkedMatrix.split(np.eye(2), [0, 2], store))["folder"] != saved[2]["folder"]
    )
    again.remove()
    assert not list(tmp_path.iterdir())
