"""Methods on labelled matrices as they come, numbers of clusters unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.collection.methods import DETERMINISTIC, METHODS, RANDOM_WHEN_LARGE
from benchmarks.collection.sets import ALL, GROUPS, RealSet, real_sets
from benchmarks.collection.summary import (
    group_table,
    mean_and_error,
    paired_table,
    per_set,
    set_table,
)
from benchmarks.paper import markdown
from benchmarks.paper.cell import Cell
from benchmarks.paper.experiments import Experiment, Request
from benchmarks.paper.methods import Method

SEEDS = 5
PAIRS = (("rocco", "control_x"), ("rocco", "leiden"), ("rocco", "leiden_prepared"))
SET_TABLES = (
    ("AMI of rows", "row_ami", 3),
    ("ARI of rows", "row_ari", 3),
    ("Clusters found", "row_clusters", 1),
    ("CPU seconds", "cpu_seconds", 2),
)
LEGEND = """\
Every set is used as it comes. `rocco` is `ROCCO()`; `control_x` is its preparation and its
last step alone, which shows what the rest of a fit costs; `leiden` uses the 15-nearest-neighbour
graph of 50 principal components (RB configuration, resolution 1, edges of weight 1), and
`leiden_prepared` the same after preparation by hand: normalize and log1p for cells, log2 where
genes are positive and large and then z-scores, tf-idf for text. `km_silhouette` is k-means with K
from 2 to 15 chosen by the silhouette, `hdbscan` and `evoc` determine the number of clusters
themselves (their noise points count as one cluster), and `scc_true_k` is spectral co-clustering
with the true number.

Methods that depend on the seed have {seeds}; ROCCO does only on sets of more than 1000 rows.
Scores of a set are means over seeds. Tables by kind give the mean over sets ± its standard error;
a method without labels for some sets is averaged over the others, and their number is given.
`cells`, `genes` and `text` are the sets of the collection, `nine` those of the paper.

There is no other parameter-free co-clustering method in these tables. taucc and coclust could not
be installed from the package index that was available. sparsebm 1.6.7, which takes yes/no cells
only, was tried on one run each: it was stopped on tr11 and re0 after 200 seconds of wall-clock
time on a busy machine, and on sc_dropseq its first model was "not trained successfully"."""


@dataclass(frozen=True)
class RealExperiment:
    """The cells and the page; `rows` cuts text to random rows, with one seed each."""

    rows: int | None = None

    @property
    def name(self) -> str:
        return "real" if self.rows is None else f"real_{self.rows}"

    def cells(self, request: Request) -> list[Cell]:
        seeds = request.seeds or (SEEDS if self.rows is None else 1)
        sources = real_sets(request.datasets, self.rows)
        wanted = request.methods or METHODS
        methods = [method for name, method in METHODS.items() if name in wanted]
        return [cell for s in sources for m in methods for cell in _seeded(s, m, seeds)]

    def report(self, frame: pd.DataFrame, folder: Path, quick: bool) -> None:
        methods = markdown.ordered(frame["method"], list(METHODS))
        parts = [
            "# Labelled matrices as they come",
            f"`{self._command(frame)}` generates this page and `{self.name}.csv`.",
            LEGEND.format(seeds=f"{frame['seed'].astype(int).max() + 1} seeds at most"),
            self._cut(),
            *_score_parts(frame, methods),
            *_other_parts(frame, methods),
            *_set_parts(frame, methods),
            markdown.failures(frame),
            markdown.warned(frame),
            markdown.provenance(frame),
        ]
        markdown.write(folder / f"{self.name}.md", parts)

    def _command(self, frame: pd.DataFrame) -> str:
        words = ["python -m benchmarks.collection real"]
        words += [] if self.rows is None else [f"--rows {self.rows}"]
        for option, column, known in (
            ("--sets", "dataset", ALL),
            ("--methods", "method", METHODS),
        ):
            found = markdown.ordered(frame[column], list(known))
            words += [] if found == list(known) else [option, *found]
        return " ".join(words)

    def _cut(self) -> str:
        return "" if self.rows is None else f"**Text is cut to {self.rows} random rows.**"


def real_experiment(rows: int | None = None) -> Experiment:
    made = RealExperiment(rows)
    return Experiment(made.name, "labelled matrices as they come", made.cells, made.report)


def _seeded(source: RealSet, method: Method, seeds: int) -> Iterator[Cell]:
    """Yield the cells of a method on a set; one seed if the labels do not depend on it."""
    options = {"kind": source.kind} if method.name == "leiden_prepared" else {}
    after = None
    for seed in range(seeds if seeds == 1 or _is_random(source, method) else 1):
        cell = Cell(source, method, seed, options=options, after=after)
        after = cell.key
        yield cell


def _is_random(source: RealSet, method: Method) -> bool:
    if method.name in RANDOM_WHEN_LARGE:
        return source.is_large()
    return method.name not in DETERMINISTIC


def _score_parts(frame: pd.DataFrame, methods: list[str]) -> list[str]:
    parts = []
    for title, column in (("AMI", "row_ami"), ("ARI", "row_ari")):
        values = per_set(frame, column)
        parts += [
            f"## {title} of rows by kind",
            group_table(values, methods, GROUPS, mean_and_error),
            "Difference on the same sets:",
            paired_table(values, PAIRS, GROUPS),
        ]
    return parts


def _other_parts(frame: pd.DataFrame, methods: list[str]) -> list[str]:
    """Numbers of clusters and CPU seconds by kind."""
    ratios = per_set(frame, "row_clusters") / per_set(frame, "row_classes")
    return [
        "## Clusters found, divided by the true number (geometric mean over sets)",
        group_table(ratios, methods, GROUPS, _geometric_mean),
        "## CPU seconds (mean over sets)",
        group_table(per_set(frame, "cpu_seconds"), methods, GROUPS, _seconds),
    ]


def _set_parts(frame: pd.DataFrame, methods: list[str]) -> list[str]:
    """Tables with one line for each set."""
    sets = markdown.ordered(frame["dataset"], ALL)
    parts = []
    for title, column, digits in SET_TABLES:
        parts += [f"## {title} by set", set_table(frame, column, methods, sets, digits)]
    return parts


def _geometric_mean(values: pd.Series) -> str:
    return f"{np.exp(np.log(values).mean()):.2f}"


def _seconds(values: pd.Series) -> str:
    return f"{values.mean():.2f}"
