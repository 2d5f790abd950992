"""Ctrl-C during ``pyrocco fit``, and ``--resume``."""

import json
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_biclusters

from pyrocco.cli import main
from tests.stopping import StopAt

LITERAL = ["--variant", "paper", "--n-clusters", "3", "--no-report"]


@pytest.fixture(scope="module", name="matrix")
def make_matrix(tmp_path_factory):
    X, _, _ = make_biclusters((30, 20), 3, noise=20, random_state=0)
    path = tmp_path_factory.mktemp("matrix") / "x.npy"
    np.save(path, X)
    return path


def labels(folder):
    return [pd.read_csv(folder / f"{side}_labels.csv")["label"] for side in ("row", "column")]


def check_same_labels(folder, other):
    for ours, theirs in zip(labels(folder), labels(other), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.fixture(scope="module", name="whole")
def fit_whole(matrix, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    assert main(["fit", str(matrix), "-o", str(folder), *LITERAL, "-q"]) == 0
    return folder


def fit(matrix, folder, *words, observer=None):
    return main(["fit", str(matrix), "-o", str(folder), *LITERAL, *words], observer=observer)


@pytest.mark.parametrize(
    ("moment", "by"),
    [("iteration 1", signal.SIGINT), ("iteration 6", signal.SIGTERM), ("clusters", signal.SIGINT)],
)
def test_resume_gives_the_labels_of_a_whole_run(matrix, whole, tmp_path, capsys, moment, by):
    out = tmp_path / "out"
    before = signal.getsignal(signal.SIGTERM)
    assert fit(matrix, out, "-q", observer=StopAt(moment, by)) == 130
    assert signal.getsignal(signal.SIGTERM) is before
    assert [path.name for path in out.iterdir()] == ["checkpoint.pyrocco"]
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "stopped" in err
    assert "the same command with --resume continues from there" in err
    assert fit(matrix, out, "-q", "--resume") == 0
    assert capsys.readouterr().err == ""
    check_same_labels(out, whole)
    assert not (out / "checkpoint.pyrocco").exists()


def test_a_stop_before_anything_is_done_leaves_nothing(matrix, tmp_path, capsys):
    assert fit(matrix, tmp_path / "out", "-q", observer=StopAt("graph of rows")) == 130
    assert capsys.readouterr().err == "pyrocco: stopped; no results were written\n"
    assert not (tmp_path / "out").exists()


def test_without_resume_a_warning_mentions_the_checkpoint(matrix, whole, tmp_path, capsys):
    fit(matrix, tmp_path, "-q", observer=StopAt("iteration 3"))
    capsys.readouterr()
    assert fit(matrix, tmp_path, "-q") == 0
    err = capsys.readouterr().err
    assert "could be continued with --resume; this fit starts from the beginning" in err
    check_same_labels(tmp_path, whole)
    assert not (tmp_path / "checkpoint.pyrocco").exists()


def test_the_checkpoint_of_another_fit_is_replaced_only_by_force(matrix, tmp_path, capsys):
    fit(matrix, tmp_path, "-q", observer=StopAt("iteration 3"))
    saved = (tmp_path / "checkpoint.pyrocco").read_bytes()
    capsys.readouterr()
    assert fit(matrix, tmp_path, "-q", "--n-neighbors", "5") == 2
    assert "is not a checkpoint of this fit" in capsys.readouterr().err
    assert (tmp_path / "checkpoint.pyrocco").read_bytes() == saved
    (tmp_path / "checkpoint.pyrocco").write_text("my notes")
    assert fit(matrix, tmp_path, "-q") == 2
    assert (tmp_path / "checkpoint.pyrocco").read_text() == "my notes"
    assert fit(matrix, tmp_path, "-q", "--force") == 0
    assert not (tmp_path / "checkpoint.pyrocco").exists()


def test_resume_without_a_checkpoint_starts_from_the_beginning(matrix, whole, tmp_path, capsys):
    assert fit(matrix, tmp_path, "--resume") == 0
    assert "does not exist, so this fit starts from the beginning" in capsys.readouterr().err
    check_same_labels(tmp_path, whole)


def test_resume_refuses_another_fit(matrix, tmp_path, capsys):
    fit(matrix, tmp_path, "-q", observer=StopAt("iteration 3"))
    saved = (tmp_path / "checkpoint.pyrocco").read_bytes()
    capsys.readouterr()
    for words, wanted in [
        (["--n-neighbors", "5"], "another n_neighbors (10 then, 5 now)"),
        (["--transpose"], "another matrix"),
    ]:
        assert fit(matrix, tmp_path, "-q", "--resume", *words) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert wanted in err
        assert "delete the file to start from the beginning" in err
    assert (tmp_path / "checkpoint.pyrocco").read_bytes() == saved


def test_earlier_results_stay_when_a_fit_is_stopped(matrix, whole, tmp_path, capsys):
    assert fit(matrix, tmp_path, "-q") == 0
    assert fit(matrix, tmp_path, "-q", "--seed", "1", observer=StopAt("iteration 3")) == 130
    check_same_labels(tmp_path, whole)
    assert json.loads((tmp_path / "summary.json").read_text())["parameters"]["random_state"] == 0


def test_a_command_may_run_outside_the_main_thread(matrix, whole, tmp_path):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(fit(matrix, tmp_path, "-q")))
    thread.start()
    thread.join()
    assert codes == [0]
    check_same_labels(tmp_path, whole)


PROCESS = """
import json, os, random, signal, sys, threading, time
from pyrocco.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)

class Later:
    # Measures how long a fit takes, and sends Ctrl-C to this process after some seconds of it.
    def __init__(self, seconds=1000):
        self.timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        self.started = time.monotonic()
    def begin(self, stage, steps):
        if stage == "representation":
            self.started = time.monotonic()
            self.timer.start()
    def end(self, stage):
        if stage == "clusters":
            self.timer.cancel()
            self.seconds = time.monotonic() - self.started
    def iteration(self, record):
        return False

matrix, whole, out, *words = sys.argv[1:]
codes = [main(["fit", matrix, "-o", whole, *words])]
clock = Later()
main(["fit", matrix, "-o", whole, *words], observer=clock)
for part in range(3):
    later = Later(random.uniform(0.3 * part, 0.3 * part + 0.3) * clock.seconds)
    codes.append(main(["fit", matrix, "-o", out, "--resume", *words], observer=later))
codes.append(main(["fit", matrix, "-o", out, "--resume", *words]))
print(json.dumps(codes))
"""


@pytest.mark.slow
def test_a_process_stopped_at_random_moments(tmp_path):
    X, _, _ = make_biclusters((60, 40), 3, noise=30, random_state=0)
    np.save(tmp_path / "x.npy", X)
    whole, out = tmp_path / "whole", tmp_path / "out"
    words = [str(tmp_path / "x.npy"), str(whole), str(out), *LITERAL, "-q"]
    command = [sys.executable, "-c", PROCESS, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, *stopped, last = json.loads(done.stdout)
    assert (first, last) == (0, 0)
    assert 130 in stopped
    assert set(stopped) <= {0, 130}
    assert "Traceback" not in done.stderr
    check_same_labels(out, whole)
