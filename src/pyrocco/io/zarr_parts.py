"""A matrix in a Zarr store: rows are read as they lie there, a chunk at a time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pyrocco.io.checks import check_numbers
from pyrocco.io.errors import MatrixError
from pyrocco.io.extras import extra
from pyrocco.io.matrix import default_names
from pyrocco.io.parts import Parts, text_array

__all__ = ["import_zarr", "zarr_parts"]

_NAMES = {"row_names": 0, "column_names": 1}


def import_zarr() -> Any:
    """Import zarr, or say how to get it.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        It is not installed.

    Examples
    --------
    >>> import_zarr().__name__
    'zarr'
    """
    with extra("cluster", "Zarr stores"):
        import zarr  # noqa: PLC0415 - the one home of an optional package
    return zarr


def zarr_parts(path: Path) -> Parts:
    """Look at a Zarr store without reading its numbers.

    Parameters
    ----------
    path : Path
        An array of two dimensions, or a group with such an array called ``X`` and, where there
        are names, arrays called ``row_names`` and ``column_names``.

    Returns
    -------
    Parts
        One part for each chunk of rows.

    Raises
    ------
    MatrixError
        There is no such array in the store, or its shape is not that of a matrix.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "counts.zarr"
    ...     array = import_zarr().open(path, mode="w", shape=(5, 3), chunks=(2, 3), dtype="f4")
    ...     parts = zarr_parts(path)
    >>> parts.n_rows, parts.dtype
    ((2, 2, 1), dtype('float32'))
    """
    store = _open(path)
    X = _matrix(store, path)
    named = _named(store, X.shape, path)
    # A part of the store that is read as a whole: newer stores keep several chunks in one file.
    step = (getattr(X, "shards", None) or X.chunks)[0]
    edges = [*range(0, X.shape[0], step), X.shape[0]]
    places = tuple((str(path), start, stop) for start, stop in pairwise(edges))
    columns = store["column_names"][:] if "column_names" in named else None
    return Parts(
        places=places,
        n_rows=tuple(stop - start for _, start, stop in places),
        column_names=default_names("column", X.shape[1])
        if columns is None
        else tuple(text_array(columns)),
        dtype=np.dtype(np.float32 if X.dtype == np.float32 else np.float64),
        how=None,
        read=_read,
        read_names=_read_names if "row_names" in named else None,
        notes=(_about_names(named),),
    )


def _open(path: Path) -> Any:
    zarr = import_zarr()
    try:
        return zarr.open(str(path), mode="r")
    except (OSError, KeyError, ValueError) as error:
        raise MatrixError(f"{path}: is not a Zarr store, or is damaged") from error


def _is_array(node: Any) -> bool:
    return hasattr(node, "chunks")


def _matrix(store: Any, path: Path) -> Any:
    X = store if _is_array(store) else store.get("X")
    if X is None or not _is_array(X):
        raise MatrixError(f'{path}: the group in this Zarr store holds no array called "X"')
    if len(X.shape) != 2:
        raise MatrixError(
            f"{path}: the array has {len(X.shape)} dimension(s), but a matrix has two: rows and "
            "columns"
        )
    if 0 in X.shape:
        raise MatrixError(f"{path}: the matrix is empty ({X.shape[0]} x {X.shape[1]})")
    if np.dtype(X.dtype).kind not in "biuf":
        raise MatrixError(
            f"{path}: holds values of type {X.dtype}, but a matrix of real numbers is needed"
        )
    return X


def _named(store: Any, shape: tuple[int, int], path: Path) -> list[str]:
    """Which names are there, and that there are as many as rows and columns."""
    named = [] if _is_array(store) else [name for name in _NAMES if name in store]
    for name in named:
        wanted = (shape[_NAMES[name]],)
        if store[name].shape != wanted:
            raise MatrixError(
                f"{path}: {name} has the shape {store[name].shape}, but the matrix needs {wanted}"
            )
    return named


def _about_names(named: list[str]) -> str:
    kinds = " and ".join(name.replace("_", " ") for name in named)
    return f"The store holds {kinds}." if named else "The store holds no names."


def _read(place: tuple[str, int, int], how: None) -> Any:
    path, start, stop = place
    X = _matrix(_open(Path(path)), Path(path))[start:stop]
    return check_numbers(np.asarray(X), f"{path}, from row {start + 1} to row {stop}")


def _read_names(place: tuple[str, int, int], how: None) -> Any:
    path, start, stop = place
    return text_array(_open(Path(path))["row_names"][start:stop])
