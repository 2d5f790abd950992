"""Fig. 5: seconds against the number of rows, for ROCCO's stages and for all methods."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.paper import markdown
from benchmarks.paper.cell import Cell, grid
from benchmarks.paper.datasets import Biclusters
from benchmarks.paper.experiments.base import Experiment, Request

SIZES = tuple(range(10_000, 100_001, 10_000))
QUICK_SIZES = (1_000, 2_000, 4_000)
STAGES = ("graph", "representation", "assignment")
ROCCOS = ("rocco_paper", "rocco")
LINE_UP = (
    "rocco_paper",
    "rocco",
    "km",
    "scc",
    "sbc",
    "auto_km",
    "auto_scc",
    "auto_sbc",
    "hdbscan",
    "rcc",
    "cobra",
    "cobra_r",
    "cn_x",
)


def _blocks(n_rows: int) -> Biclusters:
    return Biclusters(10, (n_rows, 100))


SETS = [_blocks(n).name for n in SIZES]


def cells(request: Request) -> list[Cell]:
    sources = [_blocks(n) for n in (QUICK_SIZES if request.quick else SIZES)]
    if request.datasets:
        sources = [source for source in sources if source.name in request.datasets]
    planned = list(
        grid(sources, request.pick_methods(LINE_UP), request.pick_seeds(1, 1), columns=True)
    )
    return _chained(planned)


def _chained(planned: list[Cell]) -> list[Cell]:
    """Link the cells of a method, so that larger sizes are not tried after a time-out."""
    before: dict[tuple[str, int], Cell] = {}
    chained = []
    for cell in planned:
        smaller = before.get((cell.method.name, cell.seed))
        chained.append(replace(cell, after=smaller.key if smaller else None))
        before[cell.method.name, cell.seed] = cell
    return chained


def with_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the number of rows, parsed from the name of the data set."""
    return frame.assign(rows=frame["dataset"].str.extract(r"^(\d+)x", expand=False).astype(int))


def report(frame: pd.DataFrame, folder: Path, quick: bool) -> None:
    frame = with_rows(frame)
    methods = markdown.ordered(frame["method"], LINE_UP)
    made = markdown.command("fig5", frame, LINE_UP, SETS, quick)
    parts = [
        "# Fig. 5: run time",
        markdown.caution(quick),
        f"`{made}` generates this page, `fig5.csv` and `fig5.png`. Planted biclusters at noise "
        "10, 100 columns; both sides are clustered. Seconds of the fit alone, without "
        f"compilation. Seeds per cell: {markdown.seeds(frame)}. Slope: of log seconds against log "
        "rows, over the larger half of the sizes; 1 is linear. The paper prints no numbers.",
        "## Seconds by method",
        seconds_table(frame),
        "## Seconds of ROCCO's stages",
        _stage_table(frame),
        "## ARI of rows",
        _agreement(frame, methods),
        markdown.failures(frame),
        markdown.provenance(frame),
    ]
    markdown.write(folder / "fig5.md", parts)
    _draw(frame, methods).savefig(folder / "fig5.png", dpi=150)


def _sizes(frame: pd.DataFrame) -> list[int]:
    return sorted(frame["rows"].unique())


def _by_size(frame: pd.DataFrame, column: str) -> pd.Series:
    return frame[frame["status"] == "ok"].groupby("rows")[column].mean()


def slope(seconds: pd.Series) -> str:
    """Slope of log seconds against log rows, over the larger half of the sizes."""
    seconds = seconds.dropna()
    large = seconds[seconds > 0].iloc[len(seconds) // 2 :]
    if len(large) < 2:
        return "-"
    fit = np.polyfit(np.log(large.index.to_numpy(float)), np.log(large.to_numpy(float)), 1)
    return f"{fit[0]:.2f}"


def seconds_table(frame: pd.DataFrame) -> str:
    sizes = _sizes(frame)
    rows = []
    for method in markdown.ordered(frame["method"], LINE_UP):
        part = frame[frame["method"] == method]
        values = [markdown.spread(part[part["rows"] == n]["seconds"], 2) for n in sizes]
        rows.append([method, *values, slope(_by_size(part, "seconds"))])
    return markdown.table(["method", *map(str, sizes), "slope"], rows)


def _agreement(frame: pd.DataFrame, methods: Sequence[str]) -> str:
    sizes = _sizes(frame)
    rows = []
    for method in methods:
        part = frame[frame["method"] == method]
        scores = [markdown.spread(part[part["rows"] == n]["row_ari"]) for n in sizes]
        rows.append([method, *scores])
    return markdown.table(["method", *map(str, sizes)], rows)


def _stages(frame: pd.DataFrame, method: str) -> pd.DataFrame:
    """Seconds of each stage, one row per size."""
    part = frame[(frame["method"] == method) & (frame["stages"] != "")]
    if part.empty:
        return pd.DataFrame(columns=list(STAGES))
    seconds = pd.DataFrame([json.loads(text) for text in part["stages"]])
    return seconds.reindex(columns=list(STAGES)).groupby(part["rows"].to_numpy()).mean()


def _stage_table(frame: pd.DataFrame) -> str:
    sizes = _sizes(frame)
    rows = []
    for method in ROCCOS:
        stages = _stages(frame, method)
        for stage in STAGES:
            values = [_two_digits(stages[stage].get(n)) for n in sizes]
            rows.append([method, stage, *values, slope(stages[stage])])
    return markdown.table(["method", "stage", *map(str, sizes), "slope"], rows)


def _two_digits(seconds: float | None) -> str:
    """Seconds as a text; "-" for a stage that the fit did not have."""
    return "-" if seconds is None or np.isnan(seconds) else f"{seconds:.2f}"


def _draw(frame: pd.DataFrame, methods: Sequence[str]) -> Figure:
    figure = Figure(figsize=(14, 4.2), layout="constrained")
    *left, right = figure.subplots(1, len(ROCCOS) + 1)
    for axes, method in zip(left, ROCCOS, strict=True):
        for stage, values in _stages(frame, method).items():
            axes.plot(values.index, values, "o-", label=stage)
        _dress(axes, f"stages of {method}")
        axes.legend(fontsize=7)
    for index, method in enumerate(methods):
        values = _by_size(frame[frame["method"] == method], "seconds")
        style = "o-" if index < 10 else "s--"
        right.plot(values.index, values, style, color=f"C{index % 10}", label=method, ms=4)
    right.set(xscale="log", yscale="log")
    _dress(right, "all methods")
    # Outside the panel, which the curves fill. Methods that never finished have no curve.
    right.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _dress(axes: Axes, title: str) -> None:
    axes.set(xlabel="rows", ylabel="seconds", title=title)


EXPERIMENT = Experiment("fig5", "run time against rows", cells, report)
