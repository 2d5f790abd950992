"""Kernels run without just-in-time compilation, and where no cache can be written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import pyrocco
from pyrocco import ROCCO

PACKAGE = Path(pyrocco.__file__).parent
ROOT = Path(__file__).parents[2]

LABELS = """
import json
from pyrocco.backends.kernels.compile import JIT_IS_DISABLED
from tests.backends.test_compile import labels

assert JIT_IS_DISABLED
print(json.dumps(labels()))
"""

NO_CACHE = """
import numba
import numpy as np
from pyrocco.backends.kernels.hashing import content_keys, largest_cells

X = np.eye(3)
print(content_keys(X, largest_cells(X, 0), 0).shape)
try:
    numba.njit(cache=True)(content_keys.py_func)
except RuntimeError as error:
    print(error)
"""

# Compiles a kernel for two types, or loads it, and prints how often it was loaded.
TWO_TYPES = """
import numpy as np
from pyrocco.backends.kernels.hashing import largest_cells

for dtype in (np.float64, np.float32):
    assert largest_cells(np.full((2, 3), 2, dtype), 0).tolist() == [2, 2]
print(sum(largest_cells.stats.cache_hits.values()))
"""


def labels():
    """Labels of rows and columns for every storage and solver."""
    rng = np.random.RandomState(0)
    X = np.kron(np.eye(3), np.ones((8, 5))) + 0.5 * rng.rand(24, 15)
    cases = {
        "dense": X,
        "CSR": sparse.csr_array(np.where(X > 0.4, X, 0)),
        "missing values": np.where(rng.rand(*X.shape) < 0.2, np.nan, X),
    }
    found = {}
    for name, data in cases.items():
        for solver in ("auto", "conjugate-gradient", "decoupled"):
            model = ROCCO(solver=solver).fit(data)
            found[f"{name}, {solver}"] = [
                model.row_labels_.tolist(),
                model.column_labels_.tolist(),
            ]
    return found


def run(script, source=PACKAGE.parent, **variables):
    environment = {**os.environ, "PYTHONPATH": str(source), **variables}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_labels_without_just_in_time_compilation():
    plain = run(LABELS, f"{PACKAGE.parent}{os.pathsep}{ROOT}", NUMBA_DISABLE_JIT="1")
    assert not plain.stderr
    expected = labels()
    assert json.loads(plain.stdout) == expected
    assert len(expected) == 9
    for rows, columns in expected.values():
        assert max(rows) == max(columns) == 2


def test_kernels_are_compiled_without_a_cache_that_cannot_be_written(tmp_path):
    """Files in place of folders: not even root can write a cache there."""
    copy = tmp_path / "source" / "pyrocco"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    home = tmp_path / "home"
    home.touch()
    done = run(NO_CACHE, copy.parent, HOME=str(home), XDG_CACHE_HOME=str(home))
    shape, refusal = done.stdout.splitlines()
    assert shape == "(3,)"
    assert "cannot cache function 'content_keys'" in refusal


def test_machine_code_for_other_types_is_not_used(tmp_path):
    def run_two_types():
        variables = {"PYTHONPATH": str(PACKAGE.parent), "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", TWO_TYPES]
        done = subprocess.run(
            command, env=os.environ | variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    assert run_two_types() == 0
    assert run_two_types() == 2
    # As if two processes had stored their machine code under each other's name.
    one, other = sorted(tmp_path.rglob("hashing.largest_cells*.nbc"))
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    assert run_two_types() == 0
    assert run_two_types() >= 1
