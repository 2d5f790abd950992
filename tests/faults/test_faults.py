"""Faults of the machine: killed processes, a full disk, too little memory, two fits at once."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_biclusters

from pyrocco import ROCCO
from pyrocco.checkpoint import checkpoint_to
from pyrocco.cli import main
from pyrocco.io import OutputError
from pyrocco.io.unfinished import STAGE, ScratchFolder

# One thread each: the processes are copied while they run.
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
ROOT = Path(__file__).parents[2]


@pytest.fixture(name="matrix")
def make_matrix(tmp_path):
    """Save a matrix whose fit has a state to save: a value is missing."""
    X = make_biclusters((60, 40), 3, noise=5, random_state=0)[0]
    X[7, 5] = np.nan
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


@pytest.mark.slow
def test_killed_fits_continue_to_the_same_labels():
    command = [sys.executable, "-W", "ignore", "-m", "tests.faults.kills", "--times", "35"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | THREADS
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    kept, any_moment = result["with checkpoint"], result["at any moment"]
    assert (kept["killed"], any_moment["killed"]) == (20, 15)
    assert kept["with_checkpoint"] >= 15  # some had just ended
    for part in (kept, any_moment):
        assert part["ended"] > 0
        assert part["same_labels"] == part["ended"]
        assert part["left"] == []


def limited(script, limit, value, *words):
    """Run a script in a process with a limit; its own libraries are loaded before."""
    lines = (
        "import resource, sys",
        "import pyrocco.cli.fit_command",
        "from pyrocco.cli import main",
        "assert main(['fit', sys.argv[1], '-o', sys.argv[2], '-q', '--no-report']) == 0",
        f"used = {value}",
        f"resource.setrlimit(resource.{limit}, (used, used))",
        script,
    )
    command = [sys.executable, "-c", "\n".join(lines), *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | THREADS
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_files_that_cannot_grow(matrix, tmp_path):
    """A limited file size stands for a full disk: writing fails in the middle of a file."""
    out = tmp_path / "out"
    script = "sys.exit(main(['fit', sys.argv[1], '-o', sys.argv[2], '-q', '--seed', '1']))"
    done = limited(script, "RLIMIT_FSIZE", 5000, matrix, out)
    assert done.returncode == 2
    assert done.stderr == f"pyrocco: {out}: cannot be written: File too large\n"
    # The results of the first fit are still there, and nothing else.
    assert json.loads((out / "summary.json").read_text())["parameters"]["random_state"] == 0
    assert len(pd.read_csv(out / "row_labels.csv")) == 60
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_a_full_disk(matrix, tmp_path, capsys):
    disk, out = tmp_path / "disk", tmp_path / "out"
    disk.mkdir()
    assert main(["fit", str(matrix), "-o", str(out), "-q", "--no-report"]) == 0
    mount = ["mount", "-t", "tmpfs", "-o", "size=120k", "none", str(disk)]
    mounted = shutil.which("mount") and subprocess.run(mount, check=False, capture_output=True)
    if not mounted or mounted.returncode:
        pytest.skip("this user may not mount file systems")
    try:
        (disk / "mine.txt").write_text("mine")
        assert main(["fit", str(matrix), "-o", str(disk / "out"), "-q"]) == 2
        full = "cannot be written: No space left on device"
        err = capsys.readouterr().err
        assert str(disk / "out") in err
        assert full in err
        assert ".pyrocco" not in err.replace("checkpoint.pyrocco", "").replace("model.pyrocco", "")
        # What is left of the fit is its checkpoint, if there was space for it.
        names = {path.name for path in disk.rglob("*") if path.is_file()}
        assert names <= {"mine.txt", "checkpoint.pyrocco"}
        (disk / "labels.csv").write_text("earlier")
        with suppress(OSError), (disk / "filler").open("wb") as file:
            file.write(bytes(1_000_000))
        words = ["predict", str(out), str(matrix), "-q", "--force", "-o", str(disk / "labels.csv")]
        assert main(words) == 2
        assert f"{disk / 'labels.csv'}: {full}" in capsys.readouterr().err
        assert (disk / "labels.csv").read_text() == "earlier"
        assert not list(disk.rglob(".*"))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_fit_goes_on_if_its_state_cannot_be_saved_any_more(matrix, tmp_path, monkeypatch):
    written = []

    def full_later(path, content, compress):
        written.append(path)
        if len(written) > 1:
            raise OutputError(f"{path}: cannot be written: No space left on device")

    monkeypatch.setattr("pyrocco.checkpoint.write_model_file", full_later)
    with (
        pytest.warns(UserWarning, match="cannot be saved .*No space left on device"),
        checkpoint_to(tmp_path / "c.pyrocco", interval=0.0) as checkpoint,
    ):
        model = ROCCO().fit(np.load(matrix), checkpoint=checkpoint)
    assert len(written) > 1
    assert model.n_row_clusters_ == 3


def test_work_is_saved_if_the_results_cannot_be_written(matrix, tmp_path, capsys, monkeypatch):
    """After hours of work the disk may be full: the checkpoint stays, and the message says so."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    out = tmp_path / "out"
    words = ["fit", str(matrix), "-o", str(out), "-q", "--no-report"]
    with monkeypatch.context() as patch:
        patch.setattr("pyrocco.ROCCO.save", full)
        assert main(words) == 2
    err = capsys.readouterr().err
    assert f"{out}: cannot be written: No space left on device" in err
    assert "--resume continues from there" in err
    assert [path.name for path in out.iterdir()] == ["checkpoint.pyrocco"]
    assert main([*words, "--resume"]) == 0
    assert not (out / "checkpoint.pyrocco").exists()


def test_too_little_memory(matrix, tmp_path):
    rng = np.random.default_rng(0)
    large = tmp_path / "large.npy"
    np.save(large, rng.normal(size=(6000, 2000)))
    used = (
        "int(next(line for line in open('/proc/self/status') if line.startswith('VmSize')"
        ").split()[1]) * 1024 + (300 << 20)"
    )
    script = "sys.exit(main(['fit', sys.argv[3], '-o', sys.argv[4], '-q', '--no-report']))"
    out = tmp_path / "large"
    done = limited(script, "RLIMIT_AS", used, matrix, tmp_path / "out", large, out)
    assert done.returncode == 2
    assert "this machine has too little memory" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not out.exists()


class Wait:
    """An observer that lets a fit wait when it begins."""

    def __init__(self):
        self.begun, self.go = threading.Event(), threading.Event()

    def begin(self, stage, steps):
        self.begun.set()
        assert self.go.wait(60)

    def end(self, stage):
        pass

    def iteration(self, record):
        return False


def test_two_fits_into_one_folder_at_once(matrix, tmp_path, capsys):
    out, observer, codes = tmp_path / "out", Wait(), []
    words = ["fit", str(matrix), "-o", str(out), "-q", "--no-report"]
    first = threading.Thread(target=lambda: codes.append(main(words, observer=observer)))
    first.start()
    assert observer.begun.wait(60)
    assert main([*words, "--seed", "5"]) == 2
    assert "another pyrocco is writing results to this folder" in capsys.readouterr().err
    observer.go.set()
    first.join()
    assert codes == [0]
    assert json.loads((out / "summary.json").read_text())["parameters"]["random_state"] == 0
    assert not (out / STAGE).exists()


def leave_scratch_folder(parent):
    """A process that is killed while it has a scratch folder."""
    script = (
        "import sys, os, signal; from pathlib import Path\n"
        "from pyrocco.io.unfinished import ScratchFolder\n"
        "folder = ScratchFolder(Path(sys.argv[1]))\n"
        "(folder.path / '0.npy').write_bytes(bytes(1000))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", script, str(parent)], check=False)
    (path,) = parent.glob("pyrocco-*")
    return path


def test_scratch_folders_stay_if_it_is_not_sure_that_nobody_uses_them(tmp_path, monkeypatch):
    path = leave_scratch_folder(tmp_path)

    def no_locks(*_):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    with monkeypatch.context() as patch:
        patch.setattr("pyrocco.io.unfinished.fcntl.flock", no_locks)
        ScratchFolder(tmp_path).remove()
    assert path.exists()
    with monkeypatch.context() as patch:
        patch.setattr("pyrocco.io.unfinished.socket.gethostname", lambda: "another-machine")
        ScratchFolder(tmp_path).remove()
    assert path.exists()
    ScratchFolder(tmp_path).remove()
    assert not path.exists()


def test_scratch_folders_of_killed_processes_are_removed(tmp_path):
    leave_scratch_folder(tmp_path)
    (tmp_path / "pyrocco-of-a-user").mkdir()
    in_use = ScratchFolder(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"pyrocco-of-a-user", in_use.path.name}
    another = ScratchFolder(tmp_path)
    assert in_use.path.exists()
    in_use.remove()
    another.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["pyrocco-of-a-user"]
