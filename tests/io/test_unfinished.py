"""Files that are complete or absent, also after a process was killed."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from pyrocco.io import OutputError
from pyrocco.io.unfinished import STAGE, claimed_stage, remove_unfinished, replacing

HOLD = """
import sys, time
from pathlib import Path
from pyrocco.io.unfinished import claimed_stage, replacing
with {function}(Path(sys.argv[1])) as path:
    {write}
    print("ready", flush=True)
    time.sleep(60)
"""


def hold(function, write, path):
    """Start a process that is in the middle of writing."""
    script = HOLD.format(function=function, write=write)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def test_a_file_replaces_the_old_one_only_when_it_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(FileNotFoundError), replacing(path) as unfinished:
        unfinished.write_text((tmp_path / "b.txt").read_text())
    assert path.read_text() == "old"
    with replacing(path) as unfinished:
        unfinished.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_the_file_of_a_killed_process_is_overwritten(tmp_path):
    path = tmp_path / "a.txt"
    kill(hold("replacing", "path.write_text('much that was never finished')", path))
    assert not path.exists()
    with replacing(path) as unfinished:
        unfinished.write_text("new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_what_is_left_can_be_removed_unless_it_is_being_written(tmp_path):
    path = tmp_path / "a.txt"
    process = hold("replacing", "path.write_text('half')", path)
    remove_unfinished(path)
    assert os.listdir(tmp_path) == [".a.txt.unfinished"]
    kill(process)
    remove_unfinished(path)
    assert os.listdir(tmp_path) == []
    remove_unfinished(path)


def test_two_writers_take_turns(tmp_path):
    path = tmp_path / "a.txt"
    process = hold("replacing", "path.write_text('half')", path)

    def write():
        with replacing(path) as unfinished:
            unfinished.write_text("second")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()  # it waits for the first writer
    kill(process)
    thread.join(20)
    assert path.read_text() == "second"


def test_only_one_process_has_the_stage_of_a_folder(tmp_path):
    process = hold("claimed_stage", "(path / 'x').write_text('x')", tmp_path)
    try:
        with pytest.raises(OutputError, match="another pyrocco"), claimed_stage(tmp_path):
            pass
        assert (tmp_path / STAGE / "files" / "x").exists()
    finally:
        kill(process)
    assert os.listdir(tmp_path) == [STAGE]
    with claimed_stage(tmp_path) as stage:
        assert os.listdir(stage) == []
    assert os.listdir(tmp_path) == []


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / ".a.txt.unfinished").symlink_to(tmp_path / "mine.txt")
    with (
        pytest.raises(OSError, match="symbolic links"),
        replacing(tmp_path / "a.txt") as unfinished,
    ):
        unfinished.write_text("other")
    assert (tmp_path / "mine.txt").read_text() == "mine"
