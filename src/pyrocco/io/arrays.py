"""Readers for NumPy, SciPy and Matrix Market files, which carry no names."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmread

from pyrocco.io.errors import MatrixError
from pyrocco.io.matrix import Matrix, named_matrix
from pyrocco.io.request import Request

__all__ = ["load_matrix_market", "read_npy", "read_npz"]

_BROKEN = (ValueError, EOFError, KeyError, TypeError, zipfile.BadZipFile)


def read_npy(path: Path, request: Request) -> Matrix:
    """Read a two-dimensional array saved by ``numpy.save``.

    Parameters
    ----------
    path : Path
        A .npy file.
    request : Request
        Nothing of it is used.

    Returns
    -------
    Matrix

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.npy"
    ...     np.save(path, np.eye(2))
    ...     read_npy(path, Request()).notes
    ('A NumPy array of float64, without names.', 'The matrix has 2 rows and 2 columns.')
    """
    try:
        X = np.load(path, allow_pickle=False)
    except _BROKEN as error:
        raise MatrixError(f"{path}: is not a NumPy array of numbers, or is damaged") from error
    return _nameless(X, path, f"A NumPy array of {X.dtype}, without names.")


def read_npz(path: Path, request: Request) -> Matrix:
    """Read a sparse matrix saved by ``scipy.sparse.save_npz``, or one 2-D array of an archive.

    Parameters
    ----------
    path : Path
        A .npz file. Where it is not a sparse matrix it must hold exactly one two-dimensional
        array; arrays of other shapes beside it are left alone, and the notes say so.
    request : Request
        Nothing of it is used.

    Returns
    -------
    Matrix

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.npz"
    ...     sparse.save_npz(path, sparse.eye_array(3, format="csc"))
    ...     read_npz(path, Request()).notes[0]
    'A sparse matrix with 3 stored values of float64, without names.'
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            if "format" in archive.files:
                X = sparse.load_npz(path)
                return _nameless(X, path, _about_sparse(X))
            return _only_matrix(archive, path)
    except MatrixError:
        raise
    except _BROKEN as error:
        raise MatrixError(
            f"{path}: is not a NumPy or SciPy archive of numbers, or is damaged"
        ) from error


def load_matrix_market(path: Path) -> Any:
    """Load a Matrix Market file, coordinate (sparse) or array (dense).

    Parameters
    ----------
    path : Path
        A .mtx or .mtx.gz file.

    Returns
    -------
    ndarray or coo_array

    Examples
    --------
    >>> import tempfile
    >>> from scipy.io import mmwrite
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.mtx"
    ...     mmwrite(path, sparse.eye_array(3, format="coo"))
    ...     load_matrix_market(path).shape
    (3, 3)
    """
    try:
        return mmread(path)
    except (*_BROKEN, StopIteration, OverflowError) as error:
        raise MatrixError(
            f"{path}: is not a Matrix Market file, or is damaged: {_brief(error)}"
        ) from error


def _only_matrix(archive: Any, path: Path) -> Matrix:
    arrays = {name: archive[name] for name in archive.files}
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    if len(matrices) != 1:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise MatrixError(
            f"{path}: needs exactly one two-dimensional array, but {len(matrices)} were found "
            f"(the file holds {found})"
        )
    (name,) = matrices
    others = [other for other in arrays if other != name]
    note = f'The array "{name}" of {arrays[name].dtype} was used, without names.'
    if others:
        note += f" Left alone: {', '.join(others)}."
    return _nameless(arrays[name], path, note)


def _about_sparse(X: Any) -> str:
    return f"A sparse matrix with {X.nnz} stored values of {X.dtype}, without names."


def _nameless(X: Any, path: Path, note: str) -> Matrix:
    return named_matrix(X, None, None, [note], str(path))


def _brief(error: BaseException) -> str:
    """One line, however many the library wrote."""
    return " ".join(str(error).split()) or type(error).__name__
