"""``pyrocco demo``: a complete example with data that come with scikit-learn."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from pyrocco.cells.preparation import zscore
from pyrocco.cli.encoded_input import EncodedInput
from pyrocco.cli.fit_command import RESULT_STAGES, fit_model, write_results
from pyrocco.cli.progress_bar import command_progress
from pyrocco.cli.terminal import say_all, tell
from pyrocco.estimators import ROCCO
from pyrocco.io import Matrix, result_writer, staged_folder, write_matrix
from pyrocco.io.result_folder import (
    MATRIX_FILE,
    REPORT_FILE,
    check_replaceable,
    names_in_format,
)
from pyrocco.io.unfinished import write_errors
from pyrocco.progress import FIT_STAGES, Observer
from pyrocco.texts import counted

__all__ = ["demo_matrix", "run_demo"]

_INPUT = "Wisconsin breast cancer (scikit-learn)"


def demo_matrix() -> Matrix:
    """Return breast tumours and scaled measurements of their cell nuclei.

    The Wisconsin diagnostic breast cancer data that scikit-learn includes: 569 tumours (rows)
    and 30 measurements (columns). The measurements have different units, so every column is
    scaled to mean 0 and standard deviation 1. The diagnosis is part of the row names and an
    annotation, which the algorithm does not use.
    """
    bunch = load_breast_cancer()
    diagnoses = [str(name) for name in bunch.target_names[bunch.target]]
    rows = [f"{diagnosis}_{i}" for i, diagnosis in enumerate(diagnoses)]
    columns = [str(name) for name in bunch.feature_names]
    # Each of ten properties was measured as a mean, as its error and in the worst nuclei.
    statistics = [
        "error" if name.endswith("error") else name.partition(" ")[0] for name in columns
    ]
    return Matrix(
        zscore(bunch.data),
        tuple(rows),
        tuple(columns),
        (
            "569 breast tumours (rows) and 30 measurements of their cell nuclei (columns).",
            "Every measurement was scaled to mean 0 and standard deviation 1.",
        ),
        pd.DataFrame({"diagnosis": diagnoses}, rows),
        pd.DataFrame({"statistic": statistics}, columns),
    )


def run_demo(output: Path, seed: int, force: bool, quiet: bool, observer: Observer | None) -> None:
    """Co-cluster the example, write the results and say what was found."""
    matrix = demo_matrix()
    model = ROCCO(random_state=seed)
    names = [*names_in_format("csv", annotated=True), MATRIX_FILE]
    check_replaceable(output, names, source=_INPUT, force=force)
    stages = [*FIT_STAGES, *RESULT_STAGES]
    with staged_folder(output) as folder, command_progress(quiet, stages) as progress:
        if not quiet:
            say_all(matrix.notes)
        progress.of_matrix(*matrix.shape)
        outcome = fit_model(model, matrix, _INPUT, progress.of_fit(observer))
        about = {"input": _INPUT, "matrix": MATRIX_FILE, **outcome}
        with write_errors(output):
            write = result_writer("csv")
            write_results(model, EncodedInput(matrix), about, folder, write, progress)
            write_matrix(folder / MATRIX_FILE, matrix)
    if quiet:
        return
    for line in _describe(model, matrix):
        tell(line)
    tell(f"Open {output / REPORT_FILE} in a browser; tables and heatmap.png are beside it.")
    tell(f"To fit the same data from a file: pyrocco fit {output / MATRIX_FILE} -o my-output")


def _describe(model: ROCCO, matrix: Matrix) -> list[str]:
    """Describe the clusters in plain words."""
    rows = counted(model.n_row_clusters_, "cluster")
    columns = counted(model.n_column_clusters_, "cluster")
    diagnoses = np.array([name.split("_")[0] for name in matrix.row_names])
    lines = [
        f"Found {rows} of tumours and {columns} of measurements; neither number was given.",
        "Clusters of tumours, compared with the diagnosis, which was not used:",
    ]
    for cluster in range(model.n_row_clusters_):
        counts = Counter(diagnoses[model.row_labels_ == cluster].tolist())
        lines.append(
            f"  cluster {cluster}: {counts['malignant']} malignant, {counts['benign']} benign"
        )
    lines.append("Clusters of measurements:")
    for cluster in range(model.n_column_clusters_):
        names = np.array(matrix.column_names)[model.column_labels_ == cluster]
        lines.append(f"  cluster {cluster}: {', '.join(names)}")
    return lines
