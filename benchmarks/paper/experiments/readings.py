"""What the paper leaves open: Algorithm 1 with several readings, on exactly the paper's data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.paper import markdown
from benchmarks.paper.cell import Cell, grid
from benchmarks.paper.datasets import Biclusters, Real, Source, real_sets
from benchmarks.paper.datasets.real import SUBLINEAR
from benchmarks.paper.experiments.base import Experiment, Request

# In the order in which they were tried.
READINGS: Mapping[str, Mapping[str, Any]] = {
    "RCC's stop, Euclidean silhouette": {"tolerance": 0.1, "silhouette": "euclidean"},
    "RCC's stop": {"tolerance": 0.1},
    "stop after four iterations": {"max_iter": 4},
    "stop where mu ends, Euclidean silhouette": {"silhouette": "euclidean"},
    "stop where mu ends (chosen)": {},
}
PLANTED = [Biclusters(50, zscored=zscored) for zscored in (False, True)]
SETS = ["classic3", f"classic3:{SUBLINEAR}", "allaml", "glioma", *(each.name for each in PLANTED)]
LINE_UP = ("paper_reading",)
SEEDS, PLANTED_SEEDS = 3, 30
# Titles of the columns: data set, whether K is given, score, printed number.
COLUMNS = (
    ("classic3, K unknown", "classic3", False, "row_ami_max", 0.913),
    ("not normalised", f"classic3:{SUBLINEAR}", False, "row_ami_max", 0.913),
    ("K given", f"classic3:{SUBLINEAR}", True, "row_ami_max", 0.914),
    ("allaml, K given", "allaml", True, "row_ami_max", 0.141),
    ("glioma, K given", "glioma", True, "row_ami_max", 0.411),
    ("glioma, K unknown", "glioma", False, "row_ami_max", 0.411),
    ("Fig. 3, rows, as it is", PLANTED[0].name, False, "row_ari", 0.68),
    ("z-scored", PLANTED[1].name, False, "row_ari", 0.68),
    ("columns, z-scored", PLANTED[1].name, False, "column_ari", 0.68),
)


def cells(request: Request) -> list[Cell]:
    methods = request.pick_methods(LINE_UP)
    found: list[Cell] = []
    for options in READINGS.values():
        for given in (False, True):
            options_now = {**options, "given": True} if given else options
            sources = _sources(request, options, given)
            planted = [source for source in sources if source.kind == "synthetic"]
            real = [source for source in sources if source.kind != "synthetic"]
            for part, seeds in ((real, SEEDS), (planted, PLANTED_SEEDS)):
                found += grid(
                    part, methods, request.pick_seeds(seeds, 1), columns=True, options=options_now
                )
    return found


def _sources(request: Request, options: Mapping[str, Any], given: bool) -> list[Source]:
    """Return the sets on which a reading differs from the others."""
    names = [name for name in SETS if not name.startswith("100x100")]
    if request.quick:
        names = [f"classic3:{SUBLINEAR}", "glioma"]
    sources: list[Source] = [*real_sets(names, request.quick), *([] if given else PLANTED)]
    if request.datasets:
        sources = [source for source in sources if source.name in request.datasets]
    # The silhouette chooses K of text only.
    if "silhouette" in options:
        sources = [source for source in sources if source.kind == "text" and not given]
    return sources


def report(frame: pd.DataFrame, folder: Path, quick: bool) -> None:
    made = markdown.command("readings", frame, LINE_UP, SETS, quick)
    parts = [
        "# What the paper leaves open",
        markdown.caution(quick),
        f"`{made}` generates this page, `readings.csv` and `readings.png`. Algorithm 1 with "
        "several readings of what the paper leaves open, on exactly the paper's data: AMI as in "
        "the paper, ARI for Fig. 3. The silhouette has the metric of the graph unless noted.",
        reading_table(frame),
        "## Clusters found",
        _cluster_table(frame),
        markdown.failures(frame),
        markdown.provenance(frame),
    ]
    markdown.write(folder / "readings.md", parts)
    _draw(frame).savefig(folder / "readings.png", dpi=150)


def _values(
    frame: pd.DataFrame, options: Mapping[str, Any], dataset: str, given: bool, column: str
) -> pd.Series:
    options = {**options, "given": True} if given else options
    if "silhouette" in options and (given or Real(dataset).kind != "text"):
        options = {name: value for name, value in options.items() if name != "silhouette"}
    key = json.dumps(options, sort_keys=True) if options else ""
    chosen = (frame["dataset"] == dataset) & (frame["options"] == key)
    return frame[chosen][column]


def reading_table(frame: pd.DataFrame) -> str:
    """Scores of every reading; the last line has the printed numbers."""
    rows = []
    for words, options in READINGS.items():
        scores = (_values(frame, options, *column[1:4]) for column in COLUMNS)
        rows.append([words, *map(markdown.spread, scores)])
    rows.append(["printed", *(f"{column[-1]:g}" for column in COLUMNS)])
    return markdown.table(["reading", *(column[0] for column in COLUMNS)], rows)


def _cluster_table(frame: pd.DataFrame) -> str:
    unknown = [column for column in COLUMNS if not column[2] and column[3] != "column_ari"]
    rows = []
    for words, options in READINGS.items():
        counts = (_values(frame, options, c[1], False, "row_clusters") for c in unknown)
        rows.append([words, *(markdown.spread(each, 1) for each in counts)])
    return markdown.table(["reading", *(column[0] for column in unknown)], rows)


def _draw(frame: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots()
    places = range(len(COLUMNS))
    for index, (words, options) in enumerate(READINGS.items()):
        heights = [_values(frame, options, *column[1:4]).mean() for column in COLUMNS]
        shift = 0.12 * (index - len(READINGS) / 2)
        axes.plot([x + shift for x in places], heights, "os^Dv"[index], ms=5, label=words)
    axes.plot(places, [column[-1] for column in COLUMNS], "k*", ms=9, label="printed")
    axes.set(ylim=(0, 1), ylabel="AMI; ARI for Fig. 3")
    axes.set_xticks(places, [column[0] for column in COLUMNS], rotation=25, ha="right")
    figure.legend(loc="outside upper center", ncols=3, fontsize=8)
    return figure


EXPERIMENT = Experiment("readings", "readings of Algorithm 1", cells, report)
