"""The CSV file of an experiment, with one line per finished cell."""

from __future__ import annotations

import csv
import fcntl
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from benchmarks.paper.cell import Key
from benchmarks.paper.scores import SCORES
from benchmarks.paper.versions import PACKAGES

KEY = ("dataset", "method", "seed", "options")
COLUMNS = (
    *KEY,
    "status",
    "reason",
    *(f"row_{name}" for name in SCORES),
    *(f"column_{name}" for name in SCORES),
    "row_clusters",
    "column_clusters",
    "n_rows",
    "n_columns",
    "row_classes",
    "seconds",
    "cpu_seconds",
    "stages",
    "threads",
    "time_limit",
    "python",
    *PACKAGES,
    "commit",
    "machine",
    "date",
)
TEXTS = (*KEY, "status", "reason", "stages", "commit", "machine", "date")
# Skipped cells are tried again: the package that they need may be installed by then.
FINISHED = ("ok", "failed", "timeout")


class Store:
    """Reads and appends lines; several runs may share a file."""

    def __init__(self, path: Path):
        self.path = path

    def read(self) -> pd.DataFrame:
        """Return the last line of every cell, in the order of the file."""
        if not self.path.exists():
            return pd.DataFrame(columns=list(COLUMNS))
        frame = pd.read_csv(
            self.path,
            dtype=dict.fromkeys(TEXTS, str),
            keep_default_na=False,
            na_values={name: [""] for name in COLUMNS if name not in TEXTS},
        ).reindex(columns=list(COLUMNS))
        # Older files lack some columns.
        frame = frame.fillna(dict.fromkeys(TEXTS, ""))
        return frame.drop_duplicates(list(KEY), keep="last").reset_index(drop=True)

    def statuses(self) -> dict[Key, str]:
        frame = self.read()
        keys = zip(*(frame[name] for name in KEY), strict=True)
        return dict(zip(keys, frame["status"], strict=True))

    def append(self, row: dict[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked("a") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)

    def drop(self, keys: Collection[Key]) -> None:
        """Remove cells, and superseded lines of all cells."""
        if not self.path.exists():
            return
        with self._locked("r+") as file:
            kept = {tuple(row[name] for name in KEY): row for row in csv.DictReader(file)}
            file.seek(0)
            file.truncate()
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(row for key, row in kept.items() if key not in keys)

    @contextmanager
    def _locked(self, mode: str) -> Iterator[IO[str]]:
        with self.path.open(mode, newline="", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
