"""The tables of the documentation pages, generated from the results.

The text between ``<!-- name -->`` and ``<!-- end -->`` of a page is generated; the rest is prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from benchmarks.paper import markdown, published
from benchmarks.paper.datasets import Biclusters
from benchmarks.paper.experiments import ablation, fig3, readings, robustness
from benchmarks.paper.experiments.real_table import (
    PREPARATIONS,
    RealTable,
    few_seeds,
    starred,
)
from benchmarks.paper.experiments.table1 import TABLE as TABLE1
from benchmarks.paper.experiments.table2 import TABLE as TABLE2
from benchmarks.paper.methods import METHODS
from benchmarks.paper.ranks import average_ranks, means, ranked_sets
from benchmarks.paper.scores import PRINTED
from benchmarks.paper.store import Store
from benchmarks.paper.verdict_page import write_verdicts
from benchmarks.paper.verdicts import read_frames, rocco_cells, share, verdict_table

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "reproduction.md"
ROBUSTNESS_PAGE = DOCS / "robustness.md"
LABELS_PAGE = DOCS / "labels.md"
EXPERIMENTS_OF_PAGE = ("table1", "table2", "fig3", "fig4", "fig5", "readings")
_PREPARED = list(PREPARATIONS.values())
_BLOCK = re.compile(r"(<!-- (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
Tables = Callable[[Path], dict[str, str]]


def refresh_all(results: Path) -> None:
    """Update the verdicts and the generated tables of all pages; prose is left unchanged."""
    write_verdicts(results)
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

    frames, printed = read_frames(results), rocco_cells()
    made = {
        "verdicts": f"{verdict_table(printed, frames)}\n\n{share(printed, frames)}",
        "readings": readings.reading_table(read("readings")),
        "fig3": _fig3(frames["fig3"]),
        "machines": _machines({name: read(name) for name in EXPERIMENTS_OF_PAGE}),
    }
    for table in (TABLE1, TABLE2):
        frame = frames[table.name]
        made[f"{table.name}-ami"] = _scores(table, frame, "ami_max")
        made[f"{table.name}-ranks"] = _ranks(table, frame)
    return made


def _papers(table: RealTable, frame: pd.DataFrame) -> list[str]:
    known = [name for name in table.line_up if METHODS[name].paper_name]
    return [name for name in known if name in set(frame["method"])]


def _scores(table: RealTable, frame: pd.DataFrame, metric: str) -> str:
    """Printed and measured scores, one column per data set; text in both preparations."""
    rows = []
    for method in _papers(table, frame):
        cells = [_numbers(table, frame, method, name, metric) for name in published.SETS]
        rows.append([method, *cells])
    made = markdown.table(["", *map(starred, published.SETS)], rows)
    return "\n\n".join(part for part in (made, few_seeds(frame)) if part)


def _numbers(table: RealTable, frame: pd.DataFrame, method: str, name: str, metric: str) -> str:
    printed = published.score(table.printed, METHODS[method].paper_name, name, PRINTED[metric])
    found = [f"{printed:.3f}"]
    for dataset in dict.fromkeys(names[published.SETS.index(name)] for names in _PREPARED):
        part = frame[(frame["method"] == method) & (frame["dataset"] == dataset)]
        values = part[f"row_{metric}"].dropna()
        found.append(f"{values.mean():.3f}" if len(values) else _missing(part))
    return " / ".join(found)


def _missing(part: pd.DataFrame) -> str:
    found = set(part["status"])
    if not found:
        return "-"
    return "out of time" if "timeout" in found else "failed"


def _ranks(table: RealTable, frame: pd.DataFrame) -> str:
    """Printed average ranks among the paper's methods, and measured ones in both preparations."""
    papers = _papers(table, frame)
    columns: list[tuple[str, dict[str, str]]] = []
    for index, (metric, printed) in enumerate(PRINTED.items()):
        theirs = {
            method: f"{table.printed_ranks[METHODS[method].paper_name or ''][index]:.2f}"
            for method in papers
        }
        columns.append((f"{printed.upper()}, printed", theirs))
        for words, sets in PREPARATIONS.items():
            ours = _measured_ranks(table, frame, papers, sets, metric)
            columns.append((f"{printed.upper()}, text {words}", ours))
    rows = [[method, *(values.get(method, "-") for _, values in columns)] for method in papers]
    return markdown.table(["method", *(head for head, _ in columns)], rows)


def _measured_ranks(
    table: RealTable, frame: pd.DataFrame, papers: list[str], sets: Sequence[str], metric: str
) -> dict[str, str]:
    """Rank each ROCCO in turn over the sets on which it and all rivals were tried.

    The ranks of the rivals are those of the comparison with the first ROCCO. A note says over how
    many sets if not over all.
    """
    part, found = frame[frame["dataset"].isin(sets)], {}
    for name in table.stand_ins:
        line_up = [method for method in papers if method == name or method not in table.stand_ins]
        tried = ranked_sets(part, [*_partners(table), name])
        if not tried or name not in papers:
            continue
        few = "" if len(tried) == len(sets) else f" ({len(tried)} sets)"
        values = means(part, f"row_{metric}").reindex(columns=tried)
        for method, rank in average_ranks(values, line_up).items():
            found.setdefault(str(method), f"{rank:.2f}{few}")
    return found


def _partners(table: RealTable) -> list[str]:
    """Methods of the paper other than ROCCO."""
    named = [name for name in table.line_up if METHODS[name].paper_name]
    return [name for name in named if name not in table.stand_ins]


def _fig3(frame: pd.DataFrame) -> str:
    """ARI of rows and columns at noise 50, for both scalings."""
    rows = []
    for method in markdown.ordered(frame["method"], fig3.LINE_UP):
        part = frame[frame["method"] == method]
        values = []
        for zscored in fig3.SCALINGS.values():
            chosen = part[part["dataset"] == Biclusters(50, zscored=zscored).name]
            values += [markdown.spread(chosen[f"{side}_ari"]) for side in ("row", "column")]
        printed = published.FIG3_NOISE50.get(METHODS[method].paper_name or "")
        rows.append([method, "-" if printed is None else f"{printed:.2f}", *values])
    sides = [f"{side}, {words}" for words in fig3.SCALINGS for side in ("rows", "columns")]
    return markdown.table(["method", "printed", *sides], rows)


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
