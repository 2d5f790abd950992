"""The commands of pyrocco that the page runs, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from pyrocco.app.plain_words import plain
from pyrocco.io.read import file_format

__all__ = [
    "Command",
    "Outcome",
    "RefusedOptionError",
    "fit_words",
    "inspect_words",
    "predict_words",
]

# Seconds that a command may take to stop before it is killed.
_PATIENCE = 5.0
# Options that take a word, and those that stand alone. Pages send what a person chose, by name.
_VALUES = (
    "sheet",
    "layout",
    "absent",
    "row_names",
    "skip_rows",
    "decimal",
    "columns",
    "ignore",
    "layer",
    "n_clusters",
)
_FLAGS = ("transpose", "keep_totals", "raw", "header", "encode")
# Flags that can be denied: --no-header.
_DENIED = ("header", "encode")
_LISTS = ("annotate",)
# How to read new rows is taken over from the fit, except for what the model knows itself.
_OF_NEW_ROWS = (
    "transpose",
    "sheet",
    "layout",
    "absent",
    "row_names",
    "skip_rows",
    "header",
    "decimal",
    "keep_totals",
    "layer",
    "raw",
)
_LONGEST_VALUE = 10_000


class RefusedOptionError(ValueError):
    """A page sent an option that does not exist; the message names it."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit code, its output, what it said last, and who ended it."""

    code: int
    output: str
    message: str
    was_stopped: bool = False  # by `Command.stop`

    @property
    def succeeded(self) -> bool:
        """Whether the command did what it was asked for."""
        return self.code == 0


def inspect_words(source: Path, options: Mapping[str, Any], tables: Sequence[Path]) -> list[str]:
    """Return the words of ``pyrocco inspect``."""
    chosen = {name: value for name, value in options.items() if name != "n_clusters"}
    return ["inspect", "--json", *_option_words(chosen), *_table_words(tables), str(source)]


def fit_words(
    source: Path, output: Path, options: Mapping[str, Any], tables: Sequence[Path]
) -> list[str]:
    """Return the words of ``pyrocco fit``."""
    words = [*_option_words(options), *_table_words(tables)]
    return ["fit", "--json-progress", "--force", f"--output={output}", *words, str(source)]


def predict_words(model: Path, source: Path, table: Path, options: Mapping[str, Any]) -> list[str]:
    """Return the words of ``pyrocco predict`` for new rows, read as the rows of the fit were."""
    known = (*file_format(source).options, "transpose")
    chosen = {
        name: value for name, value in options.items() if name in _OF_NEW_ROWS and name in known
    }
    ends = [f"--output={table}", str(model), str(source)]
    return ["predict", "--json", "--force", *_option_words(chosen), *ends]


def _option_words(options: Mapping[str, Any]) -> list[str]:
    """Return options as words; None and empty texts leave an option to the reader."""
    words: list[str] = []
    for name, value in options.items():
        if value is None or value in ("", []):
            continue
        words += _words_of(name, value)
    return words


def _words_of(name: str, value: object) -> list[str]:
    option = name.replace("_", "-")
    if name in _FLAGS and isinstance(value, bool):
        denied = [f"--no-{option}"] if name in _DENIED else []
        return [f"--{option}"] if value else denied
    if name in _LISTS and isinstance(value, list):
        return [f"--{option}={_text(name, each)}" for each in value]
    if name in _VALUES:
        return [f"--{option}={_text(name, value)}"]
    raise RefusedOptionError(f"There is no option {name[:50]!r} with such a value.")


def _text(name: str, value: object) -> str:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise RefusedOptionError(f"The option {name} must be a text or a number.")
    text = str(value)
    if "\0" in text or len(text) > _LONGEST_VALUE:
        raise RefusedOptionError(f"The option {name} is too long, or is not a text.")
    return text


def _table_words(tables: Sequence[Path]) -> list[str]:
    return [f"--annotate-from={path}" for path in tables]


class Command:
    """A command of pyrocco in a process of its own, which can be stopped.

    Parameters
    ----------
    words : sequence of str
        The words after ``pyrocco``.
    folder : Path
        Folder for its temporary files.
    """

    def __init__(self, words: Sequence[str], folder: Path):
        self._process = subprocess.Popen(
            # -P: the current folder may hold files that are called like modules.
            [sys.executable, "-P", "-m", "pyrocco", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(folder),
            encoding="utf-8",
            errors="replace",
            # Ctrl-C in the terminal of the page is for the server, which stops its commands.
            start_new_session=True,
        )
        # Both are pipes, as asked for above.
        self._output = cast("IO[str]", self._process.stdout)
        self._messages = cast("IO[str]", self._process.stderr)
        self._last_line, self._is_stopped = "", False
        self._hidden = folder.parent

    def run(self, watch: Callable[[dict[str, Any]], None] | None = None) -> Outcome:
        """Wait for the end; `watch` is called with every state of the progress."""
        reader = threading.Thread(target=self._follow, args=(watch,), daemon=True)
        reader.start()
        with self._output as stream:
            output = stream.read()
        code = self._process.wait()
        reader.join()
        # A negative code: the system ended it, and what it said before does not say why.
        message = plain(self._last_line, self._hidden) if code >= 0 else ""
        return Outcome(code, output, message, self._is_stopped and code != 0)

    def stop(self) -> None:
        """Ask the process to stop, and kill it if it does not."""
        self._is_stopped = True
        self._process.terminate()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _follow(self, watch: Callable[[dict[str, Any]], None] | None) -> None:
        for line in self._lines():
            if line.startswith('{"progress": '):
                with suppress(ValueError):
                    state = json.loads(line)["progress"]
                    if watch is not None:
                        watch(state)
            elif line:
                self._last_line = line

    def _lines(self) -> Iterator[str]:
        with self._messages as stream:
            for line in stream:
                yield line.rstrip()


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of a command whose temporary files stay in a folder."""
    place = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP", "MPLCONFIGDIR")}
    return {**os.environ, **place, "PYTHONIOENCODING": "utf-8", "COLUMNS": "1000"}
