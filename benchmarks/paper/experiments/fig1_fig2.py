"""Figs. 1 and 2: representations of the noisy toy matrix by several methods."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.paper import markdown
from benchmarks.paper.cell import Cell
from benchmarks.paper.datasets import Biclusters
from benchmarks.paper.experiments.base import Experiment, Request
from benchmarks.paper.methods.base import NOWHERE, Found, TwoSided, transposed
from benchmarks.paper.methods.fit_cobra import SETTINGS
from pyrocco import COBRA, RCC, ROCCO
from pyrocco.datasets import Dataset

SOURCE = Biclusters(50)
SEED = 0
PANELS = Path(__file__).resolve().parents[1] / "results" / "panels"


def cobra(X: Any, k: int, seed: int, gamma: float) -> Found:
    model = COBRA(gamma, **SETTINGS).fit(X)
    return Found(model.row_labels_, model.column_labels_, {}, model.representation_)


def rcc_rows(X: Any, k: int, seed: int) -> Found:
    model = RCC(variant="paper").fit(X)
    return Found(model.labels_, None, {}, model.representation_)


def rcc_columns(X: Any, k: int, seed: int) -> Found:
    model = RCC(variant="paper").fit(transposed(X))
    return Found(None, model.labels_, {}, model.representation_.T)


def rocco(X: Any, k: int, seed: int, variant: str) -> Found:
    model = ROCCO(prepare=None, variant=variant, random_state=seed).fit(X)
    return Found(model.row_labels_, model.column_labels_, {}, model.representation_)


@dataclass(frozen=True)
class Panel:
    """One heat map: its title, and how its matrix is computed."""

    title: str
    cluster: Callable[..., Found]
    options: dict[str, Any]

    @property
    def cell(self) -> Cell:
        method = TwoSided(self.cluster.__name__, None, NOWHERE, self.cluster)
        name = "-".join([method.name, *map(str, self.options.values())])
        return Cell(SOURCE, method, SEED, options=self.options, keep=PANELS / f"{name}.npy")


MADE = (
    Panel("COBRA, RH 1 (Fig. 2a)", cobra, {"gamma": 1.0}),
    Panel("COBRA, RH 10 (Fig. 1c)", cobra, {"gamma": 10.0}),
    Panel("COBRA, RH 100 (Fig. 2b)", cobra, {"gamma": 100.0}),
    Panel("COBRA, RH 1000 (Fig. 2c)", cobra, {"gamma": 1000.0}),
    Panel("RCC on rows (Fig. 2d)", rcc_rows, {}),
    Panel("RCC on columns (Fig. 2e)", rcc_columns, {}),
    Panel("ROCCO, literal (Figs. 1d, 2f)", rocco, {"variant": "paper"}),
    Panel("ROCCO, default", rocco, {"variant": "refined"}),
)


def cells(request: Request) -> list[Cell]:
    return [panel.cell for panel in MADE]


def report(frame: pd.DataFrame, folder: Path, quick: bool) -> None:
    page = folder / "fig1_fig2.md"
    if page.exists() and _representations_missing(frame):
        sys.stderr.write("fig1_fig2: representations are not stored; the page was not changed\n")
        return
    data = SOURCE.load(SEED)
    clean = planted(data, Biclusters(0).load(SEED))
    matrices = {"planted (Fig. 1a)": clean, "noise 50 (Fig. 1b)": data.X}
    for panel in MADE:
        path = panel.cell.keep
        if path is not None and path.exists():
            matrices[panel.title] = np.load(path)
    parts = [
        "# Figs. 1 and 2: representations of the toy matrix",
        "`python -m benchmarks.paper fig1_fig2` generates this page, `fig1_fig2.csv` and "
        f"`fig1_fig2.png`. `make_biclusters`, 100 x 100, five biclusters, noise 50, seed {SEED}; "
        "rows and columns are drawn in the order of the planted clusters. Distance: root mean "
        "square difference from the planted matrix. The paper shows pictures and no numbers.",
        _table(frame, matrices, clean),
        markdown.failures(frame),
        markdown.provenance(frame),
    ]
    markdown.write(page, parts)
    _draw(data, matrices).savefig(folder / "fig1_fig2.png", dpi=150)


def _representations_missing(frame: pd.DataFrame) -> bool:
    """Whether a finished cell has no stored matrix, as in a copy without the panels folder."""
    finished = set(frame[frame["status"] == "ok"].set_index(["method", "options"]).index)
    return any(
        panel.cell.key[1::2] in finished and not (panel.cell.keep or PANELS).exists()
        for panel in MADE
    )


def planted(data: Dataset, clean: Dataset) -> np.ndarray:
    """Return the matrix without noise, with rows and columns in the order of `data`."""
    n_blocks = len(data.class_names)
    inside = [clean.X[clean.row_labels == b][:, clean.column_labels == b] for b in range(n_blocks)]
    values = np.array([block.mean() for block in inside])
    same = data.row_labels[:, None] == data.column_labels
    return np.where(same, values[data.row_labels][:, None], 0.0)


def _table(frame: pd.DataFrame, matrices: dict[str, np.ndarray], clean: np.ndarray) -> str:
    known = frame.set_index(["method", "options"])
    keys = {panel.title: panel.cell.key[1::2] for panel in MADE}
    rows = []
    for title, matrix in matrices.items():
        distance = f"{np.sqrt(np.mean((matrix - clean) ** 2)):.1f}"
        facts = _facts(known.loc[keys[title]]) if title in keys else ["-"] * 5
        rows.append([title, distance, *facts])
    sides = [f"{what} of {side}" for what in ("ARI", "clusters") for side in ("rows", "columns")]
    return markdown.table(["matrix", "distance", *sides, "seconds"], rows)


def _facts(row: pd.Series) -> list[str]:
    scores = [row["row_ari"], row["column_ari"]]
    counts = [row["row_clusters"], row["column_clusters"]]
    return [*(_number(v, 2) for v in scores), *(_number(v, 0) for v in counts),
            _number(row["seconds"], 2)]  # fmt: skip


def _number(value: float, digits: int) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def _draw(data: Dataset, matrices: dict[str, np.ndarray]) -> Figure:
    order = np.ix_(np.argsort(data.row_labels), np.argsort(data.column_labels))
    n_lines = -(-len(matrices) // 5)
    figure = Figure(figsize=(15, 3.3 * n_lines), layout="constrained")
    panels = figure.subplots(n_lines, 5, squeeze=False).ravel()
    for axes, (title, matrix) in zip(panels, matrices.items(), strict=False):
        image = axes.imshow(matrix[order], vmin=-50, vmax=150, cmap="viridis", aspect="auto")
        axes.set_title(title, fontsize=9)
    for axes in panels:
        axes.set_axis_off()
    figure.colorbar(image, ax=list(panels), shrink=0.8)
    return figure


EXPERIMENT = Experiment("fig1_fig2", "heat maps of representations", cells, report)
