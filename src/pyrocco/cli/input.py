"""Read and prepare the matrix of a command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pyrocco.cells.inspection import Advice
from pyrocco.cells.preparation import learn_preparations
from pyrocco.cli.options import PrepareOptions, ReadOptions
from pyrocco.cli.terminal import reading_bar, warnings_as_lines
from pyrocco.io import Matrix, MatrixError, read_matrix

__all__ = ["check_some_values", "describe_advice", "prepare_matrix", "read_file"]


def read_file(path: Path, options: ReadOptions, quiet: bool) -> Matrix:
    """Read the matrix in a file, with a progress bar if that takes long."""
    with reading_bar(quiet) as watch, warnings_as_lines():
        matrix = read_matrix(
            path,
            layer=options.layer,
            raw=options.raw,
            sheet=options.sheet,
            layout=str(options.layout),
            absent=None if options.absent is None else str(options.absent),
            watch=watch,
        )
    if not options.transpose:
        return matrix
    return matrix.transpose().noting("Then rows and columns were swapped.")


def check_some_values(matrix: Matrix, path: Path) -> None:
    """Refuse a matrix in which every value is missing."""
    n_cells = matrix.shape[0] * matrix.shape[1]
    if matrix.n_missing == n_cells:
        raise MatrixError(
            f"{path}: all {n_cells} cells are missing values, so there is nothing to cluster: "
            "check whether the file was read as you meant it"
        )


def prepare_matrix(
    matrix: Matrix, options: PrepareOptions, source: Path
) -> tuple[Matrix, dict[str, Any]]:
    """Prepare a matrix, and return what is needed to prepare other rows in the same way."""
    if not options.names:
        return matrix, {}
    try:
        X, learned = learn_preparations(matrix.X, options.names)
    except ValueError as error:
        raise MatrixError(f"{source}: {error}") from error
    note = f"Values were prepared: {', '.join(options.names)}."
    return replace(matrix, X=X).noting(note), learned


def describe_advice(advice: Advice) -> str:
    """Describe a recommendation in words, with the options that follow it."""
    steps = (*(["transpose"] if advice.transpose else []), *advice.steps)
    options = " ".join(f"--{step}" for step in steps)
    recommended = (
        f"Recommended (not applied): {options}."
        if options
        else "No preparation seems to be needed."
    )
    return f"Values: {advice.kind}. {recommended} {advice.reason}"
