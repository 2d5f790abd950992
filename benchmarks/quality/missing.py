"""Missing values: quality of labels and imputed values, and seconds.

python -m benchmarks.quality.missing

Values are missing at random. Labels are compared with the planted clusters, imputed values with
the original ones and with those of scikit-learn's `KNNImputer` with default parameters.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.impute import KNNImputer
from sklearn.metrics import adjusted_rand_score

from benchmarks.paper import markdown
from pyrocco import ROCCO
from pyrocco.datasets import load, make_noisy_biclusters

PAGE = Path(__file__).parent / "results" / "missing.md"
SEEDS = range(10)
PERCENTS = (0, 10, 30, 50)
NOISES = (10, 30)
REAL, REAL_PERCENT = ("glioma", "lung"), 30


def hidden(X: NDArray[np.float64], percent: int, seed: int) -> NDArray[np.float64]:
    """Replace a percentage of the values by NaN."""
    return np.where(np.random.default_rng(seed).random(X.shape) < percent / 100, np.nan, X)


def errors(
    X: NDArray[np.float64], incomplete: NDArray[np.float64], model: ROCCO
) -> dict[str, float]:
    """Root mean square errors of the imputed values."""
    missing = np.isnan(incomplete)
    fillings = {"impute": model.impute(incomplete), "knn": KNNImputer().fit_transform(incomplete)}
    return {name: float(np.sqrt(np.mean((Z - X)[missing] ** 2))) for name, Z in fillings.items()}


def planted(noise: float, percent: int, seed: int) -> dict[str, float]:
    """Results on one planted matrix of 100 x 100 with five biclusters."""
    data = make_noisy_biclusters(noise=noise, random_state=seed)
    incomplete = hidden(data.X, percent, seed)
    started = time.process_time()
    model = ROCCO(n_jobs=1).fit(incomplete)
    seconds = time.process_time() - started
    return {
        "noise": noise,
        "percent": percent,
        "row_ari": float(adjusted_rand_score(data.row_labels, model.row_labels_)),
        "column_ari": float(adjusted_rand_score(data.column_labels, model.column_labels_)),
        "membership": float(model.row_membership_.mean()),
        "right": float(np.mean(_agrees(data.row_labels, model.row_labels_))),
        "seconds": seconds,
        **(errors(data.X, incomplete, model) if percent else {}),
    }


def _agrees(truth: NDArray[np.intp], labels: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether a row has the class of most rows of its cluster."""
    most = pd.crosstab(labels, truth).idxmax(axis=1)
    return np.asarray(most.loc[labels].to_numpy() == truth)


def real(name: str) -> dict[str, object]:
    """Results on one gene expression matrix."""
    X = np.asarray(load(name).X, dtype=np.float64)
    incomplete = hidden(X, REAL_PERCENT, 0)
    seconds = []
    for matrix in (X, incomplete):
        started = time.process_time()
        model = ROCCO(n_jobs=1).fit(matrix)
        seconds.append(time.process_time() - started)
    found = errors(X, incomplete, model)
    return {"set": name, "shape": f"{X.shape[0]} x {X.shape[1]}", **found,
            "complete": seconds[0], "missing": seconds[1]}  # fmt: skip


def page(frame: pd.DataFrame, genes: pd.DataFrame) -> str:
    """The page with both tables."""
    rows = [
        [f"{noise:g}", f"{percent} %", *(markdown.spread(part[c], 2) for c in
         ("row_ari", "column_ari", "membership", "right", "impute", "knn", "seconds"))]
        for (noise, percent), part in frame.groupby(["noise", "percent"])
    ]  # fmt: skip
    head = ["noise", "missing", "ARI of rows", "ARI of columns", "membership of rows",
            "share of rows right", "error, `impute`", "error, KNNImputer",
            "CPU seconds"]  # fmt: skip
    lines = [
        [g["set"], g["shape"], f"{g['impute']:.3f}", f"{g['knn']:.3f}", f"{g['complete']:.1f}",
         f"{g['missing']:.1f}"]
        for g in genes.to_dict("records")
    ]  # fmt: skip
    genes_head = ["set", "shape", "error, `impute`", "error, KNNImputer", "CPU seconds, complete",
                  f"with {REAL_PERCENT} % missing"]  # fmt: skip
    return "\n\n".join([
        "# Missing values",
        "`python -m benchmarks.quality.missing` generates this page. Values are missing at "
        "random. Errors are root mean squares over the missing values. They include the noise "
        "of the cells, so no method can be below the noise. `KNNImputer` has default parameters.",
        f"Planted biclusters (100 x 100, five), mean ± standard deviation over seeds "
        f"{SEEDS[0]} to {SEEDS[-1]}:",
        markdown.table(head, rows),
        "Genes:",
        markdown.table(genes_head, lines),
    ]) + "\n"  # fmt: skip


def main() -> None:
    ROCCO().fit(hidden(make_noisy_biclusters((40, 30), 3, noise=5).X, 10, 0))  # compiles
    frame = pd.DataFrame(
        [planted(noise, percent, s) for noise in NOISES for percent in PERCENTS for s in SEEDS]
    )
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(frame, pd.DataFrame([real(name) for name in REAL])), encoding="utf-8")


if __name__ == "__main__":
    main()
