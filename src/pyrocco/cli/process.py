"""The process of the command line: its standard streams, and a place for temporary files."""

from __future__ import annotations

import io
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyrocco.io.unfinished import ScratchFolder, remove_abandoned

__all__ = ["quiet_libraries", "repair_streams", "temporary_files"]

_HIDDEN = ".pyrocco-"


def repair_streams() -> None:
    """Open closed standard streams on nothing, and escape what the terminal cannot show.

    Otherwise the next file that is opened would get the number of a closed stream, and messages
    of libraries would be written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def quiet_libraries() -> None:
    """Silence what libraries say about folders that cannot be written to.

    matplotlib and joblib do without them, and the user of a command need not know.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message=".*joblib will operate in serial mode")


@contextmanager
def temporary_files(output: Path) -> Iterator[None]:
    """Keep temporary files in the folder of the results if no other folder can be written to.

    Libraries need some place for them. What a killed process left there is removed.
    """
    remove_abandoned(output, _HIDDEN)
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        pass
    else:
        yield
        return
    is_new = not output.exists()
    output.mkdir(parents=True, exist_ok=True)
    scratch = ScratchFolder(output, _HIDDEN)
    place = str(scratch.path.absolute())
    try:
        with _environment(TMPDIR=place, MPLCONFIGDIR=place):
            tempfile.tempdir = place
            yield
    finally:
        tempfile.tempdir = None
        scratch.remove()
        if is_new and not any(output.iterdir()):
            output.rmdir()


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set variables of the environment, for this process and those that it starts."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
            if name in before:
                os.environ[name] = before[name]
