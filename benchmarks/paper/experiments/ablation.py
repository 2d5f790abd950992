"""What makes the labels good: the default with each step left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.paper import markdown
from benchmarks.paper.cell import Cell, grid
from benchmarks.paper.datasets import Biclusters, Half, Real
from benchmarks.paper.datasets.clouds import Clouds
from benchmarks.paper.experiments.base import Experiment, Request
from pyrocco.datasets import REAL_SETS

LINE_UP = ("rocco", "no_parts", "no_uniting", "no_consensus", "no_blocks", "no_robust")
NOISES = (30, 50, 70)
# Genes as z-scores, the default of the loader; the paper's tables scale them to [0, 1].
WHOLE = [Real(name if Real(name).kind == "text" else f"{name}:zscore") for name in REAL_SETS]
HALVES = [Half(whole) for whole in WHOLE]
NOISY = [Biclusters(noise) for noise in NOISES]
CLOUDS = [Clouds((400, 40, 40, 20), 20), Clouds((300, 30), 30), Clouds((60, 60, 60, 60, 60), 20)]
SEEDS, NOISE_SEEDS, CLOUD_SEEDS = 5, 30, 10


def cells(request: Request) -> list[Cell]:
    methods = request.pick_methods(LINE_UP)
    real = [*WHOLE, *HALVES]
    noisy: Sequence[Biclusters] = NOISY
    clouds: Sequence[Clouds] = CLOUDS
    if request.quick:
        real = [source for source in WHOLE if "glioma" in source.name]
        noisy, clouds = NOISY[:1], CLOUDS[:1]
    if request.datasets:
        real = [source for source in real if source.name in request.datasets]
        noisy = [source for source in noisy if source.name in request.datasets]
        clouds = [source for source in clouds if source.name in request.datasets]
    return [
        *grid(real, methods, request.pick_seeds(SEEDS, 1)),
        *grid(noisy, methods, request.pick_seeds(NOISE_SEEDS, 2), columns=True),
        *grid(clouds, methods, request.pick_seeds(CLOUD_SEEDS, 2)),
    ]


def report(frame: pd.DataFrame, folder: Path, quick: bool) -> None:
    methods = markdown.ordered(frame["method"], LINE_UP)
    names = [source.name for source in (*WHOLE, *HALVES, *NOISY, *CLOUDS)]
    made = markdown.command("ablation", frame, LINE_UP, names, quick)
    parts = [
        "# What makes the labels good",
        markdown.caution(quick),
        f"`{made}` generates this page, `ablation.csv` and `ablation.png`. The default with each "
        "step left out in turn. Numbers of clusters unknown. AMI of rows on the real "
        "sets (genes as z-scores) and on random halves of their rows, ARI of rows under noise "
        "and on normal clouds; mean ± standard deviation over seeds.",
        "## Real sets",
        _table(frame, WHOLE, "row_ami"),
        "## Random halves of their rows",
        _table(frame, HALVES, "row_ami"),
        "## Planted biclusters, ARI of rows",
        _table(frame, NOISY, "row_ari"),
        "## Planted biclusters, ARI of columns",
        _table(frame, NOISY, "column_ari"),
        "## Clouds of the sizes in their names, ARI of rows",
        _table(frame, CLOUDS, "row_ari"),
        "## The default minus each of the others",
        "Mean ± standard error of the differences on the same matrix (on the sets and halves over "
        "sets, after averaging over seeds; under noise and on clouds over matrices).",
        _differences(frame, methods),
        markdown.failures(frame),
        markdown.provenance(frame),
    ]
    markdown.write(folder / "ablation.md", parts)
    _draw(frame, methods).savefig(folder / "ablation.png", dpi=150)


def page_tables(frame: pd.DataFrame) -> dict[str, str]:
    """The generated parts of the page about labels."""
    return {
        "sets": _table(frame, WHOLE, "row_ami"),
        "halves": _table(frame, HALVES, "row_ami"),
        "noise": _table(frame, NOISY, "row_ari"),
        "clouds": _table(frame, CLOUDS, "row_ari"),
        "differences": _differences(frame, markdown.ordered(frame["method"], LINE_UP)),
    }


def _table(frame: pd.DataFrame, sources: Sequence, column: str) -> str:
    methods = markdown.ordered(frame["method"], LINE_UP)
    present = [source.name for source in sources if (frame["dataset"] == source.name).any()]
    rows = []
    for method in methods:
        part = frame[frame["method"] == method]
        values = [part[part["dataset"] == name][column].dropna() for name in present]
        means = [v.mean() for v in values if len(v)]
        whole = len(means) == len(present) > 0
        cells = [markdown.spread(v) if len(v) else "not computed" for v in values]
        rows.append([method, *cells, f"{np.mean(means):.3f}" if whole else "-"])
    heads = [name.removeprefix("half of ").removesuffix(":zscore") for name in present]
    return markdown.table(["method", *heads, "mean"], rows)


def _differences(frame: pd.DataFrame, methods: list[str]) -> str:
    families = (
        ("real sets", WHOLE, "row_ami", ["dataset"]),
        ("halves", HALVES, "row_ami", ["dataset"]),
        *((f"noise {s.noise:g}", [s], "row_ari", ["dataset", "seed"]) for s in NOISY),
        ("clouds", CLOUDS, "row_ari", ["dataset", "seed"]),
    )
    rows = []
    for method in methods[1:]:
        cells = []
        for _, sources, column, unit in families:
            some = frame[frame["dataset"].isin([source.name for source in sources])]
            table = some.pivot_table(column, unit, "method", "mean")
            known = {methods[0], method} <= set(table.columns)
            difference = (
                (table[methods[0]] - table[method]).dropna() if known else pd.Series(dtype=float)
            )
            error = difference.std(ddof=1) / max(len(difference), 1) ** 0.5
            cells.append(f"{difference.mean():+.3f} ± {error:.3f}" if len(difference) > 1 else "-")
        rows.append([method, *cells])
    return markdown.table(["rocco minus", *(name for name, *_ in families)], rows)


def _draw(frame: pd.DataFrame, methods: list[str]) -> Figure:
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots()
    families = (("real sets", WHOLE, "row_ami"), ("halves", HALVES, "row_ami"),
              *((f"noise {s.noise:g}", [s], "row_ari") for s in NOISY),
              ("clouds", CLOUDS, "row_ari"))  # fmt: skip
    for place, method in enumerate(methods):
        part = frame[frame["method"] == method]
        heights = []
        for _, sources, column in families:
            known = [s.name for s in sources if (frame["dataset"] == s.name).any()]
            means = [part[part["dataset"] == name][column].mean() for name in known]
            # No bar if some sets are missing: the mean would not be comparable.
            heights.append(np.mean(means) if known else np.nan)
        x = np.arange(len(families)) + 0.8 * (place / len(methods) - 0.4)
        axes.bar(x, heights, 0.8 / len(methods), label=method, color=f"C{place}")
    axes.set(
        xticks=range(len(families)),
        xticklabels=[name for name, *_ in families],
        ylabel="AMI of rows (sets), ARI of rows (noise, clouds)",
    )
    figure.legend(loc="outside right upper")
    return figure


EXPERIMENT = Experiment("ablation", "each step left out", cells, report)
