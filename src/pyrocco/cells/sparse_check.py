"""A check of the indices of sparse matrices, before compiled code follows them.

SciPy checks little of a sparse matrix that is made from arrays, and nothing of one whose arrays
were changed afterwards. Compiled code, SciPy's own conversions included, reads and writes
wherever the indices point to, so a damaged matrix would end the interpreter.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NoReturn

import numpy as np

from pyrocco._typing import Dense

_ROW, _COLUMN = "row", "column"


def check_sparse_indices(X: Any) -> None:
    """Raise a ValueError unless all indices of a sparse matrix of SciPy lie within its shape.

    Takes every format. Repeated and unsorted indices are allowed, as in SciPy.

    Parameters
    ----------
    X : sparse matrix or sparse array of SciPy
        The matrix, in the format in which it was given: SciPy's conversions follow the
        indices too.

    Examples
    --------
    >>> from scipy import sparse
    >>> X = sparse.csr_array(np.eye(3))
    >>> check_sparse_indices(X)
    >>> X.indices[1] = 7
    >>> check_sparse_indices(X)
    Traceback (most recent call last):
    ...
    ValueError: the sparse matrix is damaged: column index 7 in row 1, but it has 3 columns.
    """
    if len(X.shape) != 2:
        axes = "axis" if len(X.shape) == 1 else "axes"
        raise ValueError(f"a matrix has rows and columns; this has {len(X.shape)} {axes}.")
    _CHECKS[X.format](X)


def _check_csr(X: Any) -> None:
    _check_compressed(X, X.shape, (_ROW, _COLUMN))
    _check_lengths(X.indices, X.data, "column indices")


def _check_csc(X: Any) -> None:
    _check_compressed(X, X.shape[::-1], (_COLUMN, _ROW))
    _check_lengths(X.indices, X.data, "row indices")


def _check_bsr(X: Any) -> None:
    if np.ndim(X.data) != 3:
        _refuse(f"its blocks are an array of {np.ndim(X.data)} axes instead of 3")
    height, width = np.shape(X.data)[1:]
    if height < 1 or width < 1 or X.shape[0] % height or X.shape[1] % width:
        _refuse(f"blocks of shape {(height, width)} do not divide its shape {X.shape}")
    blocks = X.shape[0] // height, X.shape[1] // width
    _check_compressed(X, blocks, (f"block {_ROW}", f"block {_COLUMN}"))
    _check_lengths(X.indices, X.data, "block indices")


def _check_coo(X: Any) -> None:
    for indices, size, side in ((X.row, X.shape[0], _ROW), (X.col, X.shape[1], _COLUMN)):
        _check_integers(indices, f"{side} indices")
        _check_lengths(indices, X.data, f"{side} indices")
        _check_range(indices, size, side)


def _check_dia(X: Any) -> None:
    _check_integers(X.offsets, "offsets of the diagonals")
    if np.ndim(X.data) != 2:
        _refuse(f"its diagonals are an array of {np.ndim(X.data)} axes instead of 2")
    _check_lengths(X.offsets, X.data, "offsets")


def _check_lil(X: Any) -> None:
    if not np.shape(X.rows) == np.shape(X.data) == (X.shape[0],):
        _refuse(f"it has lists for {len(X.rows)} rows, but {X.shape[0]} rows")
    lengths = np.fromiter(map(len, X.rows), np.intp, len(X.rows))
    differ = np.flatnonzero(lengths != np.fromiter(map(len, X.data), np.intp, len(X.data)))
    if len(differ):
        row = differ[0]
        _refuse(f"row {row} has {lengths[row]} column indices, but {len(X.data[row])} values")
    indices = np.array(list(chain.from_iterable(X.rows)))
    _check_integers(indices, "column indices")
    _check_range(indices, X.shape[1], _COLUMN, (np.r_[0, np.cumsum(lengths)], _ROW))


def _check_dok(X: Any) -> None:
    keys = np.array(list(X.keys())).reshape(-1, 2)
    for indices, size, side in zip(keys.T, X.shape, (_ROW, _COLUMN), strict=True):
        _check_integers(indices, f"{side} indices")
        _check_range(indices, size, side)


_CHECKS = {
    "bsr": _check_bsr,
    "coo": _check_coo,
    "csc": _check_csc,
    "csr": _check_csr,
    "dia": _check_dia,
    "dok": _check_dok,
    "lil": _check_lil,
}


def _check_compressed(X: Any, shape: tuple[int, int], sides: tuple[str, str]) -> None:
    """Check pointers and indices, where `shape` and `sides` name the compressed side first."""
    pointers, indices = X.indptr, X.indices
    _check_integers(pointers, "row pointers" if _ROW in sides[0] else "column pointers")
    _check_integers(indices, f"{sides[1]} indices")
    if len(pointers) != shape[0] + 1:
        _refuse(f"{len(pointers)} pointers (indptr) for {shape[0]} {sides[0]}s")
    if pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any():
        _refuse(f"its pointers (indptr) to {sides[0]}s do not start at 0 or are not ascending")
    if pointers[-1] > len(indices):
        _refuse(f"its pointers (indptr) end at {pointers[-1]} of {len(indices)} indices")
    _check_range(indices[: pointers[-1]], shape[1], sides[1], (pointers, sides[0]))


def _check_integers(indices: Dense, name: str) -> None:
    if not isinstance(indices, np.ndarray) or indices.ndim != 1:
        _refuse(f"its {name} are not an array with one axis")
    if len(indices) and indices.dtype.kind not in "iu":
        _refuse(f"its {name} are not integers but {indices.dtype}")


def _check_lengths(indices: Dense, values: Dense, name: str) -> None:
    if len(indices) != len(values):
        _refuse(f"it has {len(indices)} {name}, but {len(values)} values")


def _check_range(
    indices: Dense, size: int, side: str, owners: tuple[Dense, str] | None = None
) -> None:
    """Check that indices are from 0 to `size` - 1; `owners` are the pointers of the other side."""
    if not len(indices) or (indices.min() >= 0 and indices.max() < size):
        return
    wrong = int(np.flatnonzero((indices < 0) | (indices >= size))[0])
    where = ""
    if owners is not None:
        pointers, name = owners
        where = f" in {name} {np.searchsorted(pointers, wrong, side='right') - 1}"
    _refuse(f"{side} index {indices[wrong]}{where}, but it has {size} {side}s")


def _refuse(reason: str) -> NoReturn:
    raise ValueError(f"the sparse matrix is damaged: {reason}.")
