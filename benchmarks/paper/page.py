"""The tables of the documentation pages, generated from the results.

The text between ``<!-- name -->`` and ``<!-- end -->`` of a page is generated; the rest is prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.paper import markdown, published
from benchmarks.paper.experiments import ablation, fig3, fig4, fig5, robustness
from benchmarks.paper.experiments.real_table import EXACT, RealTable, few_seeds
from benchmarks.paper.experiments.table1 import TABLE as TABLE1
from benchmarks.paper.experiments.table2 import TABLE as TABLE2
from benchmarks.paper.methods import METHODS
from benchmarks.paper.ranks import average_ranks, means, ranked_sets
from benchmarks.paper.scores import PRINTED
from benchmarks.paper.store import Store

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "reproduction.md"
ROBUSTNESS_PAGE = DOCS / "robustness.md"
LABELS_PAGE = DOCS / "labels.md"
_BLOCK = re.compile(r"(<!-- (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
Tables = Callable[[Path], dict[str, str]]


def refresh_all(results: Path) -> None:
    """Update the generated tables of all pages; prose is left unchanged."""
    for page, make in PAGES.items():
        if page.exists():
            text = page.read_text(encoding="utf-8")
            page.write_text(filled(text, results, make), encoding="utf-8")


def filled(text: str, results: Path, make: Tables) -> str:
    made = make(results)

    def fill(block: re.Match[str]) -> str:
        return f"{block[1]}{made[block['name']]}\n{block[3]}"

    return _BLOCK.sub(fill, text)


def robustness_tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the robustness page by name."""
    frame = Store(results / "robustness.csv").read()
    return {
        "ranks": robustness.rank_table(frame),
        "unknown": robustness.score_table(frame, robustness.UNKNOWN, "row_ari"),
        "given": robustness.score_table(frame, robustness.GIVEN, "row_ari"),
        "one": robustness.one_table(frame),
        "missing": robustness.missing_table(frame, robustness.UNKNOWN, "row_ari"),
        "missing-given": robustness.missing_table(frame, robustness.GIVEN, "row_ari"),
        "controls": robustness.control_table(frame),
    }


def labels_tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the page about labels by name."""
    return ablation.page_tables(Store(results / "ablation.csv").read())


def tables(results: Path) -> dict[str, str]:
    """Return the generated parts of the reproduction page by name."""

    def read(name: str) -> pd.DataFrame:
        return Store(results / f"{name}.csv").read()

    made: dict[str, str] = {}
    for table in (TABLE1, TABLE2):
        frame = read(table.name)
        made[f"{table.name}-ranks"] = _ranks(table, frame)
        for metric, printed in PRINTED.items():
            made[f"{table.name}-{printed}"] = _scores(table, frame, metric)
    made["fig3"] = _fig3(read("fig3"))
    made["fig4"] = _made(fig4.metric_table, read("fig4"), fig4.LINE_UP, fig4.SETS)
    made["fig4-neighbors"] = _made(fig4.neighbor_table, read("fig4"), fig4.LINE_UP, fig4.SETS)
    made["fig5"] = _fig5(read("fig5"))
    made["machines"] = _machines({name: read(name) for name in ("table1", "table2", "fig3",
                                                               "fig4", "fig5")})  # fmt: skip
    return made


def _papers(table: RealTable, frame: pd.DataFrame) -> list[str]:
    known = [name for name in table.line_up if METHODS[name].paper_name]
    return [name for name in known if name in set(frame["method"])]


def _scores(table: RealTable, frame: pd.DataFrame, metric: str) -> str:
    """Printed and measured scores, one column per data set."""
    rows = []
    for method in _papers(table, frame):
        cells = [_pair(table, frame, method, name, metric) for name in published.SETS]
        rows.append([method, *cells])
    names = [name if name in EXACT else f"{name}*" for name in published.SETS]
    made = markdown.table(["printed / measured", *names], rows)
    return "\n\n".join(part for part in (made, few_seeds(frame)) if part)


def _pair(table: RealTable, frame: pd.DataFrame, method: str, name: str, metric: str) -> str:
    printed = published.score(table.printed, METHODS[method].paper_name, name, PRINTED[metric])
    part = frame[(frame["method"] == method) & (frame["dataset"] == name)]
    values = part[f"row_{metric}"].dropna()
    return f"{printed:.3f} / {f'{values.mean():.3f}' if len(values) else _missing(part)}"


def _missing(part: pd.DataFrame) -> str:
    found = set(part["status"])
    if not found:
        return "not computed"
    return "out of time" if "timeout" in found else "failed"


def _ranks(table: RealTable, frame: pd.DataFrame) -> str:
    """Printed and measured average ranks among the paper's methods.

    Each ROCCO is ranked over the sets on which all methods were tried; the ranks of the
    other methods are those of the comparison with the first ROCCO.
    """
    papers = _papers(table, frame)
    found: dict[str, list[float]] = {}
    notes = []
    for name in table.stand_ins:
        line_up = [method for method in papers if method == name or method not in table.stand_ins]
        sets = ranked_sets(frame, [*_partners(table), name])
        notes.append(f"{name}: over {len(sets)} of {len(published.SETS)} sets.")
        for metric in PRINTED if sets else ():
            values = means(frame, f"row_{metric}").reindex(columns=sets)
            for method, rank in average_ranks(values, line_up).items():
                ranks = found.setdefault(str(method), [])
                ranks += [float(rank)] if len(ranks) < len(PRINTED) else []
    rows = []
    for method in papers:
        printed = table.printed_ranks[METHODS[method].paper_name or ""]
        ours = found.get(method, [np.nan] * len(PRINTED))
        pairs = zip(printed, ours, strict=True)
        rows.append([method, *(f"{rank:.2f}" for pair in pairs for rank in pair)])
    head = ["method", "NMI, printed", "NMI, measured", "AMI, printed", "AMI, measured"]
    return f"{markdown.table(head, rows)}\n\n{' '.join(notes)}".replace("nan", "-")


def _partners(table: RealTable) -> list[str]:
    """Methods of the paper other than ROCCO."""
    named = [name for name in table.line_up if METHODS[name].paper_name]
    return [name for name in named if name not in table.stand_ins]


def _fig3(frame: pd.DataFrame) -> str:
    rows = []
    for method in markdown.ordered(frame["method"], fig3.LINE_UP):
        part = frame[frame["method"] == method]
        for side in ("row", "column"):
            values = [
                markdown.spread(part[part["dataset"] == name][f"{side}_ari"]) for name in fig3.SETS
            ]
            printed = published.FIG3_NOISE50.get(METHODS[method].paper_name or "")
            rows.append(
                [method, f"{side}s", *values, "-" if printed is None else f"{printed:.2f}"]
            )
    noises = [f"noise {noise}" for noise in fig3.NOISES]
    return markdown.table(["method", "side", *noises, "printed, noise 50"], rows)


def _fig5(frame: pd.DataFrame) -> str:
    if frame.empty:
        return "Not computed."
    return fig5.seconds_table(fig5.with_rows(frame))


def _made(
    make: Callable[..., str], frame: pd.DataFrame, line_up: Sequence[str], sets: Sequence[str]
) -> str:
    methods = markdown.ordered(frame["method"], line_up)
    return make(frame, methods, sets) if methods else "Not computed."


def _machines(frames: dict[str, pd.DataFrame]) -> str:
    """Machine and dates of every experiment."""
    rows = []
    for name, frame in frames.items():
        for machine, part in frame.groupby("machine"):
            days = sorted(part["date"].unique())
            span = " to ".join(dict.fromkeys([days[0], days[-1]]))
            counts = part["status"].value_counts()
            rows.append([name, str(machine) or "not recorded", span, *_counted(counts)])
    head = ["experiment", "machine", "date", "cells with labels", "out of time", "failed"]
    return markdown.table(head, rows)


def _counted(counts: pd.Series) -> list[str]:
    missing = counts.get("failed", 0) + counts.get("skipped", 0)
    return [str(counts.get("ok", 0)), str(counts.get("timeout", 0)), str(missing)]


PAGES: dict[Path, Tables] = {
    PAGE: tables,
    ROBUSTNESS_PAGE: robustness_tables,
    LABELS_PAGE: labels_tables,
}
