"""Read NumPy and SciPy files, which hold no names."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile
from scipy import sparse

from pyrocco._typing import Matrix as Values
from pyrocco.cells.inspection import machine_memory
from pyrocco.io.errors import MatrixError, damage_errors
from pyrocco.io.named_matrix import Matrix, check_index_types, named_matrix

__all__ = ["read_npy", "read_npz"]


def read_npy(path: Path) -> Matrix:
    """Read a two-dimensional array saved by ``numpy.save``."""
    with damage_errors(f"{path}: is not a NumPy array of numbers, or is damaged"):
        X = np.load(path, allow_pickle=False)
        if not isinstance(X, np.ndarray):  # an archive with the wrong ending
            X.close()
            raise MatrixError(f"{path}: is an archive of arrays; rename it to end in .npz")
    return _nameless(X, path, f"A NumPy array of {X.dtype}, without names.")


def read_npz(path: Path) -> Matrix:
    """Read a matrix saved by ``scipy.sparse.save_npz``, or the one 2-D array of an archive."""
    with damage_errors(f"{path}: is not a NumPy or SciPy archive of numbers, or is damaged"):
        _check_unpacked_size(path)
        with np.load(path, allow_pickle=False) as archive:
            if "format" not in archive.files:
                return _only_matrix(archive, path)
            check_index_types(archive, str(path))
        X = sparse.load_npz(path)
        note = f"A sparse matrix with {X.nnz} stored values of {X.dtype}, without names."
        return _nameless(X, path, note)


def _check_unpacked_size(path: Path) -> None:
    """Refuse an archive whose arrays are larger than the memory of this machine."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    available = machine_memory()
    if available is not None and size > available:
        raise MatrixError(
            f"{path}: holds {size / 1e9:.1f} GB of arrays, but this machine has only "
            f"{available / 1e9:.1f} GB of memory"
        )


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
