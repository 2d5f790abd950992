"""Which printed numbers are reproduced: ``python -m benchmarks.paper.verdicts``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.paper import RESULTS, markdown, published
from benchmarks.paper.datasets import Biclusters
from benchmarks.paper.datasets.real import in_preparation
from benchmarks.paper.scores import PRINTED
from benchmarks.paper.store import Store

# Differences from the printed number up to which it counts as reproduced, or as close.
REPRODUCED, CLOSE = 0.02, 0.05
# The data sets that are exactly the paper's.
EXACT = ("classic3", "allaml", "glioma")
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


def rocco_cells(text: str = "sublinear", zscored: bool = True) -> list[PrintedCell]:
    """Return all numbers that the paper prints for ROCCO, measured with one preparation."""
    return [
        *table_cells("table1", "ROCCO+KM", "rocco_paper+km", text),
        *table_cells("table2", "ROCCO", "rocco_paper", text),
        *_fig3_cells(zscored),
        *_fig4_cells(text),
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


def fig4_given_cells() -> list[PrintedCell]:
    """Return the numbers of Fig. 4, with K given for classic3 and rows of length 1."""
    cells = _fig4_cells("", "rocco_paper+km")
    return [cell for cell in cells if cell.exact]


def with_fig4_given(cells: Iterable[PrintedCell]) -> list[PrintedCell]:
    """Replace the numbers of Fig. 4 on the paper's data by those with K given."""
    rest = [cell for cell in cells if cell.where != "Fig. 4" or not cell.exact]
    return [*rest, *fig4_given_cells()]


def _fig4_cells(text: str, method: str = "rocco_paper") -> Iterator[PrintedCell]:
    for (name, metric), values in published.FIG4.items():
        (dataset,) = in_preparation([name], text)
        for score, value in zip(("NMI", "AMI", "ARI"), values, strict=True):
            yield PrintedCell(
                where="Fig. 4",
                what=f"{name}, {metric}",
                score=score,
                value=value,
                experiment="fig4",
                dataset=dataset,
                method=method,
                column=COLUMNS[score],
                options=json.dumps({"metric": metric}),
                exact=name in EXACT,
            )


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


def shares(cells: Iterable[PrintedCell], frames: Frames) -> str:
    """Count the verdicts, with the number of clusters in Fig. 4 unknown and given."""
    cells = list(cells)
    return (
        f"{share(cells, frames)}\n\nThe paper does not say whether the number of clusters was "
        "given in Fig. 4. If it is, and rows of text have length 1:\n\n"
        f"{verdict_table(fig4_given_cells(), frames)}\n\n{share(with_fig4_given(cells), frames)}"
    )


def _mean(values: pd.Series) -> str:
    return f"{values.mean():.3f}" if len(values) else "-"


def share(cells: Iterable[PrintedCell], frames: Frames) -> str:
    """Count the verdicts on the numbers for the paper's very data."""
    found = Counter(cell.verdict(frames) for cell in cells if cell.exact)
    total, good = found.total(), found["reproduced"] + found["close"]
    rest = "".join(f", {found[name]} {name}" for name in ("not reproduced", "not computed"))
    return (
        f"Of the {total} numbers on exactly the paper's data, {found['reproduced']} are "
        f"reproduced and {found['close']} are close{rest}: {100 * good / total:.0f} % are one of "
        "the two."
    )


def main() -> int:
    frames, cells = read_frames(RESULTS), rocco_cells()
    sys.stdout.write(f"{verdict_table(cells, frames)}\n\n{shares(cells, frames)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
