"""The one home of anndata: .h5ad files of single-cell programs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from pyrocco.io.annotated import as_categories
from pyrocco.io.errors import MatrixError
from pyrocco.io.extras import extra
from pyrocco.io.matrix import Matrix, named_matrix
from pyrocco.io.request import Request

__all__ = ["import_anndata", "read_h5ad", "write_h5ad"]


def import_anndata() -> tuple[Any, Any]:
    """Import anndata and the h5py that comes with it, or say how to get them.

    Returns
    -------
    anndata, h5py : module

    Raises
    ------
    MissingExtraError
        They are not installed.

    Examples
    --------
    >>> [module.__name__ for module in import_anndata()]
    ['anndata', 'h5py']
    """
    with extra("anndata", "AnnData files (.h5ad)"):
        import anndata  # noqa: PLC0415 - the one home of an optional package
        import h5py  # noqa: PLC0415
    return anndata, h5py


def read_h5ad(path: Path, request: Request) -> Matrix:
    """Read the matrix of an AnnData file; nothing else of the file is loaded.

    Parameters
    ----------
    path : Path
        A .h5ad file.
    request : Request
        Options; those used are ``layer`` and ``raw``.

    Returns
    -------
    Matrix
        Observations (cells) are rows, variables (genes) are columns.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.h5ad"
    ...     write_h5ad(path, Matrix(np.eye(2), ("c1", "c2"), ("TP53", "MYC")), {}, {}, {})
    ...     matrix = read_h5ad(path, Request())
    >>> matrix.column_names, matrix.X.tolist()
    (('TP53', 'MYC'), [[1.0, 0.0], [0.0, 1.0]])
    """
    anndata, h5py = import_anndata()
    if request.raw and request.layer is not None:
        raise MatrixError(f"{path}: ask for a layer or for raw, not for both")
    try:
        file = h5py.File(path)
    except OSError as error:
        raise MatrixError(f"{path}: is not an AnnData file, or is damaged") from error
    with file:
        place = _place(file, request, path)
        X = anndata.io.read_elem(file[place])
        rows = _names(file["obs"])
        columns = _names(file["raw/var" if request.raw else "var"])
        notes = [
            "An AnnData file: observations (cells) are rows, variables (genes) are columns.",
            _about(file, place),
        ]
    return named_matrix(X, rows, columns, notes, str(path))


def _names(table: Any) -> list[str]:
    """Names of observations or variables, without the rest of their table."""
    anndata, _ = import_anndata()
    return [str(name) for name in anndata.io.read_elem(table[table.attrs["_index"]])]


def _place(file: Any, request: Request, path: Path) -> str:
    """Where in the file the wanted matrix is."""
    place = "X"
    if request.raw:
        place = "raw/X"
    elif request.layer is not None:
        place = f"layers/{request.layer}"
    if "obs" not in file or "_index" not in file["obs"].attrs:
        raise MatrixError(
            f"{path}: is an HDF5 file, but not as anndata writes it today; open it there and "
            "save it again"
        )
    # anndata also writes that there is nothing.
    if place not in file or file[place].attrs.get("encoding-type") == "null":
        wanted = f'no layer "{request.layer}"' if request.layer is not None else f"no {place}"
        raise MatrixError(
            f"{path}: has {wanted}; it has {', '.join(_matrices(file)) or 'nothing'}"
        )
    return place


def _matrices(file: Any) -> list[str]:
    main = ["X"] if "X" in file and file["X"].attrs.get("encoding-type") != "null" else []
    layers = [f'layer "{name}"' for name in file.get("layers", {})]
    return [*main, *layers, *(["raw"] if "raw/X" in file else [])]


def _about(file: Any, place: str) -> str:
    kind, _, name = place.partition("/")
    used = {"X": "X", "raw": "raw"}.get(kind, f'layer "{name}"')
    others = [other for other in _matrices(file) if other != used]
    left = f"; the file also has {', '.join(others)}" if others else ""
    return f"Used: {used}{left}."


def write_h5ad(
    path: Path, matrix: Matrix, obs: dict[str, Any], var: dict[str, Any], uns: dict[str, Any]
) -> None:
    """Write a matrix and what was found out about its rows and columns.

    Parameters
    ----------
    path : Path
        Where to.
    matrix : Matrix
        Numbers and names.
    obs, var : dict
        Labels of rows and of columns, by the name of their column; they become categories.
    uns : dict
        What belongs to the whole.

    Examples
    --------
    >>> import tempfile
    >>> import anndata
    >>> import numpy as np
    >>> matrix = Matrix(np.eye(2), ("c1", "c2"), ("TP53", "MYC"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_h5ad(Path(folder) / "a.h5ad", matrix, {"rocco": [0, 1]}, {}, {})
    ...     anndata.read_h5ad(Path(folder) / "a.h5ad").obs["rocco"].tolist()
    ['0', '1']
    """
    anndata, _ = import_anndata()
    with warnings.catch_warnings():
        # Names that occur twice are no reason to trouble the user here.
        warnings.simplefilter("ignore", UserWarning)
        data = anndata.AnnData(
            matrix.X,
            obs=_labels(obs, matrix.row_names),
            var=_labels(var, matrix.column_names),
            uns=uns,
        )
        data.write_h5ad(path)


def _labels(columns: dict[str, Any], names: tuple[str, ...]) -> pd.DataFrame:
    categories = {name: as_categories(labels) for name, labels in columns.items()}
    return pd.DataFrame(categories, index=pd.Index(names, dtype=object))
