"""Which printed numbers are reproduced: ``python -m benchmarks.paper.verdicts``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from benchmarks.paper import RESULTS, markdown, published
from benchmarks.paper.datasets import Biclusters
from benchmarks.paper.datasets.real import SUBLINEAR, in_preparation
from benchmarks.paper.scores import PRINTED
from benchmarks.paper.store import Store

# Differences from the printed number up to which it counts as reproduced, or as close.
REPRODUCED, CLOSE = 0.02, 0.05
# The data sets that are exactly the paper's.
EXACT = ("classic3", "allaml", "glioma")
# How the two preparations of text are called -> their names in the results.
TEXTS = {"rows of length 1": "", "not normalised": SUBLINEAR}
# Scores of the paper -> columns of the results.
COLUMNS = {"ARI": "row_ari"} | {
    printed.upper(): f"row_{score}" for score, printed in PRINTED.items()
}
Frames = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class PrintedCell:
    """One printed number, and where its counterpart is in the results.

    Parameters
    ----------
    where : str
        Table or figure.
    what : str
        Data set and setting, for people.
    score : str
        Name of the score in the paper.
    value : float
        The printed number.
    experiment, dataset, method, options, column : str
        The counterpart.
    exact : bool
        Whether the data are exactly the paper's.
    """

    where: str
    what: str
    score: str
    value: float
    experiment: str
    dataset: str
    method: str
    column: str
    options: str = ""
    exact: bool = True

    def measured(self, frames: Frames) -> pd.Series:
        """Return the scores of all seeds."""
        frame = frames[self.experiment]
        chosen = (frame["dataset"] == self.dataset) & (frame["method"] == self.method)
        return frame[chosen & (frame["options"] == self.options)][self.column].dropna()

    def verdict(self, frames: Frames) -> str:
        """Return reproduced, close, not reproduced, other data or not computed."""
        values = self.measured(frames)
        return verdict(self.value, values, self.exact, self.spread(values))

    def spread(self, values: pd.Series) -> float:
        """Return the standard deviation over seeds, or that of the mean over planted matrices."""
        if len(values) < 2:
            return 0.0
        return float(values.sem() if self.experiment == "fig3" else values.std(ddof=1))


def verdict(printed: float, measured: pd.Series, exact: bool, spread: float = 0.0) -> str:
    """Compare the mean over seeds with the printed number.

    A number is reproduced if the mean differs by at most 0.02, or by at most the spread.

    Examples
    --------
    >>> import pandas as pd
    >>> verdict(0.5, pd.Series([0.51]), exact=True), verdict(0.5, pd.Series([0.54]), exact=True)
    ('reproduced', 'close')
    """
    if measured.empty:
        return "not computed"
    if not exact:
        return "other data"
    # Not stricter than the printed digits.
    difference = round(abs(float(measured.mean()) - printed), 4)
    if difference <= max(REPRODUCED, spread):
        return "reproduced"
    return "close" if difference <= CLOSE else "not reproduced"


def table_cells(name: str, paper_name: str, method: str, text: str) -> Iterator[PrintedCell]:
    """Yield the numbers of one method in Table 1 or 2, with one preparation of text."""
    table = {"table1": published.TABLE1, "table2": published.TABLE2}[name]
    for dataset in in_preparation(published.SETS, text):
        for metric in published.METRICS:
            value = published.score(table, paper_name, dataset, metric)
            if value is not None:
                yield PrintedCell(
                    where=f"Table {name[-1]}",
                    what=dataset.partition(":")[0],
                    score=metric.upper(),
                    value=value,
                    experiment=name,
                    dataset=dataset,
                    method=method,
                    column=COLUMNS[metric.upper()],
                    exact=dataset.partition(":")[0] in EXACT,
                )


def rocco_cells(
    text: str = "", *, zscored: bool = True, fig4_given: bool = True
) -> list[PrintedCell]:
    """Return all numbers that the paper prints for ROCCO, measured with one preparation of text.

    With `fig4_given`, the number of clusters of classic3 is given in Fig. 4. That of carcinom is
    not: its printed digits are those of Table 2.
    """
    return [
        *table_cells("table1", "ROCCO+KM", "rocco_paper+km", text),
        *table_cells("table2", "ROCCO", "rocco_paper", text),
        *_fig3_cells(zscored),
        *_fig4_cells(text, fig4_given),
    ]


def _fig3_cells(zscored: bool) -> Iterator[PrintedCell]:
    for side in ("row", "column"):
        yield PrintedCell(
            where="Fig. 3",
            what=f"noise 50, {side}s",
            score="ARI",
            value=published.FIG3_NOISE50["ROCCO"],
            experiment="fig3",
            dataset=Biclusters(50, zscored=zscored).name,
            method="rocco_paper",
            column=f"{side}_ari",
        )


def _fig4_cells(text: str, given: bool) -> Iterator[PrintedCell]:
    for (name, metric), values in published.FIG4.items():
        (dataset,) = in_preparation([name], text)
        has_k = given and name == "classic3"
        for score, value in zip(("NMI", "AMI", "ARI"), values, strict=True):
            yield PrintedCell(
                where=f"Fig. 4, K {'given' if has_k else 'unknown'}",
                what=f"{name}, {metric}",
                score=score,
                value=value,
                experiment="fig4",
                dataset=dataset,
                method="rocco_paper+km" if has_k else "rocco_paper",
                column=COLUMNS[score],
                options=json.dumps({"metric": metric}),
                exact=name in EXACT,
            )


def other_classic3_cells() -> list[PrintedCell]:
    """Return the numbers of classic3 in the readings that `rocco_cells` has not by default."""
    seen = set(rocco_cells())
    found: dict[PrintedCell, None] = {}
    for words, text in TEXTS.items():
        for given in (True, False):
            for cell in rocco_cells(text, fig4_given=given):
                if cell.what.startswith("classic3") and cell not in seen:
                    found[replace(cell, what=f"{cell.what}, {words}")] = None
    return list(found)


def read_frames(results: Path) -> dict[str, pd.DataFrame]:
    """Read the results of the experiments of which the paper prints numbers."""
    names = ("table1", "table2", "fig3", "fig4")
    return {name: Store(results / f"{name}.csv").read() for name in names}


def verdict_table(cells: Iterable[PrintedCell], frames: Frames) -> str:
    """Write printed and measured numbers of each data set and setting in a line."""
    lines: dict[tuple[str, str], list[PrintedCell]] = {}
    for cell in cells:
        lines.setdefault((cell.where, cell.what), []).append(cell)
    rows = []
    for (where, what), line in lines.items():
        words = ["/".join(cell.score for cell in line)]
        words.append(" / ".join(f"{cell.value:g}" for cell in line))
        words.append(" / ".join(_mean(cell.measured(frames)) for cell in line))
        found = dict.fromkeys(cell.verdict(frames) for cell in line)
        rows.append([where, what, *words, ", ".join(found)])
    return markdown.table(["", "data", "score", "printed", "measured", "verdict"], rows)


def share_table(frames: Frames) -> str:
    """Write the share of reproduced or close numbers for each reading of Fig. 4 and of text."""
    rows = []
    for words, text in TEXTS.items():
        counts = [count(rocco_cells(text, fig4_given=given), frames) for given in (True, False)]
        shown = [f"{good} of {total} ({good / total:.0%})" for good, total in counts]
        rows.append([words, *shown])
    return markdown.table(["text", "Fig. 4: K given", "Fig. 4: K unknown"], rows)


def count(cells: Iterable[PrintedCell], frames: Frames) -> tuple[int, int]:
    """Return how many numbers on the paper's very data are reproduced or close, and how many."""
    found = Counter(cell.verdict(frames) for cell in cells if cell.exact)
    return found["reproduced"] + found["close"], found.total()


def _mean(values: pd.Series) -> str:
    return f"{values.mean():.3f}" if len(values) else "-"


def share(cells: Iterable[PrintedCell], frames: Frames) -> str:
    """Count the verdicts on the numbers for the paper's very data."""
    cells = list(cells)
    found = Counter(cell.verdict(frames) for cell in cells if cell.exact)
    good, total = count(cells, frames)
    others = ("close", "not reproduced", "not computed")
    rest = "".join(f", {found[name]} {name}" for name in others)
    return (
        f"Of the {total} numbers on exactly the paper's data, {found['reproduced']} are "
        f"reproduced{rest}: {100 * good / total:.0f} % are reproduced or close."
    )


def main() -> int:
    frames, cells = read_frames(RESULTS), rocco_cells()
    parts = [verdict_table(cells, frames), share(cells, frames), share_table(frames)]
    sys.stdout.write("\n\n".join(parts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
