"""ROCCO on planted blocks in cells of many kinds, and on noise without blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.collection.methods.rocco import METHOD as ROCCO
from benchmarks.collection.methods.rocco import TRUE_K
from benchmarks.collection.planted import CASES, NOISES, Blocks
from benchmarks.paper import markdown
from benchmarks.paper.cell import Cell, grid
from benchmarks.paper.datasets import Source
from benchmarks.paper.experiments import Experiment, Request
from benchmarks.paper.methods import Found, TwoSided
from benchmarks.paper.methods.base import EVERYWHERE

SEEDS, NOISE_SEEDS = 10, 20
LEGEND = """\
Ten new matrices for each case, twenty for each kind of noise. ARI of the rows: mean ± standard
deviation over the matrices. The reference is hard EM of the planted family, started from the true
labels: about the best that can be reached, but not a strict bound. The share is the mean ARI
divided by that of the reference. `benchmarks/collection/planted.py` describes the cases."""


@dataclass(frozen=True)
class FromTruth:
    """Computes the reference of a case; the matrix of the seed is drawn again with its labels."""

    case: Blocks

    def __call__(self, X: Any, k: int, seed: int) -> Found:
        labels = self.case.reference(self.case.load(seed))
        return Found(labels.rows, labels.columns)


NAMES = ("rocco", "rocco_true_k", "reference")


def cells(request: Request) -> list[Cell]:
    chosen = request.methods or NAMES
    planted = [cell for case in _chosen(CASES, request) for cell in _case_cells(case, request)]
    noise = grid(_chosen(NOISES, request), [ROCCO], range(request.seeds or NOISE_SEEDS))
    return [cell for cell in (*planted, *noise) if cell.method.name in chosen]


def _chosen(sources: Sequence[Any], request: Request) -> list[Any]:
    return [s for s in sources if not request.datasets or s.name in request.datasets]


def _case_cells(case: Blocks, request: Request) -> list[Cell]:
    source: Source = case
    reference = TwoSided("reference", None, EVERYWHERE, FromTruth(case), takes_missing=True)
    seeds = range(request.seeds or SEEDS)
    true_k = grid([source], [TRUE_K], seeds, options={"n_clusters": list(case.n_clusters)})
    return [*grid([source], [ROCCO, reference], seeds), *true_k]


def report(frame: pd.DataFrame, folder: Path, quick: bool) -> None:
    parts = [
        "# Planted blocks in cells of many kinds",
        "`python -m benchmarks.collection planted` generates this page and `planted.csv`.",
        LEGEND,
        "## Blocks",
        case_table(frame),
        "## Noise",
        "Matrices of 200 x 100 for which the answer is one cluster:",
        noise_table(frame),
        markdown.failures(frame),
        markdown.warned(frame),
        markdown.provenance(frame),
    ]
    markdown.write(folder / "planted.md", parts)


def case_table(frame: pd.DataFrame) -> str:
    """One line for each case, and the means over cases."""
    names = [case.name for case in CASES if case.name in set(frame["dataset"])]
    true = {case.name: case.n_clusters for case in CASES}
    rows = [[name, *_case_line(frame[frame["dataset"] == name], true[name])] for name in names]
    head = ["case", "K unknown", "K given", "reference", "share, K unknown", "share, K given",
            "row x column clusters found", "true"]  # fmt: skip
    return markdown.table(head, [*rows, ["mean", *_mean_line(frame, names)]])


def _case_line(part: pd.DataFrame, true: tuple[int, int]) -> list[str]:
    by_method = {name: part[part["method"] == name] for name in NAMES}
    found = by_method["rocco"]
    sizes = (_number(found[f"{side}_clusters"].mean(), 1) for side in ("row", "column"))
    return [
        *(markdown.spread(by_method[name]["row_ari"]) for name in NAMES),
        *(_number(share, 2) for share in _shares(part)),
        " x ".join(sizes),
        " x ".join(map(str, true)),
    ]


def _shares(part: pd.DataFrame) -> list[float]:
    means = part.groupby("method")["row_ari"].mean().reindex(NAMES)
    return [means[name] / means["reference"] for name in NAMES[:2]]


def _mean_line(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    parts = {name: frame[frame["dataset"] == name] for name in names}
    scores = pd.DataFrame(
        {name: part.groupby("method")["row_ari"].mean() for name, part in parts.items()}
    ).reindex(NAMES)
    shares = pd.DataFrame([_shares(part) for part in parts.values()])
    means = [_number(value, 3) for value in scores.mean(axis=1)]
    return [*means, *(_number(value, 2) for value in shares.mean()), "", ""]


def noise_table(frame: pd.DataFrame) -> str:
    """In how many matrices of noise rows, columns and both come out as one cluster."""
    rows = []
    for source in NOISES:
        part = frame[(frame["dataset"] == source.name) & (frame["status"] == "ok")]
        one = [part[f"{side}_clusters"] == 1 for side in ("row", "column")]
        counts = [one[0].sum(), one[1].sum(), (one[0] & one[1]).sum()]
        rows += [[source.cells, *(f"{count} of {len(part)}" for count in counts)]]
    return markdown.table(["cells", "rows", "columns", "both"], rows)


def _number(value: float, digits: int) -> str:
    return "-" if pd.isna(value) else f"{value:z.{digits}f}"


PLANTED = Experiment("planted", "planted blocks in cells of many kinds", cells, report)
