"""A command that fails in every way that the harness must notice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def _crash() -> int:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def _hang() -> int:
    # The process that it starts hangs, too, and must not stay.
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    _say(f"started {other.pid}")
    sys.stderr.flush()
    time.sleep(60)
    return 0


def _raise() -> int:
    raise KeyError("input")


def _change() -> int:
    Path("data.csv").write_text("1,2\n")
    return 0


def _remove() -> int:
    Path("mine.txt").unlink()
    return _bad_input()


def _leave() -> int:
    Path("out").mkdir()
    Path("out/.data.unfinished").write_text("")
    return 0


def _leave_results() -> int:
    Path("out").mkdir()
    Path("out/row_labels.csv").write_text("")
    return _bad_input()


def _write_results() -> int:
    Path("out").mkdir()
    Path("out/row_labels.csv").write_text("")
    return 0


def _say(line: str, code: int = 2) -> int:
    sys.stderr.write(f"{line}\n")
    return code


def _bad_input() -> int:
    return _say("pyrocco: data.csv: the file is empty")


def _use_memory() -> int:
    try:
        bytearray(20 << 30)
    except MemoryError:
        return _bad_input()
    return 0


COMMANDS = {
    "work": lambda: 0,
    "write results": _write_results,
    "refuse": lambda: _say("Reading.") and _bad_input(),
    "use memory": _use_memory,
    "crash": _crash,
    "hang": _hang,
    "raise": _raise,
    "unexpected": lambda: _say("pyrocco: unexpected error", 70),
    "change": _change,
    "remove": _remove,
    "leave": _leave,
    "leave results": _leave_results,
    "escape": lambda: _say("pyrocco: column \x1b[31m: not a number"),
    "silent": lambda: 2,
    "twice": lambda: _bad_input() and _bad_input(),
    "other code": lambda: _say("pyrocco: data.csv: the file is empty", 1),
    "internal": lambda: _say("pyrocco: 'NoneType' object has no attribute 'shape'"),
    "class": lambda: _say("pyrocco: data.csv: cannot be read: StopIterationError"),
}


def main(words: list[str]) -> int:
    """Fail in the way that the first word names; by an exception if it is a command of pyrocco."""
    return COMMANDS.get(words[0], _raise)()
