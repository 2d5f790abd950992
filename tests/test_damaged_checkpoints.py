"""Whatever the bytes of a checkpoint are, a fit continues or says what is wrong."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pyrocco import ROCCO
from pyrocco.backends import ChunkedMatrix, ScratchStore
from pyrocco.checkpoint import CheckpointError, checkpoint_to
from pyrocco.chunk_folder import ChunkFolder
from pyrocco.io import OutputError
from tests.fuzz_checkpoints import FITS, resume, stop
from tests.model_files import change_array, npy, put_together, set_value, take_apart
from tests.results.fuzz_models import ONE_THREAD
from tests.stopping import StopAt

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module", name="originals")
def stop_fits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("originals")
    for name in FITS:
        stop(name, folder / name)
    return folder


@pytest.fixture(name="copy")
def copy_checkpoint(originals, tmp_path):
    def copy(name="paper"):
        path = tmp_path / "checkpoint.pyrocco"
        path.write_bytes((originals / name).read_bytes())
        return path

    return copy


def refused(path, name="paper"):
    """The message, in one line, that names the file; the checkpoint stays as it is."""
    before = path.read_bytes()
    with pytest.raises(CheckpointError) as caught:
        resume(name, path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert path.read_bytes() == before
    return message


POSITION = ("checkpoint", "position")
STATE = (*POSITION, "state")


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_only_regular_files_are_opened(kind, tmp_path):
    path = tmp_path / "checkpoint.pyrocco"
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    with pytest.raises(CheckpointError, match="is not a regular file"):
        resume("paper", path)


def test_damage_is_found_by_the_digest(copy):
    path = copy()
    text, arrays = take_apart(path)
    arrays["arrays/0.npy"] = npy(np.zeros((30, 20)))
    put_together(path, text, arrays)
    assert "is damaged: delete it to start from the beginning" in refused(path)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("checkpoint",), 3),
        (("checkpoint", "identity"), []),
        (("checkpoint", "identity", "matrix"), {"$array": "arrays/0.npy"}),
        (("checkpoint", "identity", "n_neighbors"), "7\n8"),
        (POSITION, None),
        ((*POSITION, "representation"), "1"),
        ((*POSITION, "loop"), 1.5),
        ((*POSITION, "loop"), -5),
        ((*POSITION, "complete"), 1),
        ((*POSITION, "more"), 1),
        ((*POSITION, "graphs"), []),
        ((*POSITION, "graphs"), [None, None]),
        ((*POSITION, "graphs", 0, "n_nodes"), 31),
        ((*POSITION, "graphs", 1, "n_nodes"), 10**12),
        ((*POSITION, "outliers"), {"$tuple": [1, 2, 3]}),
        (STATE, [1]),
        ((*STATE, "U"), None),
        ((*STATE, "U"), {"folder": "/etc", "turn": 1}),
        ((*STATE, "history"), [{"iteration": 1}]),
        ((*STATE, "history"), [3]),
        ((*STATE, "objective"), "1"),
        ((*STATE, "mu"), {"$tuple": [1.0]}),
        ((*STATE, "mu"), {"$tuple": [-1.0, 1.0]}),
        ((*STATE, "strength"), {"$tuple": [1.0, {"$float": "nan"}]}),
        ((*STATE, "settled"), None),
        ((*STATE, "more"), None),
    ],
)
def test_values_that_no_checkpoint_has(copy, keys, value):
    path = copy()
    set_value(path, keys, value)
    assert "delete" in refused(path)


@pytest.mark.parametrize(
    ("keys", "change"),
    [
        ((*STATE, "U"), lambda a: a[:-1]),
        ((*STATE, "U"), lambda a: a.T),
        ((*STATE, "U"), lambda a: a.astype(np.float32)),
        ((*STATE, "U"), lambda a: a * np.nan),
        ((*POSITION, "graphs", 0, "heads"), lambda a: a + 30),
        ((*POSITION, "graphs", 0, "heads"), lambda a: a - 30),
        ((*POSITION, "graphs", 0, "tails"), lambda a: a * 2**40),
        ((*POSITION, "graphs", 1, "tails"), lambda a: a[:-1]),
        ((*POSITION, "graphs", 1, "weights"), lambda a: a[:-1]),
        ((*POSITION, "graphs", 1, "weights"), lambda a: a * 0),
        ((*POSITION, "graphs", 1, "weights"), lambda a: a * np.inf),
    ],
)
def test_arrays_that_do_not_fit_the_matrix(copy, keys, change):
    path = copy()
    change_array(path, keys, change)
    assert "is damaged (" in refused(path)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        (1, lambda a: a[:-1]),
        (1, lambda a: a * np.inf),
        (1, lambda a: a.astype(int)),
        (2, lambda a: a[:-1]),
        (2, np.atleast_3d),
    ],
)
def test_outlier_cells_of_another_matrix(copy, part, change):
    path = copy("outlier cells")
    change_array(path, (*POSITION, "outliers", part), change)
    assert "is damaged (outliers" in refused(path, "outlier cells")


def test_missing_values_that_the_matrix_does_not_have(copy):
    path = copy("outlier cells")
    change_array(path, (*POSITION, "outliers", 1), lambda a: np.where(a > 0, a, np.nan))
    assert "other missing values" in refused(path, "outlier cells")


@pytest.mark.parametrize("name", FITS)
def test_changed_at_random(copy, name):
    """A crash of the interpreter, a hang or an unexpected error ends the process."""
    command = [sys.executable, "-m", "tests.fuzz_checkpoints", str(copy(name)), name, "0", "40"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD
    )
    assert done.returncode == 0, f"{done.stdout[-200:]}\n{done.stderr}"
    assert int(done.stdout.split()[-1]) > 2  # some changes are harmless


def test_a_checkpoint_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    data, parameters, _ = FITS["paper"]
    path = tmp_path / "file" / "checkpoint.pyrocco"
    with (
        pytest.raises(OutputError, match=r"checkpoint.pyrocco: cannot be written"),
        checkpoint_to(path, interval=0) as checkpoint,
    ):
        ROCCO(**parameters).fit(data, checkpoint=checkpoint)


def test_what_a_killed_process_left_is_removed(copy):
    path = copy()
    left = path.with_name(".checkpoint.pyrocco.unfinished")
    left.write_bytes(b"half")
    resume("paper", path)
    assert not list(path.parent.iterdir())


# The folder of chunks.


def written_chunks(folder, n=3):
    """Chunks of 2 x 2 cells in a folder, and what is needed to read them."""
    store = ScratchStore()
    matrix = ChunkedMatrix.split(np.arange(4.0 * n).reshape(-1, 2), range(0, 2 * n + 1, 2), store)
    return store, ChunkFolder(folder, store).write(matrix)


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"nonsense",
        npy(np.ones((2, 2)))[:-1],
        npy(np.ones((2, 2))),
        npy(np.ones((3, 2))),
        npy(np.ones((2, 3))),
        npy(np.ones((2, 2), dtype=np.float32)),
        npy(np.full((2, 2), np.nan)),
        npy(np.array([["a"]])),
        npy(np.ones(4)),
    ],
)
@pytest.mark.parametrize("chunk", [0, 2])
def test_chunks_that_are_missing_or_damaged(tmp_path, data, chunk):
    store, written = written_chunks(tmp_path / "a.chunks")
    path = tmp_path / "a.chunks" / "1" / f"{chunk}.npy"
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(CheckpointError, match=rf"{chunk}.npy: .*delete it"):
        ChunkFolder(tmp_path / "a.chunks", store).read(written)


def test_no_code_is_read_from_a_chunk(tmp_path):
    store, written = written_chunks(tmp_path / "a.chunks")
    np.save(tmp_path / "a.chunks" / "1" / "0.npy", np.array([[print]]), allow_pickle=True)
    with pytest.raises(CheckpointError, match="is damaged"):
        ChunkFolder(tmp_path / "a.chunks", store).read(written)


def test_a_chunk_that_is_no_file(tmp_path):
    store, written = written_chunks(tmp_path / "a.chunks")
    path = tmp_path / "a.chunks" / "1" / "0.npy"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(CheckpointError, match="is not a regular file"):
        ChunkFolder(tmp_path / "a.chunks", store).read(written)


def test_chunks_are_read_from_their_own_folder_only(tmp_path):
    store, written = written_chunks(tmp_path / "a.chunks")
    _, other = written_chunks(tmp_path / "b.chunks", n=1)
    # The folder may have been moved together with the checkpoint.
    (tmp_path / "a.chunks").rename(tmp_path / "c.chunks")
    assert ChunkFolder(tmp_path / "c.chunks", store).read(written).shape == (6, 2)
    with pytest.raises(CheckpointError, match="No such file"):
        ChunkFolder(tmp_path / "a.chunks", store).read({**written, "folder": other["folder"]})
    for folder in ("/etc", "..", str(tmp_path)):
        with pytest.raises(CheckpointError, match="is not the folder"):
            ChunkFolder(tmp_path / "c.chunks", store).read({**written, "folder": folder})
    for ends in ([0, 2, 1, 6], [1, 2, 4, 6], [0, 2, 4, 10**12]):
        with pytest.raises(CheckpointError, match="delete it"):
            ChunkFolder(tmp_path / "c.chunks", store).read({**written, "ends": np.array(ends)})


def test_only_own_files_are_removed(tmp_path):
    path = tmp_path / "a.chunks"
    store, _ = written_chunks(path)
    (path / "1" / "7.part.npy").write_bytes(b"half")
    (path / "1" / "notes.txt").write_text("mine")
    (path / "mine.npy").write_bytes(b"mine")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "0.npy").write_bytes(b"mine")
    (path / "0").symlink_to(elsewhere)
    ChunkFolder(path, store).remove()
    left = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*")}
    assert left == {
        "a.chunks",
        "a.chunks/0",
        "a.chunks/1",
        "a.chunks/1/notes.txt",
        "a.chunks/mine.npy",
        "elsewhere",
        "elsewhere/0.npy",
    }


def test_a_folder_of_chunks_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "a.chunks").touch()
    with pytest.raises(OutputError, match=r"a.chunks.*cannot be written"):
        written_chunks(tmp_path / "a.chunks")


def test_chunks_of_another_matrix(tmp_path):
    da = pytest.importorskip("dask.array")
    data = da.from_array(FITS["paper"][0], chunks=(12, -1))
    path = tmp_path / "checkpoint.pyrocco"
    with pytest.raises(KeyboardInterrupt), checkpoint_to(path) as checkpoint:
        ROCCO().fit(data, observer=StopAt("clusters"), checkpoint=checkpoint)
    saved = path.read_bytes()
    for keys, change in [
        ((*STATE, "U", "ends"), lambda a: a[:-1]),
        ((*STATE, "U", "ends"), lambda a: a * 1.0),
        ((*POSITION, "graphs", 0, "heads"), lambda a: a + 30),
    ]:
        path.write_bytes(saved)
        change_array(path, keys, change)
        with (
            pytest.raises(CheckpointError, match="delete it"),
            checkpoint_to(path, resume=True) as checkpoint,
        ):
            ROCCO().fit(data, checkpoint=checkpoint)
    path.write_bytes(saved)
    with checkpoint_to(path, resume=True) as checkpoint:
        assert ROCCO().fit(data, checkpoint=checkpoint).n_row_clusters_ > 0
    assert not list(tmp_path.iterdir())
