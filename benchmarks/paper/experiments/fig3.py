"""Fig. 3: agreement with the planted row and column clusters as noise grows."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.paper import markdown
from benchmarks.paper.cell import Cell, grid
from benchmarks.paper.datasets import Biclusters
from benchmarks.paper.experiments.base import Experiment, Request
from benchmarks.paper.methods import METHODS
from benchmarks.paper.published import FIG3_NOISE50

NOISES = (10, 20, 30, 40, 50)
# The matrices as they are, and with columns of mean 0 and variance 1.
SCALINGS = {"as they are": False, "z-scored columns": True}
SOURCES = [Biclusters(noise, zscored=z) for z in SCALINGS.values() for noise in NOISES]
SETS = [source.name for source in SOURCES]
# The largest noise only: the paper prints no other numbers.
QUICK = [Biclusters(noise) for noise in NOISES[::2]] + [Biclusters(NOISES[-1], zscored=True)]
LINE_UP = (
    "rocco_paper",
    "rocco",
    "auto_km",
    "hdbscan",
    "rcc",
    "auto_scc",
    "auto_sbc",
    "cobra",
    "cobra_r",
    "cn_x",
    "rcc_refined",
    "leiden",
)


def cells(request: Request) -> list[Cell]:
    sources = QUICK if request.quick else SOURCES
    if request.datasets:
        sources = [source for source in sources if source.name in request.datasets]
    methods = request.pick_methods(LINE_UP)
    return list(grid(sources, methods, request.pick_seeds(30, 2), columns=True))


def report(frame: pd.DataFrame, folder: Path, quick: bool) -> None:
    methods = markdown.ordered(frame["method"], LINE_UP)
    made = markdown.command("fig3", frame, LINE_UP, SETS, quick)
    parts = [
        "# Fig. 3: noise",
        markdown.caution(quick),
        f"`{made}` generates this page, `fig3.csv` and `fig3.png`. Planted biclusters "
        "(`make_biclusters`, 100 x 100, five biclusters), a new matrix for every seed. "
        f"Seeds per cell: {markdown.seeds(frame)}. Mean ± standard deviation over seeds. "
        "The paper plots curves and prints only two numbers, both at noise 50.",
    ]
    for words, zscored in SCALINGS.items():
        for side in ("row", "column"):
            for metric in ("ari", "ami", "nmi"):
                parts += [
                    f"## {metric.upper()} of {side}s, matrices {words}",
                    _table(frame, methods, side, metric, zscored),
                ]
    parts += ["## Seconds per fit", _seconds(frame, methods)]
    parts += [markdown.failures(frame), markdown.provenance(frame)]
    markdown.write(folder / "fig3.md", parts)
    _draw(frame, methods).savefig(folder / "fig3.png", dpi=150)


def _part(frame: pd.DataFrame, method: str, noise: int, zscored: bool = False) -> pd.DataFrame:
    name = Biclusters(noise, zscored=zscored).name
    return frame[(frame["method"] == method) & (frame["dataset"] == name)]


def _table(frame: pd.DataFrame, methods: list[str], side: str, metric: str, zscored: bool) -> str:
    rows = []
    for method in methods:
        parts = [_part(frame, method, noise, zscored) for noise in NOISES]
        values = [markdown.spread(part[f"{side}_{metric}"]) for part in parts]
        rows.append([method, *values, *_printed(method, metric)])
    printed = ["paper, noise 50"] if metric == "ari" else []
    return markdown.table(["method", *(f"noise {n}" for n in NOISES), *printed], rows)


def _printed(method: str, metric: str) -> list[str]:
    if metric != "ari":
        return []
    known = METHODS[method].paper_name if method in METHODS else None
    value = FIG3_NOISE50.get(known or "")
    return ["-" if value is None else f"{value:.2f}"]


def _seconds(frame: pd.DataFrame, methods: list[str]) -> str:
    rows = [
        [method, *(markdown.spread(_part(frame, method, n)["seconds"], 2) for n in NOISES)]
        for method in methods
    ]
    return markdown.table(["method", *(f"noise {n}" for n in NOISES)], rows)


def _draw(frame: pd.DataFrame, methods: list[str]) -> Figure:
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    shown = [(words, side) for words in SCALINGS for side in ("row", "column")]
    for axes, (words, side) in zip(panels, shown, strict=True):
        for index, method in enumerate(methods):
            parts = [_part(frame, method, noise, SCALINGS[words]) for noise in NOISES]
            values = [part[f"{side}_ari"] for part in parts]
            mean = [v.mean() for v in values]
            error = [v.std(ddof=1) / max(v.count(), 1) ** 0.5 for v in values]
            style = "-" if index < 10 else "--"
            axes.errorbar(
                NOISES, mean, error, label=method, capsize=2, ls=style, color=f"C{index}"
            )
        for name, value in FIG3_NOISE50.items():
            axes.plot(50, value, "k*")
            axes.annotate(
                f"paper: {name}",
                (50, value),
                (-6, 4),
                textcoords="offset points",
                ha="right",
                fontsize=8,
            )
        axes.set(xlabel="noise", title=f"{side}s, matrices {words}", xticks=NOISES)
    figure.supylabel("adjusted Rand index, mean and standard error")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


EXPERIMENT = Experiment("fig3", "agreement against noise", cells, report)
