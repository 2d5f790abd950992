"""Tables 1 and 2: methods by data sets, with the paper's numbers in brackets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.paper import markdown, published
from benchmarks.paper.cell import Cell, grid
from benchmarks.paper.datasets import Real, real_sets
from benchmarks.paper.datasets.real import SUBLINEAR, in_preparation
from benchmarks.paper.experiments.base import Request
from benchmarks.paper.methods import METHODS
from benchmarks.paper.ranks import average_ranks, line_up_ranks, means, ranked_sets
from benchmarks.paper.scores import PRINTED, TITLES
from benchmarks.paper.verdicts import EXACT

SEEDS = 5
# Words for a preparation of text -> the data sets of the tables, text in that preparation.
PREPARATIONS = {
    "rows of length 1": in_preparation(published.SETS, ""),
    "not normalised": in_preparation(published.SETS, SUBLINEAR),
}
ALL_SETS = list(dict.fromkeys(name for names in PREPARATIONS.values() for name in names))
LEGEND = (
    "Mean ± standard deviation over seeds. A single number is from one run of a method that "
    "is deterministic on that set, unless a note below says that seeds are missing. In "
    "brackets: the paper's number. Only classic3, allaml and glioma are exactly the paper's "
    "data; sets with * differ (see `pyrocco.datasets`), so compare only our own numbers with "
    "each other there. Genes are scaled to [0, 1], which reproduces the paper's numbers for RCC "
    "and the spectral methods on allaml and glioma. Text is tf-idf, in two preparations: with "
    "rows of length 1, and as log(1 + count) log(n / document frequency), not normalised "
    "(`:sublinear`), with which k-means and SCC on classic3 are close to the paper's. "
    "(`name:scaling` in `--datasets` selects another scaling.) Ranks: 1 is the best, ties share, "
    "a method without labels for a set is last there; sets on which some method was not run do "
    'not count. "Rank, paper\'s" is the rank among the methods of the paper only, with one ROCCO '
    "at a time: each of ours in turn."
)


@dataclass(frozen=True)
class RealTable:
    """One of the two tables.

    Parameters
    ----------
    name, title : str
        Its name and its heading.
    line_up : sequence of str
        The methods of the paper, then the controls.
    stand_ins : sequence of str
        Our methods that take the place of the paper's ROCCO.
    printed, printed_ranks : mapping
        The paper's numbers.
    """

    name: str
    title: str
    line_up: Sequence[str]
    stand_ins: Sequence[str]
    printed: published.Scores
    printed_ranks: Mapping[str, tuple[float, float]]

    def cells(self, request: Request) -> list[Cell]:
        names = request.datasets or (None if request.quick else ALL_SETS)
        sources = real_sets(names, request.quick)
        methods = request.pick_methods(self.line_up)
        return list(grid(sources, methods, request.pick_seeds(SEEDS, 1)))

    def report(self, frame: pd.DataFrame, folder: Path, quick: bool) -> None:
        methods = markdown.ordered(frame["method"], self.line_up)
        sets = markdown.ordered(frame["dataset"], ALL_SETS)
        made = markdown.command(self.name, frame, self.line_up, ALL_SETS, quick)
        parts = [
            f"# {self.title}",
            markdown.caution(quick),
            f"`{made}` generates this page, `{self.name}.csv` and `{self.name}.png`. {LEGEND}",
        ]
        for metric in ("nmi_geometric", "ami_max", "ari", "ami"):
            parts.append(f"## {TITLES[metric]}")
            for words, names in shown_preparations(sets).items():
                part = frame[frame["dataset"].isin(names)]
                parts += [f"Text: {words}.", self._scores(part, methods, names, metric)]
        for title, column, digits in (("Clusters found", "row_clusters", 1),
                                      ("Seconds", "seconds", 1)):  # fmt: skip
            parts += [f"## {title}", _plain(frame, methods, sets, column, digits)]
        parts += [
            few_seeds(frame),
            markdown.failures(frame),
            markdown.warned(frame),
            markdown.provenance(frame),
        ]
        markdown.write(folder / f"{self.name}.md", parts)
        self._draw(frame, methods, sets).savefig(folder / f"{self.name}.png", dpi=150)

    def _scores(
        self, frame: pd.DataFrame, methods: Sequence[str], sets: Sequence[str], metric: str
    ) -> str:
        values = means(frame, f"row_{metric}").reindex(index=methods, columns=sets)
        tried = [name for name in methods if values.loc[name].notna().any()]
        everyone = _over(ranked_sets(frame, tried), values, average_ranks, tried)
        among = _over(
            ranked_sets(frame, self._papers()), values.loc[tried], line_up_ranks,
            self._papers(), self.stand_ins,
        )  # fmt: skip
        rows = []
        for method in methods:
            cells = [self._score(frame, method, name, metric) for name in sets]
            mean = self._mean(values.loc[method].dropna(), method, metric, len(sets))
            rank = f"{everyone[method]:.2f}" if method in everyone else "-"
            rows.append([method, *cells, mean, rank, self._rank(among, method, metric)])
        names = [starred(name) for name in sets]
        return markdown.table(["method", *names, "mean", "rank", "rank, paper's"], rows)

    def _score(self, frame: pd.DataFrame, method: str, name: str, metric: str) -> str:
        ours = markdown.spread(_part(frame, method, name)[f"row_{metric}"])
        printed = published.score(
            self.printed, METHODS[method].paper_name, name, PRINTED.get(metric)
        )
        return markdown.with_printed(ours, printed)

    def _papers(self) -> list[str]:
        return [name for name in self.line_up if METHODS[name].paper_name]

    def _mean(self, values: pd.Series, method: str, metric: str, n_sets: int) -> str:
        """Our mean and the paper's, over the sets for which the method gave labels."""
        if values.empty:
            return "-"
        printed = [
            published.score(self.printed, METHODS[method].paper_name, name, PRINTED.get(metric))
            for name in values.index
        ]
        theirs = None if None in printed else sum(printed) / len(printed)
        some = "" if len(values) == n_sets else f" ({len(values)} of {n_sets} sets)"
        return markdown.with_printed(f"{values.mean():.3f}", theirs) + some

    def _rank(self, among: Mapping[str, float], method: str, metric: str) -> str:
        """Our rank and the printed one, among the paper's methods."""
        if method not in among:
            return "-"
        printed = None
        if metric in PRINTED:
            ranks = self.printed_ranks[METHODS[method].paper_name or ""]
            printed = ranks[published.METRICS.index(PRINTED[metric])]
        return markdown.with_printed(f"{among[method]:.2f}", printed, 2)

    def _draw(self, frame: pd.DataFrame, methods: Sequence[str], sets: Sequence[str]) -> Figure:
        figure = Figure(figsize=(9, 1.2 + 0.75 * len(sets)), layout="constrained")
        axes = figure.subplots()
        for index, method in enumerate(methods):
            shift = (index + 0.5) / len(methods) - 0.5
            y = [place - 0.8 * shift for place in range(len(sets))]
            x = [_part(frame, method, name)["row_ami_max"].mean() for name in sets]
            axes.plot(x, y, "os^D"[index // 10 % 4], color=f"C{index % 10}", label=method, ms=5)
        stands_for = METHODS[self.stand_ins[0]].paper_name
        stars = [published.score(self.printed, stands_for, name, "ami") for name in sets]
        axes.plot(stars, range(len(sets)), "k*", ms=9, label=f"{stands_for} in the paper")
        axes.set(
            yticks=range(len(sets)),
            yticklabels=sets,
            xlabel="AMI of rows, over the larger entropy as in the paper",
        )
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.3)
        figure.legend(loc="outside right upper")
        return figure


def shown_preparations(found: Sequence[str]) -> dict[str, list[str]]:
    """Return the data sets of both preparations that have results, and others with the first."""
    first, second = PREPARATIONS
    shown = {first: [name for name in found if not name.endswith(f":{SUBLINEAR}")]}
    other = [name for name in PREPARATIONS[second] if name in found]
    if any(name.endswith(f":{SUBLINEAR}") for name in other):
        shown[second] = other
    return {words: names for words, names in shown.items() if names}


def starred(name: str) -> str:
    """Mark the data sets that are not exactly the paper's."""
    short = name.partition(":")[0]
    return short if short in EXACT else f"{short}*"


def _part(frame: pd.DataFrame, method: str, name: str) -> pd.DataFrame:
    return frame[(frame["method"] == method) & (frame["dataset"] == name)]


def few_seeds(frame: pd.DataFrame) -> str:
    """List cells of random methods that have fewer seeds than planned."""
    sizes = frame.groupby(["method", "dataset"]).size()
    random = {
        (method, name): count
        for (method, name), count in sizes.items()
        if Real(name).kind in METHODS[method].random_on and count < SEEDS
    }
    notes = [f"{method} on {name} ({count})" for (method, name), count in random.items()]
    return f"Fewer than {SEEDS} seeds so far: {', '.join(notes)}." if notes else ""


def _over(sets: list[str], values: pd.DataFrame, rank: Callable[..., Any], *who: Any) -> Any:
    """Ranks over `sets`, empty if there are no sets."""
    return rank(values[sets], *who) if sets else {}


def _plain(
    frame: pd.DataFrame, methods: Sequence[str], sets: Sequence[str], column: str, digits: int
) -> str:
    rows = [
        [method, *(markdown.spread(_part(frame, method, name)[column], digits) for name in sets)]
        for method in methods
    ]
    return markdown.table(["method", *sets], rows)
