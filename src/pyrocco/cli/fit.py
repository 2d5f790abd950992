"""``pyrocco fit``: read a matrix, co-cluster it, write the results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pyrocco import ROCCO
from pyrocco.cli.messages import count, say_all, tell
from pyrocco.cli.options import Metric, NClusters, Quiet, Seed, Variant, parse_n_clusters
from pyrocco.cli.results import RESULTS, fit_and_write
from pyrocco.io import read_matrix, staged_folder

__all__ = ["fit"]


def fit(
    matrix: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, .npz (SciPy sparse or NumPy), .npy or .mtx.", metavar="MATRIX"
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the results.", metavar="OUT")
    ],
    n_neighbors: Annotated[
        int, typer.Option(min=1, help="Neighbours of each row and column in the graphs.")
    ] = 10,
    metric: Annotated[
        Metric,
        typer.Option(
            help="Distance between rows and between columns; auto: cosine for mostly zeros."
        ),
    ] = Metric.auto,
    variant: Annotated[
        Variant, typer.Option(help="Refined, or the paper's algorithm to the letter.")
    ] = Variant.refined,
    n_clusters: NClusters = "auto",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Find groups of rows and groups of columns of MATRIX.

    Writes row_labels.csv, column_labels.csv, block_means.csv, summary.json and heatmap.png.
    """
    model = ROCCO(
        parse_n_clusters(n_clusters),
        n_neighbors=n_neighbors,
        metric=metric.value,
        variant=variant.value,
        random_state=seed,
        verbose=0 if quiet else 1,
    )
    data = read_matrix(matrix)
    with staged_folder(output) as folder:
        if not quiet:
            say_all(data.notes)
        fit_and_write(model, data, str(matrix), folder)
    if not quiet:
        rows = count(model.n_row_clusters_, "cluster")
        columns = count(model.n_column_clusters_, "cluster")
        tell(f"Found {rows} of rows and {columns} of columns.")
        tell(f"Results are in {output}: {', '.join(RESULTS)}")
