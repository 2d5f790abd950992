"""One function that reads any supported file by the end of its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from pyrocco.io.arrays import read_matrix_market, read_npy, read_npz
from pyrocco.io.matrix import Matrix, MatrixError
from pyrocco.io.text import read_text

__all__ = ["READERS", "read_matrix"]

READERS: dict[str, Callable[[Path], Matrix]] = {
    ".csv": read_text,
    ".tsv": read_text,
    ".txt": read_text,
    ".csv.gz": read_text,
    ".tsv.gz": read_text,
    ".txt.gz": read_text,
    ".npy": read_npy,
    ".npz": read_npz,
    ".mtx": read_matrix_market,
    ".mtx.gz": read_matrix_market,
}


def read_matrix(path: str | os.PathLike[str]) -> Matrix:
    r"""Read a matrix from a file.

    Parameters
    ----------
    path : str or path
        CSV, TSV or TXT (comma, tab or semicolon; header and row names are detected), .npy,
        .npz (scipy sparse, or one two-dimensional array) or .mtx (Matrix Market). Text and
        Matrix Market files may be compressed with gzip.

    Returns
    -------
    Matrix
        The numbers, the names of rows and columns, and notes about what was detected.

    Raises
    ------
    MatrixError
        The file is not there, cannot be read, or holds no matrix of finite numbers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "counts.csv"
    ...     _ = path.write_text("gene,liver,heart\nTP53,5,0\nMYC,1,7\n")
    ...     matrix = read_matrix(path)
    >>> matrix.X
    array([[5., 0.],
           [1., 7.]])
    >>> matrix.row_names, matrix.column_names
    (('TP53', 'MYC'), ('liver', 'heart'))
    >>> print(*matrix.notes, sep="\n")
    Cells are separated by commas.
    The first line holds the column names.
    The first column ("gene") holds the row names.
    The matrix has 2 rows and 2 columns.
    """
    path = Path(path)
    _check_file(path)
    reader = _reader(path)
    try:
        return reader(path)
    except OSError as error:
        raise MatrixError(f"{path}: cannot be read: {error.strerror or error}") from error


def _reader(path: Path) -> Callable[[Path], Matrix]:
    name = path.name.lower()
    for ending, reader in READERS.items():
        if name.endswith(ending):
            return reader
    known = " ".join(ending for ending in READERS if not ending.endswith(".gz"))
    raise MatrixError(
        f"{path}: do not know how to read a {path.suffix or 'file without an ending'}"
        f"{' file' if path.suffix else ''}; these endings are known: {known}"
    )


def _check_file(path: Path) -> None:
    if not path.exists():
        raise MatrixError(f"{path}: there is no such file")
    if path.is_dir():
        raise MatrixError(f"{path}: is a folder, not a file")
    if path.stat().st_size == 0:
        raise MatrixError(f"{path}: the file is empty")
