"""Writing results so that a stop never leaves half a file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from pyrocco.io.matrix import Matrix

__all__ = ["OutputError", "staged_folder", "write_block_means", "write_labels", "write_matrix"]


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
            path.replace(folder / path.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if is_new and not any(folder.iterdir()):
            folder.rmdir()


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


def write_labels(path: Path, names: Sequence[str], labels: ArrayLike) -> None:
    """Write one line per row or column: its name and the number of its cluster.

    Parameters
    ----------
    path : Path
        A CSV file.
    names : sequence of str
        Names of the rows or columns.
    labels : array of int
        Their clusters.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "row_labels.csv"
    ...     write_labels(path, ["a", "b"], [0, 1])
    ...     path.read_text().split()
    ['name,label', 'a,0', 'b,1']
    """
    table = pd.DataFrame({"name": list(names), "label": np.asarray(labels, dtype=np.int64)})
    table.to_csv(path, index=False)


def write_block_means(path: Path, block_means: np.ndarray[Any, Any]) -> None:
    """Write the mean of every block, row clusters down and column clusters across.

    Parameters
    ----------
    path : Path
        A CSV file.
    block_means : ndarray of shape (n_row_clusters, n_column_clusters)
        The means.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "block_means.csv"
    ...     write_block_means(path, np.array([[1.0, 2.0]]))
    ...     path.read_text().split()
    ['row_cluster,column_cluster_0,column_cluster_1', '0,1.0,2.0']
    """
    columns = [f"column_cluster_{k}" for k in range(block_means.shape[1])]
    table = pd.DataFrame(block_means, columns=columns)
    table.to_csv(path, index_label="row_cluster")


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
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "matrix.csv"
    ...     write_matrix(path, Matrix(np.eye(2), ("a", "b"), ("x", "y")))
    ...     path.read_text().split()
    [',x,y', 'a,1.0,0.0', 'b,0.0,1.0']
    """
    X = matrix.X.toarray() if sparse.issparse(matrix.X) else matrix.X
    table = pd.DataFrame(X, index=list(matrix.row_names), columns=list(matrix.column_names))
    table.to_csv(path)
