"""Which software made a number."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyrocco

# Where pyrocco is imported from, which need not be the tree these benchmarks are in.
SOURCE = Path(pyrocco.__file__).resolve().parent
PACKAGES = ("pyrocco", "numpy", "scipy", "scikit-learn", "numba")
# All of the package but what reads, draws and talks.
COMPUTING = (".", ":!cli", ":!io", ":!plots")


@cache
def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    return found | {name: _version(name) for name in PACKAGES} | {"commit": source_commit()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def source_commit() -> str:
    """Last commit of what computes labels, with a plus sign where it has been edited since."""
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
