"""Options that commands share, with their help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__ = [
    "AsJson",
    "Metric",
    "NClusters",
    "OutputFormat",
    "Quiet",
    "Seed",
    "Variant",
    "parse_n_clusters",
]


class Metric(StrEnum):
    """Distances between rows and between columns."""

    auto = "auto"
    euclidean = "euclidean"
    manhattan = "manhattan"
    cosine = "cosine"


class Variant(StrEnum):
    """Forms of the algorithm."""

    refined = "refined"
    paper = "paper"


class OutputFormat(StrEnum):
    """Forms of the results."""

    csv = "csv"
    parquet = "parquet"
    h5ad = "h5ad"


def parse_n_clusters(text: str) -> int | tuple[int | None, int | None] | None:
    """Understand ``auto``, ``4``, ``4,3`` and ``4,auto``.

    Parameters
    ----------
    text : str
        What the user wrote.

    Returns
    -------
    None, int or pair
        As `ROCCO` takes it.

    Examples
    --------
    >>> parse_n_clusters("4"), parse_n_clusters("4,auto"), parse_n_clusters("auto")
    (4, (4, None), None)
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 2 or not all(part == "auto" or part.isdecimal() for part in parts):
        raise typer.BadParameter(
            f"write 4 for both rows and columns, 4,3 for each, or auto, not '{text}'",
            param_hint="--n-clusters",
        )
    numbers = [None if part == "auto" else int(part) for part in parts]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else numbers[0]


NClusters = Annotated[
    str,
    typer.Option(
        metavar="N|ROWS,COLUMNS",
        help="Numbers of clusters: 4, or 4,3 for rows and columns, or auto to find them.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the summary as JSON, and nothing else but progress.")
]
