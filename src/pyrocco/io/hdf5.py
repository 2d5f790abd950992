"""The one home of h5py: matrices and names in .h5ad files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pyrocco._typing import Dense
from pyrocco.io.errors import MatrixError
from pyrocco.io.isolated import Parts

if TYPE_CHECKING:
    import h5py

__all__ = ["list_matrices", "load_annotations", "load_h5ad"]

# A dataset may claim to be this many times as large as its file, or of this many bytes: more
# than any compression achieves.
_MOST_COMPRESSION = 5000
_LEAST_CLAIM = 64 << 20
_ELSEWHERE = "refers to values in another file, which are not read"


def load_h5ad(path: Path, layer: str | None, raw: bool) -> Parts:
    """Load X, a layer or raw of an AnnData file, and the names of its rows and columns.

    The arrays are ``values`` of a dense matrix, or ``data``, ``indices`` and ``indptr`` of a
    sparse one, whose format and shape are in ``about``. They are not checked.
    """
    import h5py  # noqa: PLC0415 - an optional package

    with h5py.File(path) as file:
        key = _matrix_key(file, layer, raw, path)
        about = {
            "rows": _names(_part(file, "obs", path), path),
            "columns": _names(_part(file, "raw/var" if raw else "var", path), path),
            "used": _about(file, key),
        }
        entry = _part(file, key, path)
        if isinstance(entry, h5py.Dataset):
            return Parts({**about, "format": "dense"}, {"values": _numbers(entry, path)})
        kind = str(entry.attrs.get("encoding-type"))
        if kind not in ("csr_matrix", "csc_matrix"):
            raise MatrixError(
                f'{path}: its matrix {key} is stored as "{kind}"; an array, a CSR or a CSC '
                "matrix is needed"
            )
        names = ("data", "indices", "indptr")
        arrays = {name: _numbers(_part(entry, name, path), path) for name in names}
        shape = [int(size) for size in entry.attrs["shape"]]
        return Parts({**about, "format": kind[:3], "shape": shape}, arrays)


def load_annotations(path: Path, wanted: Sequence[str]) -> Parts:
    """Load some columns of obs and of var, and the names of all.

    Texts are lists in ``about``, numbers are arrays; columns that a table does not have are
    left out.
    """
    import h5py  # noqa: PLC0415 - an optional package

    about: dict[str, Any] = {"obs": {}, "var": {}, "known": []}
    arrays: dict[str, Dense] = {}
    with h5py.File(path) as file:
        for table in ("obs", "var"):
            known = [str(name) for name in _part(file, table, path).attrs["column-order"]]
            about["known"] += known
            for name in (name for name in wanted if name in known):
                column = pd.Series(_element(_part(file, f"{table}/{name}", path), path))
                is_text = not pd.api.types.is_numeric_dtype(column) or column.dtype.kind == "b"
                about[table][name] = _texts(column) if is_text else None
                if not is_text:
                    arrays[f"{table}/{name}"] = column.to_numpy(dtype=float, na_value=np.nan)
    return Parts(about, arrays)


def _texts(column: pd.Series[Any]) -> list[str | None]:
    missing = column.isna().to_list()
    return [None if out else str(text) for text, out in zip(column, missing, strict=True)]


def _part(group: h5py.Group, key: str, path: Path) -> Any:
    """Return an entry of a file; entries that lie in other files are refused."""
    entry = group[key]
    if entry.file.filename != group.file.filename:
        raise MatrixError(f"{path}: {_ELSEWHERE}")
    return entry


def _element(entry: Any, path: Path) -> Any:
    """Read a column or an index as anndata does, unless a part of it lies in other files."""
    import anndata  # noqa: PLC0415 - slow to import, and seldom needed

    _check_parts(entry, path)
    return anndata.io.read_elem(entry)


def _check_parts(entry: Any, path: Path) -> None:
    if hasattr(entry, "is_virtual"):  # a dataset
        _check_own(entry, path)
        return
    for key in entry:  # such as the codes and the categories of a column
        _check_parts(_part(entry, key, path), path)


def _numbers(dataset: h5py.Dataset, path: Path) -> Dense:
    """Read a dataset, unless it holds no numbers or lies in other files."""
    _check_own(dataset, path)
    if dataset.dtype.kind not in "biuf":
        raise MatrixError(
            f"{path}: holds values of type {dataset.dtype}, but a matrix of real numbers is needed"
        )
    return np.asarray(dataset[()])


def _check_own(dataset: h5py.Dataset, path: Path) -> None:
    if dataset.external or dataset.is_virtual:
        raise MatrixError(f"{path}: {_ELSEWHERE}")
    claimed = math.prod(dataset.shape or ()) * dataset.dtype.itemsize
    if claimed > max(_MOST_COMPRESSION * path.stat().st_size, _LEAST_CLAIM):
        raise MatrixError(
            f"{path}: is damaged: {dataset.name} claims to hold {claimed / 1e9:.3g} GB, which "
            "a file of this size cannot"
        )


def _names(table: h5py.Group, path: Path) -> list[str]:
    """Read the names of observations or variables without the rest of their table."""
    entry = _part(table, str(table.attrs["_index"]), path)
    if not hasattr(entry, "asstr"):  # not plain texts, but categories or texts with a mask
        return [str(name) for name in _element(entry, path)]
    _check_own(entry, path)
    values = entry.asstr(errors="replace") if entry.dtype.kind in "OS" else entry
    return [str(name) for name in values[()]]


def _matrix_key(file: h5py.File, layer: str | None, raw: bool, path: Path) -> str:
    """Return the key of the requested matrix in the file."""
    key = "X" if layer is None else f"layers/{layer}"
    key = "raw/X" if raw else key
    if "obs" not in file or "_index" not in file["obs"].attrs:
        raise MatrixError(
            f"{path}: is an HDF5 file, but not in the current format of anndata; open it "
            "with anndata and save it again"
        )
    # anndata writes an entry even if there is no matrix.
    if key not in file or file[key].attrs.get("encoding-type") == "null":
        wanted = f'layer "{layer}"' if layer is not None else key
        listed = ", ".join(_stored_matrices(file)) or "nothing"
        raise MatrixError(f"{path}: has no {wanted}; it has {listed}")
    return key


def _stored_matrices(file: h5py.File) -> list[str]:
    has_x = "X" in file and file["X"].attrs.get("encoding-type") != "null"
    return list_matrices(has_x, file.get("layers", {}), "raw/X" in file)


def list_matrices(has_x: bool, layers: Iterable[str | None], has_raw: bool) -> list[str]:
    """Return what the matrices of an AnnData object are called in messages.

    From anndata 0.13 on, X is also the layer None.
    """
    named = [f'layer "{name}"' for name in layers if name is not None]
    return [*["X"] * has_x, *named, *["raw"] * has_raw]


def _about(file: h5py.File, key: str) -> str:
    kind, _, name = key.partition("/")
    used = {"X": "X", "raw": "raw"}.get(kind, f'layer "{name}"')
    others = [other for other in _stored_matrices(file) if other != used]
    rest = f"; the file also has {', '.join(others)}" if others else ""
    return f"Used: {used}{rest}."
