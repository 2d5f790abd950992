"""Judge what a command did, by its exit code, its output and the files it changed."""

import fnmatch
import hashlib
import os
import re
import signal
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from .seeds import OUT, Command

# Exit codes of pyrocco: success, bad input, and an error that it does not know.
SUCCESS, BAD_INPUT, UNEXPECTED = 0, 2, 70
# Exit code of a forked process that an exception left.
RAISED = 99
FINE = ("read", "clear error")
FAILURES = (
    *("crash", "hang", "traceback", "file changed"),
    *("control characters", "wrong exit", "unclear error"),
)
OUTCOMES = (*FINE, *FAILURES)
# Texts of exceptions that were not written for the people who use the program.
_INTERNAL = re.compile(
    r"has no attribute|index out of range|h5py|Errno|NoneType|not subscriptable|not iterable"
    r"|unexpected keyword|positional argument|invalid literal for|codec can't|values to unpack"
    r"|cannot reshape|not supported between|not callable|unhashable|0x[0-9a-f]{6,}|<class '"
    r"|<\w+ object|unexpected error"
)
_ONLY_CLASS = re.compile(r"(^|[ :])\w+(Error|Exception)\W*$")

Snapshot = dict[str, str]


@dataclass(frozen=True)
class Ended:
    """How a forked process ended: an exit code, a signal, or neither after the deadline."""

    code: int | None
    signal: int | None
    seconds: float


def take_snapshot(folder: Path) -> Snapshot:
    """Describe every file, folder and link below a folder, without following links."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"link to {os.readlink(path)}"
        elif path.is_dir():
            found[name] = "folder"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = "pipe or device"
    return found


def list_changes(
    before: Snapshot, after: Snapshot, command: Command, code: int | None, stderr: str = ""
) -> str:
    """Name the files that a command should not have changed, removed or left behind."""
    replaced = command.replaces if code == SUCCESS else ()
    lost = [
        f"{name} was {'changed' if name in after else 'removed'}"
        for name in before
        if before[name] != after.get(name)
        and not any(fnmatch.fnmatch(name, pattern) for pattern in replaced)
    ]
    new = sorted(after.keys() - before.keys())
    can_resume = "the same command with --resume" in stderr
    left = [
        f"{name} was left behind"
        for name in new
        if not _is_result(name, after[name], code)
        and not (can_resume and name.startswith(_CHECKPOINT))
    ]
    return "; ".join((lost + left)[:5])


# Stays if a fit was done and its results could not be written, and the message says so.
_CHECKPOINT = f"{OUT}/checkpoint."


def _is_result(name: str, content: str, code: int | None) -> bool:
    """Whether a new file may be there: a result of a fit that worked, or an empty folder."""
    if name == OUT and content == "folder":
        return True
    is_hidden = any(part.startswith(".") for part in Path(name).parts)
    return code == SUCCESS and name.startswith(f"{OUT}/") and not is_hidden


def judge(ended: Ended, stdout: str, stderr: str, changes: str) -> tuple[str, str]:
    """Return the outcome of a command, and why."""
    control = sorted({c for c in stdout + stderr if is_control(c)})
    if ended.signal is not None:
        found = "crash", signal.Signals(ended.signal).name
    elif ended.code is None:
        found = "hang", f"ran for {ended.seconds:.0f} s"
    elif "Traceback" in stdout + stderr or ended.code in (UNEXPECTED, RAISED):
        found = "traceback", _last_line(stderr)
    elif changes:
        found = "file changed", changes
    elif control:
        found = "control characters", ", ".join(f"U+{ord(c):04X}" for c in control)
    else:
        found = _judge_exit(ended.code, stderr)
    return found


def _judge_exit(code: int, stderr: str) -> tuple[str, str]:
    """Judge a command that ended by itself: it worked, or one line says what is wrong."""
    if code == SUCCESS:
        return "read", ""
    last = _last_line(stderr)
    n_errors = sum(line.startswith("pyrocco: ") for line in stderr.splitlines())
    if code != BAD_INPUT or n_errors != 1 or not last.startswith("pyrocco: "):
        return "wrong exit", f"exit code {code}, {n_errors} lines of errors"
    is_internal = _INTERNAL.search(last) or _ONLY_CLASS.search(last)
    return "unclear error" if is_internal else "clear error", last


def _last_line(text: str) -> str:
    return ["", *text.strip().splitlines()][-1]


def is_control(character: str) -> bool:
    """Whether a character could control a terminal."""
    return unicodedata.category(character) == "Cc" and character not in "\n\t"
