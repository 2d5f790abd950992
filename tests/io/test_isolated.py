"""A reader that crashes, hangs or prints does no harm in a process of its own."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from pyrocco.io import MatrixError, isolated
from pyrocco.io.isolated import ReaderFailedError, read_isolated

from . import isolated_readers as readers


@pytest.fixture(name="path")
def make_file(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("content")
    return path


def test_the_modules_of_readers_import_little():
    code = (
        "import sys, pyrocco.io.market, pyrocco.io.workbook, pyrocco.io.hdf5\n"
        "print({'numba', 'sklearn', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_arrays_and_values_come_back(path):
    parts = read_isolated(readers.good, path, "é", None, 3)
    assert parts.about["text"] == "content"
    assert parts.about["words"] == ["é", None, 3]
    assert parts.about["pid"] != os.getpid()
    np.testing.assert_array_equal(parts.arrays["a"], [[0, 1, 2], [3, 4, 5]])
    assert parts.arrays["b"].dtype == np.int32
    assert parts.arrays["c"].shape == (0,)
    parts.arrays["a"][0] = 7  # they can be changed


@pytest.mark.parametrize("reader", [readers.crash, readers.leave, readers.fail])
def test_failures(path, reader):
    with pytest.raises(ReaderFailedError):
        read_isolated(reader, path)


@pytest.mark.parametrize("reader", [readers.hang, readers.spin])
def test_readers_that_do_not_return(path, reader, monkeypatch):
    monkeypatch.setattr(isolated, "SECONDS", 1.0)
    started = time.monotonic()
    with pytest.raises(ReaderFailedError, match="took more than 1 second"):
        read_isolated(reader, path)
    assert time.monotonic() - started < 10


def test_errors_that_are_for_the_user(path):
    with pytest.raises(MatrixError, match="is not for you"):
        read_isolated(readers.refuse, path)
    with pytest.raises(MemoryError):
        read_isolated(readers.fill_memory, path)


def test_the_current_folder_is_not_trusted(path, monkeypatch):
    (path.parent / "json.py").write_text("raise SystemExit('taken over')")
    (path.parent / "numpy.py").write_text("raise SystemExit('taken over')")
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("PYTHONPATH", str(path.parent))
    assert read_isolated(readers.good, path).about["text"] == "content"
