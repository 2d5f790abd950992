"""The tables of the documentation pages, generated from the results.

The text between ``<!-- name -->`` and ``<!-- end -->`` of a page is generated; the rest is prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from benchmarks.paper import markdown, published
from benchmarks.paper.experiments import ablation, readings, robustness
from benchmarks.paper.experiments.real_table import (
    PREPARATIONS,
    RealTable,
    few_seeds,
    starred,
)
from benchmarks.paper.experiments.table1 import TABLE as TABLE1
from benchmarks.paper.experiments.table2 import TABLE as TABLE2
from benchmarks.paper.methods import METHODS
from benchmarks.paper.scores import PRINTED
from benchmarks.paper.store import Store
from benchmarks.paper.verdict_page import write_verdicts
from benchmarks.paper.verdicts import (
    other_classic3_cells,
    read_frames,
    rocco_cells,
    share,
    share_table,
    verdict_table,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "reproduction.md"
ROBUSTNESS_PAGE = DOCS / "robustness.md"
LABELS_PAGE = DOCS / "labels.md"
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
    frames, printed = read_frames(results), rocco_cells()
    made = {
        "verdicts": f"{verdict_table(printed, frames)}\n\n{share(printed, frames)}",
        "shares": share_table(frames),
        "classic3": verdict_table(other_classic3_cells(), frames),
        "readings": readings.reading_table(Store(results / "readings.csv").read()),
    }
    for table in (TABLE1, TABLE2):
        frame = frames[table.name]
        made[f"{table.name}-ami"] = _scores(table, frame, "ami_max")
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


PAGES: dict[Path, Tables] = {
    PAGE: tables,
    ROBUSTNESS_PAGE: robustness_tables,
    LABELS_PAGE: labels_tables,
}
