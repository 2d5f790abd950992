"""Read the matrix of a command, and say what its cells are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyrocco.cli.options import ReadOptions
from pyrocco.cli.progress_bar import CommandProgress
from pyrocco.cli.terminal import warnings_as_lines
from pyrocco.io import Matrix, MatrixError, read_matrix
from pyrocco.io.annotations import set_aside
from pyrocco.io.read import table_options
from pyrocco.texts import Words

__all__ = ["check_some_values", "describe_cells", "read_file"]

_OTHER_PREPARATION = "If they are something else, use --prepare none, zscore or another name."


def read_file(
    path: Path,
    options: ReadOptions,
    progress: CommandProgress,
    annotate: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> Matrix:
    """Read the matrix in a file.

    The columns that `annotate` names become annotations of the rows. `columns` are the names of
    columns that hold data, if that is known.
    """
    known = {"columns": columns} if columns else {}
    with warnings_as_lines():
        matrix = read_matrix(
            path,
            layer=options.layer,
            raw=options.raw,
            sheet=options.sheet,
            **(options.table | known),
            watch=progress.watch,
        )
    if annotate:
        matrix = set_aside(matrix, path, annotate, table_options(**options.table), options.sheet)
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


def describe_cells(kind: str, sentence: str, *, is_guess: bool, words: Words) -> str:
    """Say what the cells are and how a fit prepares them; a guess names the other choice."""
    other = f" {_OTHER_PREPARATION}" if is_guess else ""
    return words.translated(f"Cells: {kind}. {sentence}{other}")
