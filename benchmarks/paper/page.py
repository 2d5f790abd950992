"""The tables of the documentation pages, generated from the results.

The text between ``<!-- name -->`` and ``<!-- end -->`` of a page is generated; the rest is prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.paper.experiments import ablation, readings, robustness
from benchmarks.paper.store import Store
from benchmarks.paper.verdict_page import write_verdicts
from benchmarks.paper.verdicts import (
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
    return {
        "verdicts": f"{verdict_table(printed, frames)}\n\n{share(printed, frames)}",
        "shares": share_table(frames),
        "readings": readings.reading_table(Store(results / "readings.csv").read()),
    }


PAGES: dict[Path, Tables] = {
    PAGE: tables,
    ROBUSTNESS_PAGE: robustness_tables,
    LABELS_PAGE: labels_tables,
}
