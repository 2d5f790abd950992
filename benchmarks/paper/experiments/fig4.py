"""Fig. 4: dependence of the labels on the number of neighbours and on the metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.paper import markdown
from benchmarks.paper.cell import Cell, grid
from benchmarks.paper.datasets import real_sets
from benchmarks.paper.experiments.base import Experiment, Request
from benchmarks.paper.published import FIG4, FIG4_VARIANCES

# Text in both preparations: rows that are not normalised, and rows of length 1.
SETS = ("classic3:sublinear", "classic3", "carcinom")
NEIGHBOR_SETS = ("classic3:sublinear", "carcinom")
LINE_UP = ("rocco_paper", "rocco")
# The paper does not say whether the number of clusters was given: here it is.
GIVEN_SETS, GIVEN_METHOD = ("classic3:sublinear", "classic3"), "rocco_paper+km"
NEIGHBORS = range(7, 14)
METRICS = ("euclidean", "manhattan", "cosine")
SCORES = ("nmi_geometric", "ami_max", "ari")
NAMES = ("NMI", "AMI", "ARI")


def cells(request: Request) -> list[Cell]:
    methods = [each for each in request.pick_methods(LINE_UP) if each.name != GIVEN_METHOD]
    seeds = request.pick_seeds(5, 1)
    neighbors = (7, 10, 13) if request.quick else NEIGHBORS
    found = []
    for name in request.datasets or (NEIGHBOR_SETS if request.quick else SETS):
        settings: list[Mapping[str, Any]] = [{"metric": metric} for metric in METRICS]
        if name not in SETS or name in NEIGHBOR_SETS:
            settings += [{"n_neighbors": k} for k in neighbors]
        sources = real_sets([name], request.quick)
        found += [
            cell for options in settings for cell in grid(sources, methods, seeds, options=options)
        ]
    return found if request.quick else [*found, *_given_cells(request)]


def _given_cells(request: Request) -> list[Cell]:
    names = [name for name in GIVEN_SETS if name in (request.datasets or GIVEN_SETS)]
    if not names:
        return []
    methods = [each for each in request.pick_methods((GIVEN_METHOD,)) if each.name == GIVEN_METHOD]
    sources, seeds = real_sets(names, request.quick), request.pick_seeds(5, 1)
    return [
        cell
        for metric in METRICS
        for cell in grid(sources, methods, seeds, options={"metric": metric})
    ]


def report(frame: pd.DataFrame, folder: Path, quick: bool) -> None:
    given = frame["method"] == GIVEN_METHOD
    methods = markdown.ordered(frame[~given]["method"], LINE_UP)
    sets = markdown.ordered(frame[~given]["dataset"], SETS)
    made = markdown.command("fig4", frame, (*LINE_UP, GIVEN_METHOD), SETS, quick)
    scanned = [name for name in sets if name not in SETS or name in NEIGHBOR_SETS] or sets
    parts = [
        "# Fig. 4: neighbours and metrics",
        markdown.caution(quick),
        f"`{made}` generates this page, `fig4.csv` and `fig4.png`. Number of clusters unknown "
        "unless noted. "
        f"Seeds per cell: {markdown.seeds(frame)} (one if the method is deterministic). In "
        "brackets: the paper's number; its carcinom has more genes than ours. Text is "
        "tf-idf with rows of length 1 or, as `classic3:sublinear`, log(1 + count) log(n / "
        "document frequency), not normalised. NMI and AMI are normalised as in the paper. "
        "The variance is that of the means over the three metrics. "
        "The paper prints no numbers for neighbours.",
        "## Metric",
        metric_table(frame, methods, sets),
        "## Metric, number of clusters given",
        metric_table(frame, [GIVEN_METHOD], GIVEN_SETS),
        "## Number of neighbours: AMI of rows",
        neighbor_table(frame, methods, scanned),
        markdown.failures(frame),
        markdown.provenance(frame),
    ]
    markdown.write(folder / "fig4.md", parts)
    _draw(frame, methods, scanned).savefig(folder / "fig4.png", dpi=150)


def _part(frame: pd.DataFrame, name: str, method: str, options: str) -> pd.DataFrame:
    chosen = (frame["dataset"] == name) & (frame["method"] == method)
    return frame[chosen & (frame["options"] == options)]


def metric_table(frame: pd.DataFrame, methods: Sequence[str], sets: Sequence[str]) -> str:
    rows = []
    for name in sets:
        for method in methods:
            parts = [_part(frame, name, method, f'{{"metric": "{m}"}}') for m in METRICS]
            for metric, part in zip(METRICS, parts, strict=True):
                printed = FIG4.get((_short(name), metric), (None,) * 3)
                values = [markdown.spread(part[f"row_{score}"]) for score in SCORES]
                rows.append([name, method, metric, *map(_with_printed, values, printed)])
            spreads = [pd.Series([p[f"row_{s}"].mean() for p in parts]).var() for s in SCORES]
            printed = FIG4_VARIANCES.get(_short(name), (None,) * 3)
            shown = [
                ("-" if pd.isna(ours) else f"{ours:.1e}")
                + ("" if theirs is None else f" [{theirs:.1e}]")
                for ours, theirs in zip(spreads, printed, strict=True)
            ]
            rows.append([name, method, "variance", *shown])
    return markdown.table(["data set", "method", "metric", *NAMES], rows)


def _short(name: str) -> str:
    return name.partition(":")[0]


def _with_printed(ours: str, printed: float | None) -> str:
    return markdown.with_printed(ours, printed, 4)


def neighbor_table(frame: pd.DataFrame, methods: Sequence[str], sets: Sequence[str]) -> str:
    rows = []
    for name in sets:
        for method in methods:
            parts = [_at(frame, name, method, k) for k in NEIGHBORS]
            rows.append([name, method, *(markdown.spread(part["row_ami_max"]) for part in parts)])
    return markdown.table(["data set", "method", *map(str, NEIGHBORS)], rows)


def _at(frame: pd.DataFrame, name: str, method: str, k: int) -> pd.DataFrame:
    return _part(frame, name, method, f'{{"n_neighbors": {k}}}')


def _draw(frame: pd.DataFrame, methods: Sequence[str], sets: Sequence[str]) -> Figure:
    figure = Figure(figsize=(4.5 * len(sets), 3.6), layout="constrained")
    panels = figure.subplots(1, len(sets), squeeze=False, sharey=True)[0]
    for axes, name in zip(panels, sets, strict=True):
        for method, marker in zip(methods, "os^D", strict=False):
            for score, shown, color in zip(SCORES, NAMES, ("C0", "C1", "C2"), strict=True):
                values = [_at(frame, name, method, k)[f"row_{score}"].mean() for k in NEIGHBORS]
                label = f"{method} {shown}"
                axes.plot(NEIGHBORS, values, marker=marker, color=color, label=label)
        axes.set(xlabel="neighbours", title=name, ylim=(0, 1.02))
    panels[-1].legend(fontsize=7)
    return figure


EXPERIMENT = Experiment("fig4", "sensitivity to neighbours and metric", cells, report)
