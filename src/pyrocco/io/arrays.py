"""Read NumPy and SciPy files, which hold no names."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile
from scipy import sparse

from pyrocco._typing import Matrix as Values
from pyrocco.io.errors import MatrixError
from pyrocco.io.named_matrix import Matrix, named_matrix

__all__ = ["read_npy", "read_npz"]

_DAMAGED = (ValueError, EOFError, KeyError, TypeError, zipfile.BadZipFile)


def read_npy(path: Path) -> Matrix:
    """Read a two-dimensional array saved by ``numpy.save``."""
    try:
        X = np.load(path, allow_pickle=False)
    except _DAMAGED as error:
        raise MatrixError(f"{path}: is not a NumPy array of numbers, or is damaged") from error
    return _nameless(X, path, f"A NumPy array of {X.dtype}, without names.")


def read_npz(path: Path) -> Matrix:
    """Read a matrix saved by ``scipy.sparse.save_npz``, or the one 2-D array of an archive."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            if "format" not in archive.files:
                return _only_matrix(archive, path)
            X = sparse.load_npz(path)
            note = f"A sparse matrix with {X.nnz} stored values of {X.dtype}, without names."
            return _nameless(X, path, note)
    except MatrixError:
        raise
    except _DAMAGED as error:
        raise MatrixError(
            f"{path}: is not a NumPy or SciPy archive of numbers, or is damaged"
        ) from error


def _only_matrix(archive: NpzFile, path: Path) -> Matrix:
    arrays = {name: archive[name] for name in archive.files}
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    if len(matrices) != 1:
        listed = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise MatrixError(
            f"{path}: needs exactly one two-dimensional array, but {len(matrices)} were found "
            f"(the file holds {listed})"
        )
    (name,) = matrices
    others = [other for other in arrays if other != name]
    ignored = f" Ignored: {', '.join(others)}." if others else ""
    note = f'The array "{name}" of {arrays[name].dtype} was used, without names.{ignored}'
    return _nameless(arrays[name], path, note)


def _nameless(X: Values, path: Path, note: str) -> Matrix:
    return named_matrix(X, None, None, [note], str(path))
