"""Robustness: outlier cells, unusual rows and columns, difficult clusters, and no clusters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.paper import markdown
from benchmarks.paper.cell import Cell, grid
from benchmarks.paper.datasets.cases import (
    CLEAN,
    GRADIENTS,
    MISSING,
    MISSING_SETS,
    NOTHING,
    PERCENTS,
    PLANTED,
    SETS,
    UNKNOWN_ONLY,
)
from benchmarks.paper.datasets.contaminated import Outliers
from benchmarks.paper.datasets.nothing import PureNoise
from benchmarks.paper.experiments.base import Experiment, Request
from benchmarks.paper.methods import METHODS
from benchmarks.paper.ranks import average_ranks

FIRST_SEED, SEEDS, NOTHING_SEEDS = 1000, 5, 20

UNKNOWN = ("rocco", "rocco_paper", "auto_km", "auto_scc", "hdbscan", "rcc", "cn_x", "trim_cn_x",
           "auto_sbc")  # fmt: skip
GIVEN = ("rocco+km", "rocco_paper+km", "km", "scc", "sbc", "rcc+km", "cn_x+km", "trim_cn_x+km")
LINE_UP = (*GIVEN, *UNKNOWN)
# These methods choose among 2 to 20 clusters, so they cannot find one: one seed is enough.
NEVER_ONE = frozenset({"auto_km", "auto_scc", "auto_sbc"})
CONTROLS = (
    ("rocco", "cn_x"),
    ("rocco", "trim_cn_x"),
    ("rocco+km", "cn_x+km"),
    ("rocco+km", "trim_cn_x+km"),
)
QUICK = ("moderate-10%-noise50", "student-scale40", "pure-noise")
ALL_GRADIENTS = "gradients"
MISSING_NOTE = (
    "Values are missing at random. `rocco` and `rocco+km` get the matrix as it is; the others do "
    "not accept missing values and get the mean of the column instead."
)


def cells(request: Request) -> list[Cell]:
    wanted = request.datasets or (QUICK if request.quick else SETS)
    seeds = range(FIRST_SEED, FIRST_SEED + (request.seeds or (1 if request.quick else SEEDS)))
    many = seeds if request.quick else range(FIRST_SEED, FIRST_SEED + NOTHING_SEEDS)
    methods = request.pick_methods(LINE_UP)
    planned: list[Cell] = []
    for method in methods:
        planted = (CLEAN, *PLANTED, *MISSING)
        if method.name not in GIVEN:
            planted += UNKNOWN_ONLY
            least = seeds[:1] if method.name in NEVER_ONE else None
            planned += grid([PureNoise()], [method], least or many, columns=True)
            planned += grid(GRADIENTS, [method], least or seeds, columns=True)
        planned += grid(planted, [method], seeds, columns=True)
    return [cell for cell in planned if cell.source.name in wanted]


def report(frame: pd.DataFrame, folder: Path, quick: bool) -> None:
    # Pure noise has more seeds, whatever the command says.
    as_told = frame[(frame["dataset"] != "pure-noise") | (frame["seed"] == str(FIRST_SEED))]
    made = markdown.command("robustness", as_told, LINE_UP, SETS, quick, FIRST_SEED)
    parts = [
        "# Robustness",
        markdown.caution(quick),
        f"`{made}` generates this page, `robustness.csv` and `robustness.png`. "
        "[What the cases are](../../../docs/robustness.md). A new matrix for every seed, the "
        "same for all methods. Mean ± standard deviation over seeds; the best of a row is bold.",
        "## Average rank, K unknown",
        rank_table(frame),
        "## No clusters: how often one row cluster and one column cluster were found",
        one_table(frame),
    ]
    for title, line_up in (("K unknown", UNKNOWN), ("K given", GIVEN)):
        for side in ("row", "column"):
            parts += [f"## ARI of {side}s, {title}", score_table(frame, line_up, f"{side}_ari")]
    for title, line_up in (("K unknown", UNKNOWN), ("K given", GIVEN)):
        for side in ("row", "column"):
            parts += [f"## Missing values: ARI of {side}s, {title}", MISSING_NOTE]
            parts += [missing_table(frame, line_up, f"{side}_ari")]
    parts += [
        "## The default minus the controls",
        "Differences in ARI of rows on the same matrix: mean ± standard error over seeds.",
        control_table(frame),
    ]
    parts += ["## AMI of rows, K unknown", score_table(frame, UNKNOWN, "row_ami")]
    parts += ["## Row clusters found, K unknown", _plain(frame, UNKNOWN, "row_clusters", 1)]
    parts += ["## Seconds", _plain(frame, LINE_UP, "seconds", 2)]
    parts += [markdown.failures(frame), markdown.warned(frame), markdown.provenance(frame)]
    markdown.write(folder / "robustness.md", parts)
    _draw(frame).savefig(folder / "robustness.png", dpi=150)


def score_table(frame: pd.DataFrame, line_up: Sequence[str], column: str) -> str:
    """Scores of the cases with planted clusters: one row per case, one column per method."""
    methods = _present(frame, line_up)
    names = markdown.ordered(_planted(frame, methods)["dataset"], SETS)
    rows = _score_rows(frame, methods, names, column)
    everything = _planted(frame, methods).pivot_table(
        index="dataset", columns="method", values=column, dropna=False
    )
    # The mean is over contaminated matrices only.
    everything = everything.drop(CLEAN.name, errors="ignore")
    rows.append(["mean, clean left out", *(_number(everything[m].mean()) for m in methods)])
    return markdown.table(["case", *methods], rows)


def missing_table(frame: pd.DataFrame, line_up: Sequence[str], column: str) -> str:
    """Scores by share of missing values: one row per share, one column per method."""
    part = frame[frame["dataset"].isin(MISSING_SETS)]
    methods = _present(part, line_up)
    names = markdown.ordered(part["dataset"], SETS)
    return markdown.table(["case", *methods], _score_rows(part, methods, names, column))


def _score_rows(
    frame: pd.DataFrame, methods: Sequence[str], names: Sequence[str], column: str
) -> list[list[str]]:
    rows = []
    for name in names:
        parts = [_part(frame, method, name)[column] for method in methods]
        best = max((part.mean() for part in parts if part.notna().any()), default=None)
        rows.append([name, *(_bold(part, best) for part in parts)])
    return rows


def one_table(frame: pd.DataFrame) -> str:
    """Number of correct answers on matrices without clusters, one column per method."""
    methods = _present(frame, UNKNOWN)
    right = _right(frame)
    rows = [
        [name, *(_count(_part(right, method, name)["right"]) for method in methods)]
        for name in markdown.ordered(right["dataset"], SETS)
    ]
    every = right[right["dataset"] != "pure-noise"]
    entries = [_count(every[every["method"] == method]["right"]) for method in methods]
    rows.append(["all gradients", *entries])
    return markdown.table(["matrix", *methods], rows)


def rank_table(frame: pd.DataFrame) -> str:
    """Ranks by AMI of rows, over all cases and over those with clusters; 1 is the best."""
    scores = case_scores(frame)
    planted = scores.drop(columns=["pure-noise", ALL_GRADIENTS], errors="ignore")
    ranks = [average_ranks(part, list(scores.index)) for part in (scores, planted)]
    rows = [
        [method, f"{ranks[0][method]:.2f}", f"{ranks[1][method]:.2f}",
         _number(scores.loc[method].mean()), _number(planted.loc[method].mean())]
        for method in ranks[0].sort_values().index
    ]  # fmt: skip
    counts = scores.shape[1], planted.shape[1]
    head = ["method", f"rank, all {counts[0]} cases", f"rank, {counts[1]} with clusters",
            "mean AMI of rows, all", "with clusters"]  # fmt: skip
    return markdown.table(head, rows)


def control_table(frame: pd.DataFrame) -> str:
    """ARI of rows of the default minus that of a control on the same matrices."""
    rows = []
    for name in markdown.ordered(_planted(frame, UNKNOWN)["dataset"], SETS):
        entries = [_difference(frame, ours, control, name) for ours, control in CONTROLS]
        rows.append([name, *entries])
    head = [f"{ours} minus {control}" for ours, control in CONTROLS]
    return markdown.table(["case", *head], rows)


def _difference(frame: pd.DataFrame, ours: str, control: str, name: str) -> str:
    """Mean and standard error over the matrices labelled by both."""
    first, second = (_part(frame, m, name).set_index("seed")["row_ari"] for m in (ours, control))
    differences = (first - second).dropna()
    if len(differences) < 2:
        return "-"
    error = differences.std(ddof=1) / len(differences) ** 0.5
    return f"{differences.mean():+.2f} ± {error:.2f}"


def case_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """AMI of rows, or the share of correct answers if there are no clusters; one row per method.

    All gradients together are one case. A method without labels has no score in that case.
    """
    methods = _present(frame, UNKNOWN)
    planted = _planted(frame, methods)
    planted = planted[planted["dataset"] != CLEAN.name].assign(score=planted["row_ami"])
    right = _right(frame).assign(score=lambda part: part["right"])
    right["dataset"] = right["dataset"].where(right["dataset"] == "pure-noise", ALL_GRADIENTS)
    both = pd.concat([planted, right[right["method"].isin(methods)]])
    return both.pivot_table(
        index="method", columns="dataset", values="score", dropna=False
    ).reindex(methods)


def _right(frame: pd.DataFrame) -> pd.DataFrame:
    """Matrices without clusters, and whether one cluster per side was found."""
    part = frame[frame["dataset"].isin([source.name for source in NOTHING])].copy()
    one = (part["row_clusters"] == 1) & (part["column_clusters"] == 1)
    part["right"] = one.where(part["status"] == "ok").astype(float)
    return part


def _planted(frame: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    without = [*(source.name for source in NOTHING), *MISSING_SETS]
    return frame[frame["method"].isin(methods) & ~frame["dataset"].isin(without)]


def _present(frame: pd.DataFrame, line_up: Sequence[str]) -> list[str]:
    found = set(frame["method"])
    return [name for name in line_up if name in found and name in METHODS]


def _part(frame: pd.DataFrame, method: str, name: str) -> pd.DataFrame:
    return frame[(frame["method"] == method) & (frame["dataset"] == name)]


def _bold(values: pd.Series, best: float | None) -> str:
    text = markdown.spread(values, 2)
    return f"**{text}**" if best is not None and values.mean() > best - 0.005 else text


def _count(right: pd.Series) -> str:
    right = right.dropna()
    return f"{int(right.sum())} of {len(right)}" if len(right) else "-"


def _number(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:.2f}"


def _plain(frame: pd.DataFrame, line_up: Sequence[str], column: str, digits: int) -> str:
    methods = _present(frame, line_up)
    rows = [
        [name, *(markdown.spread(_part(frame, m, name)[column], digits) for m in methods)]
        for name in markdown.ordered(frame["dataset"], SETS)
    ]
    return markdown.table(["case", *methods], rows)


def _draw(frame: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(13, 8), layout="constrained")
    axes = figure.subplots(2, 2, width_ratios=[1, 1])
    for place, size in zip(axes[:, 0], ("moderate", "gross"), strict=True):
        _draw_outliers(place, frame, size)
    for place, (title, line_up) in zip(
        axes[:, 1],
        (("other cases, K unknown", UNKNOWN), ("other cases, K given", GIVEN)),
        strict=True,
    ):
        _draw_others(place, frame, line_up, title)
    return figure


def _draw_outliers(axes: Axes, frame: pd.DataFrame, size: str) -> None:
    names = [CLEAN.name, *(Outliers(size, percent, 50).name for percent in PERCENTS)]
    for index, method in enumerate(_present(frame, UNKNOWN)):
        values = [_part(frame, method, name)["row_ari"] for name in names]
        axes.errorbar(
            (0, *PERCENTS),
            [v.mean() for v in values],
            [v.std(ddof=1) / max(v.count(), 1) ** 0.5 for v in values],
            fmt=f"{'os^D'[index % 4]}-", capsize=2, color=f"C{index}", label=method, ms=5,
        )  # fmt: skip
    axes.set(
        xlabel="outlier cells, %",
        ylabel="ARI of rows, mean and standard error",
        title=f"{size} outliers, noise 50, K unknown",
        ylim=(-0.05, 1.05),
    )


def _draw_others(axes: Axes, frame: pd.DataFrame, line_up: Sequence[str], title: str) -> None:
    methods = _present(frame, line_up)
    names = [n for n in markdown.ordered(_planted(frame, methods)["dataset"], SETS)
             if "%" not in n and n != CLEAN.name]  # fmt: skip
    for index, method in enumerate(methods):
        shift = 0.7 * ((index + 0.5) / len(methods) - 0.5)
        scores = [_part(frame, method, name)["row_ari"].mean() for name in names]
        axes.plot(scores, [place + shift for place in range(len(names))],
                  "os^D"[index % 4], color=f"C{index}", label=method, ms=5)  # fmt: skip
    axes.set(yticks=range(len(names)), yticklabels=names, xlabel="ARI of rows", title=title)
    axes.set_xlim(-0.05, 1.05)
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))


EXPERIMENT = Experiment("robustness", "outlier cells and difficult clusters", cells, report)
