"""The fits that a person asked for: one runs, the others wait for their turn."""

from __future__ import annotations

import json
import secrets
import shutil
import threading
import zipfile
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from pyrocco.app.commands import Command, Outcome, fit_words, predict_words
from pyrocco.app.plain_words import plain
from pyrocco.app.uploads import Upload

__all__ = ["ARCHIVE", "REPORT", "Fit", "Fits", "Stage", "describe"]

SUMMARY, REPORT, ARCHIVE = "summary.json", "report.html", "all-results.zip"
_FAILED = (
    "The fit ended without a result and without a message: the computer may not have enough "
    "memory."
)
# What the page says about a finished fit.
_SAID = (
    "n_row_clusters",
    "n_column_clusters",
    "row_cluster_sizes",
    "column_cluster_sizes",
    "cells",
    "preparation",
    "shape",
    "seconds",
)


class Stage(StrEnum):
    """Where a fit stands."""

    waiting = "waiting"
    running = "running"
    done = "done"
    failed = "failed"
    stopped = "stopped"


@dataclass
class Fit:
    """A fit that a person asked for.

    Attributes
    ----------
    id : str
        Names it in addresses; nobody can guess it.
    upload : Upload
        The file to fit.
    options : mapping
        What the person chose on the page.
    tables : sequence of Path
        Tables of annotations.
    folder : Path
        Folder for its results.
    stage : Stage
        Where it stands.
    progress : dict
        The last state of its progress.
    message : str
        What the command said last; why it failed.
    summary : dict
        The facts about its result.
    """

    id: str
    upload: Upload
    options: Mapping[str, Any]
    tables: Sequence[Path]
    folder: Path
    stage: Stage = Stage.waiting
    progress: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    summary: dict[str, Any] = field(default_factory=dict)
    predictions: dict[str, Path] = field(default_factory=dict)

    def result(self, name: str) -> Path | None:
        """Return a file of the results by its name; None if there is no such file."""
        names = [*self.summary.get("files", ()), ARCHIVE]
        return self.folder / name if self.stage is Stage.done and name in names else None


class Fits:
    """Runs fits one after the other.

    Parameters
    ----------
    folder : Path
        Where the results are written, each in a folder of its own.
    scratch : Path
        For temporary files of the commands.
    """

    def __init__(self, folder: Path, scratch: Path):
        self.folder, self.scratch = folder, scratch
        self._known: dict[str, Fit] = {}
        self._waiting: deque[Fit] = deque()
        self._running: tuple[Fit, Command] | None = None
        self._changed = threading.Condition()
        self._aside: set[Command] = set()
        self._is_closed = False
        folder.mkdir()
        self._worker = threading.Thread(target=self._work, name="fits", daemon=True)
        self._worker.start()

    def find(self, fit_id: object) -> Fit | None:
        """Return a fit by its id; None if there is none."""
        return self._known.get(fit_id) if isinstance(fit_id, str) else None

    def add(self, upload: Upload, options: Mapping[str, Any], tables: Sequence[Path]) -> Fit:
        """Add a fit to the queue."""
        fit_id = secrets.token_hex(8)
        fit = Fit(fit_id, upload, options, tables, self.folder / fit_id)
        fit_words(upload.path, fit.folder, options, tables)  # refuses options that do not exist
        with self._changed:
            self._known[fit_id] = fit
            self._waiting.append(fit)
            self._changed.notify_all()
        return fit

    def n_before(self, fit: Fit) -> int:
        """Return the number of fits that end before a fit can start."""
        with self._changed:
            if fit not in self._waiting:
                return 0
            return self._waiting.index(fit) + (self._running is not None)

    def stop(self, fit: Fit) -> None:
        """Stop a fit that waits or runs; a finished one stays as it is."""
        command = None
        with self._changed:
            if fit in self._waiting:
                self._waiting.remove(fit)
                fit.stage = Stage.stopped
            elif self._running is not None and self._running[0] is fit:
                fit.stage = Stage.stopped
                command = self._running[1]
        if command is not None:
            command.stop()

    def predict(self, fit: Fit, new: Upload) -> tuple[str, Outcome]:
        """Assign the rows of a file to the clusters of a fit; return the id of the table."""
        prediction_id = secrets.token_hex(8)
        table = fit.folder / f"labels-{prediction_id}.csv"
        words = predict_words(fit.folder, new.path, table, fit.options)
        outcome = self.run_aside(Command(words, self.scratch))
        if outcome.succeeded:
            fit.predictions[prediction_id] = table
        return prediction_id, outcome

    def run_aside(self, command: Command) -> Outcome:
        """Run a command that needs no turn, such as a preview; `close` stops it, too."""
        self._aside.add(command)
        try:
            return command.run()
        finally:
            self._aside.discard(command)

    def close(self) -> None:
        """Stop all fits and other commands."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            running = self._running
            self._changed.notify_all()
        if running is not None:
            self.stop(running[0])
        for command in tuple(self._aside):
            command.stop()
        self._worker.join()

    def _work(self) -> None:
        while (started := self._next()) is not None:
            fit, command = started
            outcome = command.run(fit.progress.update)
            with self._changed:
                self._running = None
                is_stopped = fit.stage is Stage.stopped
            if is_stopped:
                shutil.rmtree(fit.folder, ignore_errors=True)
            else:
                self._finish(fit, outcome)

    def _next(self) -> tuple[Fit, Command] | None:
        """Wait for the next fit and start it; None once there will be no more."""
        with self._changed:
            while not self._is_closed:
                if not self._waiting:
                    self._changed.wait()
                    continue
                fit = self._waiting.popleft()
                command = self._start(fit)
                if command is not None:
                    self._running = fit, command
                    return self._running
        return None

    def _start(self, fit: Fit) -> Command | None:
        words = fit_words(fit.upload.path, fit.folder, fit.options, fit.tables)
        try:
            command = Command(words, self.scratch)
        except OSError as error:  # the computer is out of memory or of processes
            fit.stage, fit.message = Stage.failed, f"The fit could not start: {error.strerror}."
            return None
        fit.stage = Stage.running
        return command

    def _finish(self, fit: Fit, outcome: Outcome) -> None:
        if not outcome.succeeded:
            fit.message = outcome.message or _FAILED
            fit.stage = Stage.failed
            return
        text = (fit.folder / SUMMARY).read_text(encoding="utf-8")
        fit.summary = json.loads(text)
        with suppress(OSError):  # the disk may be full; the files themselves can be had
            _pack(fit)
        fit.stage = Stage.done


def _pack(fit: Fit) -> None:
    """Put all files of the results into one archive."""
    with zipfile.ZipFile(fit.folder / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in fit.summary["files"]:
            archive.write(fit.folder / name, f"{fit.upload.path.stem}-pyrocco/{name}")


def describe(fit: Fit, n_before: int) -> dict[str, Any]:
    """Return what the page shows about a fit."""
    root = fit.folder.parent.parent
    warned = [plain(text, root) for text in fit.summary.get("warnings", ())]
    return {
        "id": fit.id,
        "name": fit.upload.name,
        "stage": fit.stage.value,
        "before": n_before,
        "progress": dict(fit.progress),
        "message": fit.message,
        "warnings": warned,
        "summary": {name: fit.summary.get(name) for name in _SAID} if fit.summary else None,
        "files": list(fit.summary.get("files", ())),
    }
