"""``pyrocco demo``: the whole way on data that needs no download."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from sklearn.datasets import load_breast_cancer

from pyrocco import ROCCO
from pyrocco.cli.messages import count, say_all, tell
from pyrocco.cli.options import Quiet, Seed
from pyrocco.cli.progress import fitting_bars
from pyrocco.cli.results import REPORT_FILE, fit_and_write
from pyrocco.io import Matrix, result_writer, staged_folder, write_matrix
from pyrocco.prepare import zscore

__all__ = ["demo", "demo_matrix"]

TABLE = "matrix.csv"


def demo_matrix() -> Matrix:
    """Breast tumours and measurements of their cell nuclei, on one scale.

    The Wisconsin diagnostic breast cancer set that scikit-learn bundles: 569 tumours (rows),
    30 measurements (columns). Areas are in the hundreds and fractal dimensions in hundredths,
    so every column is shifted to mean 0 and scaled to standard deviation 1. The diagnosis is
    only in the row names; no algorithm reads those.

    Returns
    -------
    Matrix

    Examples
    --------
    >>> matrix = demo_matrix()
    >>> matrix.shape, matrix.row_names[0], matrix.column_names[0]
    ((569, 30), 'malignant_0', 'mean radius')
    """
    bunch = load_breast_cancer()
    diagnoses = bunch.target_names[bunch.target]
    return Matrix(
        zscore(bunch.data),
        tuple(f"{diagnosis}_{i}" for i, diagnosis in enumerate(diagnoses)),
        tuple(str(name) for name in bunch.feature_names),
        (
            "569 breast tumours (rows) and 30 measurements of their cell nuclei (columns).",
            "Every measurement was scaled to mean 0 and standard deviation 1.",
        ),
    )


def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the results.", metavar="OUT")
    ] = Path("demo-output"),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Co-cluster a table of breast tumours that needs no download."""
    matrix = demo_matrix()
    model = ROCCO(random_state=seed, verbose=0 if quiet else 1)
    with staged_folder(output) as folder:
        if not quiet:
            say_all(matrix.notes)
        about = {"input": "Wisconsin breast cancer (scikit-learn)", "matrix": TABLE}
        with fitting_bars(quiet):
            fit_and_write(model, matrix, about, folder, result_writer("csv"))
        write_matrix(folder / TABLE, matrix)
    if quiet:
        return
    for line in _findings(model, matrix):
        tell(line)
    tell(f"Open {output / REPORT_FILE} in a browser; tables and heatmap.png are beside it.")
    tell(f"The same with a file: pyrocco fit {output / TABLE} -o my-output")


def _findings(model: ROCCO, matrix: Matrix) -> list[str]:
    """What was found, in plain words."""
    rows = count(model.n_row_clusters_, "group")
    columns = count(model.n_column_clusters_, "group")
    diagnoses = np.array([name.split("_")[0] for name in matrix.row_names])
    lines = [
        f"Found {rows} of tumours and {columns} of measurements; neither number was given.",
        "The groups of tumours beside the diagnosis, which was not used:",
    ]
    for cluster in range(model.n_row_clusters_):
        counts = Counter(diagnoses[model.row_labels_ == cluster].tolist())
        lines.append(
            f"  group {cluster}: {counts['malignant']} malignant, {counts['benign']} benign"
        )
    lines.append("Measurements that go together:")
    for cluster in range(model.n_column_clusters_):
        names = np.array(matrix.column_names)[model.column_labels_ == cluster]
        lines.append(f"  group {cluster}: {', '.join(names)}")
    return lines
