"""Writing results so that a stop never leaves half a file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from scipy import sparse

from pyrocco.io.matrix import Matrix

__all__ = ["OutputError", "staged_folder", "write_matrix"]


class OutputError(OSError):
    """The folder for the results cannot be written to; the message says why, in one line.

    Examples
    --------
    >>> raise OutputError("results: is a file, not a folder")
    Traceback (most recent call last):
    pyrocco.io.write.OutputError: results: is a file, not a folder
    """


@contextmanager
def staged_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Collect files in a hidden folder and move them into place when all are complete.

    Parameters
    ----------
    folder : str or path
        Where the files end up; made if it is not there. Entering fails where it cannot be
        written to, before any work is done.

    Yields
    ------
    Path
        Write the files here. After an exception they are thrown away and `folder` keeps what
        it had.

    Raises
    ------
    OutputError
        The folder cannot be made or written to.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with staged_folder(Path(parent) / "out") as stage:
    ...         _ = (stage / "answer.txt").write_text("42")
    ...     sorted(path.name for path in (Path(parent) / "out").iterdir())
    ['answer.txt']
    """
    folder = Path(folder)
    is_new = not folder.exists()
    stage = _make_stage(folder)
    try:
        yield stage
        for path in sorted(stage.iterdir()):
            _move(path, folder / path.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if is_new and not any(folder.iterdir()):
            folder.rmdir()


def _move(path: Path, target: Path) -> None:
    """Replace what is there; no system puts a folder in the place of a full one or of a file."""
    if target.is_dir():
        shutil.rmtree(target)
    elif path.is_dir():
        target.unlink(missing_ok=True)
    path.replace(target)


def _make_stage(folder: Path) -> Path:
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file, not a folder to write results to")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=".pyrocco-", dir=folder))
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot write results to this folder: {error.strerror}"
        ) from error


def write_matrix(path: Path, matrix: Matrix) -> None:
    """Write a matrix with its names, so that `read_matrix` gives it back.

    Parameters
    ----------
    path : Path
        A CSV file.
    matrix : Matrix
        Numbers and names.

    Examples
    --------
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "matrix.csv"
    ...     write_matrix(path, Matrix(np.eye(2), ("a", "b"), ("x", "y")))
    ...     path.read_text().split()
    [',x,y', 'a,1.0,0.0', 'b,0.0,1.0']
    """
    X = matrix.X.toarray() if sparse.issparse(matrix.X) else matrix.X
    table = pd.DataFrame(X, index=list(matrix.row_names), columns=list(matrix.column_names))
    table.to_csv(path)
