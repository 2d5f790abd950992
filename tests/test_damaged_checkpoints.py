"""Whatever the bytes of a checkpoint are, a fit continues or says what is wrong."""

import os
import subprocess
import sys

import numpy as np
import pytest

from pyrocco import ROCCO
from pyrocco.checkpoint import CheckpointError, checkpoint_to
from pyrocco.io import OutputError
from tests.fuzz_checkpoints import FITS, resume, stop
from tests.model_files import change_array, npy, put_together, set_value, take_apart
from tests.results.fuzz_models import ONE_THREAD

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


def test_a_fit_in_chunks_takes_no_stored_state(copy):
    """It stores nothing itself, so that the file was edited or is of a fit in memory."""
    da = pytest.importorskip("dask.array")
    data, path = da.from_array(FITS["paper"][0], chunks=(12, -1)), copy()
    with (
        pytest.raises(CheckpointError, match="another"),
        checkpoint_to(path, resume=True) as checkpoint,
    ):
        ROCCO().fit(data, checkpoint=checkpoint)
    path = copy("outlier cells")
    set_value(path, ("checkpoint", "identity", "matrix"), "in chunks")
    data = da.from_array(FITS["outlier cells"][0], chunks=(12, -1))
    with (
        pytest.raises(CheckpointError, match="a fit in chunks stores nothing"),
        checkpoint_to(path, resume=True) as checkpoint,
    ):
        ROCCO().fit(data, checkpoint=checkpoint)
