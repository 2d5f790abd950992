"""The report on all printed numbers, ``verdicts.md``, and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.paper import markdown
from benchmarks.paper.experiments.real_table import RealTable
from benchmarks.paper.experiments.table1 import TABLE as TABLE1
from benchmarks.paper.experiments.table2 import TABLE as TABLE2
from benchmarks.paper.methods import METHODS
from benchmarks.paper.verdicts import (
    CLOSE,
    REPRODUCED,
    TEXTS,
    Frames,
    PrintedCell,
    count,
    other_classic3_cells,
    read_frames,
    rocco_cells,
    share,
    share_table,
    table_cells,
    verdict_table,
)

_HUES = {"reproduced": "C2", "close": "C1", "not reproduced": "C3", "other data": "0.65"}


def write_verdicts(results: Path) -> None:
    """Write ``verdicts.md`` and ``verdicts.png`` from the results."""
    frames = read_frames(results)
    (results / "verdicts.md").write_text(verdicts_text(frames), encoding="utf-8")
    draw(rocco_cells(), frames).savefig(results / "verdicts.png", dpi=150)


def verdicts_text(frames: Frames) -> str:
    """Return the report: ROCCO's numbers, the counts of every method, and every number."""
    parts = [
        "# Every printed number",
        "`python -m benchmarks.paper --report-only` generates this page and `verdicts.png`. A "
        f"printed number is reproduced if the mean over seeds differs by at most {REPRODUCED:g}, "
        "or by at most the standard deviation over seeds (in Fig. 3, of the mean over matrices), "
        f"and close up to {CLOSE:g}. Only classic3, allaml, glioma and the planted "
        "matrices are exactly the paper's data.",
        "## ROCCO",
        "Text has rows of length 1, planted matrices have z-scored columns.",
        verdict_table(rocco_cells(), frames),
        share(rocco_cells(), frames),
        "With planted matrices as they are: " + share(rocco_cells(zscored=False), frames),
        "Reproduced or close with each preparation of text and each reading of Fig. 4:",
        share_table(frames),
        "classic3 in the other readings:",
        verdict_table(other_classic3_cells(), frames),
        "## Every method: numbers on exactly the paper's data that are reproduced or close",
        _count_table(frames),
    ]
    for table, title in ((TABLE1, "Table 1"), (TABLE2, "Table 2")):
        parts += [f"## {title}", *_method_tables(table, frames)]
    return "\n\n".join(parts) + "\n"


def _methods(table: RealTable) -> list[tuple[str, str]]:
    """Return the methods of the paper in a table, by their names there and here."""
    rivals = [name for name in table.line_up if name not in table.stand_ins]
    named = [*rivals, table.stand_ins[1]]
    return [(METHODS[name].paper_name or "", name) for name in named if METHODS[name].paper_name]


def _count_table(frames: Frames) -> str:
    rows = []
    for table in (TABLE1, TABLE2):
        for paper_name, name in _methods(table):
            counts = [
                _good([*table_cells(table.name, paper_name, name, text)], frames)
                for text in TEXTS.values()
            ]
            rows.append([f"Table {table.name[-1]}", paper_name, *counts])
    return markdown.table(["", "method", *(f"text: {words}" for words in TEXTS)], rows)


def _good(cells: Sequence[PrintedCell], frames: Frames) -> str:
    good, total = count(cells, frames)
    return f"{good} of {total}"


def _method_tables(table: RealTable, frames: Frames) -> list[str]:
    parts = []
    for paper_name, name in _methods(table):
        both = [[*table_cells(table.name, paper_name, name, text)] for text in TEXTS.values()]
        rows = [_number_row(pair, frames) for pair in zip(*both, strict=True)]
        head = ["data", "score", "printed"]
        for words in TEXTS:
            head += [f"text: {words}", "verdict"]
        parts += [f"### {paper_name}", markdown.table(head, rows)]
    return parts


def _number_row(pair: Sequence[PrintedCell], frames: Frames) -> list[str]:
    row = [pair[0].what, pair[0].score, f"{pair[0].value:g}"]
    for cell in pair:
        row += [markdown.spread(cell.measured(frames)), cell.verdict(frames)]
    return row


def draw(cells: Sequence[PrintedCell], frames: Frames) -> Figure:
    """Draw measured against printed numbers: AMI of the tables, ARI of Fig. 3."""
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    chosen = [
        cell
        for cell in cells
        if not cell.where.startswith("Fig. 4") and cell.score in ("AMI", "ARI")
    ]
    given = [cell for cell in chosen if cell.where == "Table 1"]
    unknown = [cell for cell in chosen if cell.where != "Table 1"]
    for axes, title, part in (
        (panels[0], "number of clusters given (Table 1)", given),
        (panels[1], "number of clusters unknown (Table 2, Fig. 3)", unknown),
    ):
        _draw_panel(axes, part, frames)
        axes.set(title=title, xlabel="printed", xlim=(-0.03, 1), ylim=(-0.03, 1), aspect="equal")
    panels[0].set_ylabel("measured")
    handles = [panels[0].scatter([], [], color=hue, label=word) for word, hue in _HUES.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def _draw_panel(axes: Axes, cells: Sequence[PrintedCell], frames: Frames) -> None:
    ends = np.array([-0.03, 1])
    axes.plot(ends, ends, color="0.3", lw=0.8)
    axes.fill_between(ends, ends - CLOSE, ends + CLOSE, color="0.93", zorder=0)
    for cell in cells:
        values = cell.measured(frames)
        if values.empty:
            continue
        mean, error = values.mean(), cell.spread(values)
        axes.errorbar(cell.value, mean, error, fmt="o", ms=5, color=_HUES[cell.verdict(frames)])
        # Names of points near the right end are on the left, inside the frame.
        shift, side = ((-5, -3), "right") if cell.value > 0.85 else ((5, -3), "left")
        axes.annotate(
            cell.what.replace("noise 50, ", "planted "), (cell.value, mean), shift,
            textcoords="offset points", ha=side, fontsize=7,
        )  # fmt: skip
