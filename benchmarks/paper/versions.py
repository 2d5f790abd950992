"""Software versions, machine and date of a result."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import date
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyrocco

# The imported pyrocco, which may be in another folder than these benchmarks.
SOURCE = Path(pyrocco.__file__).resolve().parent
PACKAGES = ("pyrocco", "numpy", "scipy", "scikit-learn", "numba")
# The parts of the package that compute labels: not files, plots and commands.
COMPUTING = (".", ":!cli", ":!io", ":!plots")


@cache
def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    return found | {name: _version(name) for name in PACKAGES} | {"commit": source_commit()}


def where_and_when() -> dict[str, str]:
    return {"machine": machine(), "date": date.today().isoformat()}


@cache
def machine(device: str = "cpu") -> str:
    """Return the processor model and the number of cores, and the GPU if it is used."""
    return _processor() if device == "cpu" else f"{_processor()}, {_gpu()}"


def _gpu() -> str:
    import torch  # noqa: PLC0415 - an optional package

    return torch.cuda.get_device_name()


def _processor() -> str:
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        cpuinfo = ""
    model = re.search(r"^model name\s*: (.+)$", cpuinfo, flags=re.MULTILINE)
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def source_commit() -> str:
    """Return the last commit of the computing code, with a plus sign if it was edited since.

    The environment variable PYROCCO_COMMIT names the commit of a copy without its history.
    """
    if "PYROCCO_COMMIT" in os.environ:
        return os.environ["PYROCCO_COMMIT"]
    edited = _git("status", "--porcelain", "--untracked-files=no", "--", *COMPUTING)
    return _git("log", "-1", "--format=%h", "--", *COMPUTING) + ("+" if edited else "")


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=SOURCE, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()
