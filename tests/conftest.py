"""Settings and data shared by all tests."""

import os
import shutil
import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_digits, make_biclusters, make_blobs

from pyrocco.datasets import load

from .kernels import compile_kernels

# numba compiles on first use, so a deadline per example would only measure that.
settings.register_profile(
    "pyrocco",
    deadline=None,
    derandomize=True,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("pyrocco")

REFERENCE = Path(__file__).parent / "reference"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes():
    """Compile kernels once, before workers start that would each do it; one thread per worker.

    Threads of BLAS and OpenMP wait in loops: two workers with two threads each are many times
    slower on two cores. Threads of pyrocco itself are not limited.
    """
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as processes:
        list(processes.map(compile_kernels, (np.float32, np.float64)))


@pytest.fixture(autouse=True, scope="session")
def interruptible():
    """Ctrl-C interrupts, also where a shell that put the tests into the background ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def planted():
    """A clear co-clustering: 60 x 40, three row and three column clusters."""
    X, rows, columns = make_biclusters((60, 40), 3, noise=5, random_state=0)
    return X, rows.argmax(axis=0), columns.argmax(axis=0)


@pytest.fixture(scope="session")
def rcc_reference():
    return dict(np.load(REFERENCE / "rcc.npz"))


@pytest.fixture
def real_data():
    """Loader of the paper's data sets; skips where they are not installed."""
    if not os.environ.get("PYROCCO_DATA"):
        pytest.skip("the paper's data sets are not here: PYROCCO_DATA is not set")
    return load


@pytest.fixture
def rcc_input(request):
    """The matrices that the reference programs of RCC were run on."""

    def make(name):
        if name == "digits":
            return load_digits().data / 16
        if name == "blobs300x5":
            X, _ = make_blobs(300, 5, centers=4, cluster_std=1, random_state=0)
            return X.astype(np.float32).astype(np.float64)
        load = request.getfixturevalue("real_data")
        return np.asarray(load("glioma").X, dtype=np.float64)

    return make


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        if os.environ.get("PYROCCO_BROWSER") == "required":
            pytest.fail("the pages must be tested in a real browser: install chromium")
        pytest.skip("no chromium on this machine (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
