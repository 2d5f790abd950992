"""The one home of anndata: .h5ad files of single-cell programs, and AnnData objects in memory."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from pyrocco._typing import Dense, Labels
from pyrocco._typing import Matrix as Values
from pyrocco.io.errors import MatrixError, check_extra, extra
from pyrocco.io.expression_values import scaling_of, values_of
from pyrocco.io.hdf5 import list_matrices, load_annotations, load_h5ad
from pyrocco.io.isolated import Parts, ReaderFailedError, read_isolated
from pyrocco.io.named_matrix import Matrix, check_index_types, named_matrix
from pyrocco.texts import Words

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = [
    "as_categories",
    "as_labels",
    "check_annotated",
    "import_anndata",
    "in_memory",
    "read_h5ad",
    "read_h5ad_annotations",
    "take_matrix",
    "write_h5ad",
]

# The extra that installs anndata and h5py, and what needs it.
_EXTRA = ("anndata", "AnnData files (.h5ad)")
_BOTH = "ask for a layer or for raw, not for both"


def import_anndata() -> ModuleType:
    """Import anndata, or say how to install it."""
    with extra(*_EXTRA):
        import anndata  # noqa: PLC0415 - an optional package
    return anndata  # type: ignore[no-any-return]


def read_h5ad(path: Path, layer: str | None = None, raw: bool = False) -> Matrix:
    """Read X, a layer or raw of an AnnData file; nothing else of the file is loaded."""
    if raw and layer is not None:
        raise MatrixError(f"{path}: {_BOTH}")
    check_extra(*_EXTRA, "anndata")
    try:
        loaded = read_isolated(load_h5ad, path, layer, raw)
        check_index_types(loaded.arrays, str(path))
        X = _assembled(loaded)
    except MatrixError:
        raise
    except (ReaderFailedError, ValueError) as error:
        reason = f" ({error})" if isinstance(error, ReaderFailedError) and str(error) else ""
        raise MatrixError(
            f"{path}: is not an AnnData file, or is damaged{reason}: copy it again, or open it "
            "with anndata and save it again"
        ) from error
    notes = [
        "An AnnData file: its observations are cells, its variables are genes.",
        loaded.about["used"],
    ]
    matrix = named_matrix(X, loaded.about["rows"], loaded.about["columns"], [], str(path))
    notes += [Words("cell", "gene").translated(note) for note in matrix.notes]
    matrix = replace(matrix, axis_names=("cell", "gene"), notes=tuple(notes))
    return matrix.noting(*_about_scaling(matrix.X))


def _about_scaling(X: Values) -> list[str]:
    """Say that the values were scaled gene by gene, as programs do for other methods."""
    if sparse.issparse(X) or not np.isfinite(X).all():
        return []
    values = values_of(X)
    if values != "scaled values":
        return []
    return [
        f"The values were {scaling_of(X, values)}, which hides the largest differences. If the "
        "file has counts or their logarithms, choose them by --raw or --layer NAME."
    ]


def read_h5ad_annotations(
    path: Path, wanted: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Read some columns of ``obs`` and of ``var`` of an AnnData file, and the names of all.

    The first table has the columns of ``obs``, the second those of ``var``.
    """
    try:
        loaded = read_isolated(load_annotations, path, list(wanted))
    except MatrixError:
        raise
    except (ReaderFailedError, ValueError) as error:
        raise MatrixError(f"{path}: its obs or var cannot be read: save it again") from error
    obs, var = (
        pd.DataFrame(
            {
                name: loaded.arrays[f"{table}/{name}"] if values is None else values
                for name, values in loaded.about[table].items()
            }
        )
        for table in ("obs", "var")
    )
    return obs, var, list(loaded.about["known"])


def _assembled(loaded: Parts) -> Values:
    """Return the matrix that the arrays describe. The indices are not checked here."""
    kind, arrays = loaded.about["format"], loaded.arrays
    if kind == "dense":
        return arrays["values"]
    parts = tuple(arrays[name] for name in ("data", "indices", "indptr"))
    shape = tuple(loaded.about["shape"])
    return (sparse.csr_array if kind == "csr" else sparse.csc_array)(parts, shape=shape)


def write_h5ad(
    path: Path,
    matrix: Matrix,
    obs: Mapping[str, Dense],
    var: Mapping[str, Dense],
    uns: Mapping[str, object],
) -> None:
    """Write a matrix with values of rows (obs) and of columns (var); labels become categories."""
    anndata = import_anndata()
    with warnings.catch_warnings():
        # Duplicate names are allowed here.
        warnings.simplefilter("ignore", UserWarning)
        data = anndata.AnnData(
            matrix.X,
            obs=_annotated_names(obs, matrix.row_names, matrix.row_annotations),
            var=_annotated_names(var, matrix.column_names, matrix.column_annotations),
            uns=dict(uns),
        )
        data.write_h5ad(path)


def _annotated_names(
    columns: Mapping[str, Dense], names: tuple[str, ...], annotations: pd.DataFrame | None
) -> pd.DataFrame:
    """Return annotations and results; a result replaces an annotation of its name."""
    given: dict[str, Any] = {}
    if annotations is not None:
        given = {str(name): annotations[name].array for name in annotations}
    given |= {
        name: as_categories(values) if values.dtype.kind == "i" else values
        for name, values in columns.items()
    }
    return pd.DataFrame(given, index=pd.Index(names, dtype=object))


def check_annotated(adata: object) -> None:
    """Raise a `TypeError` unless the object is an AnnData object, judged by its attributes."""
    if not all(hasattr(adata, part) for part in ("X", "obs", "var", "uns", "obsm", "layers")):
        raise TypeError(
            f"an AnnData object is needed, not {type(adata).__name__}; for a plain matrix: "
            "pyrocco.ROCCO().fit(X)"
        )


def take_matrix(adata: AnnData, layer: str | None, use_raw: bool) -> tuple[Values, pd.Index]:
    """Return a matrix of an AnnData object, in memory, and the names of its columns."""
    if use_raw and layer is not None:
        raise ValueError(_BOTH)
    if layer is not None:
        X, name = adata.layers.get(layer), f'layer "{layer}"'
    else:
        X, name = (adata.raw and adata.raw.X, "raw") if use_raw else (adata.X, "X")
    if X is None:
        matrices = list_matrices(adata.X is not None, adata.layers, adata.raw is not None)
        raise ValueError(f"adata has no {name}; it has {', '.join(matrices) or 'none'}")
    return _loaded(X), adata.raw.var_names if use_raw else adata.var_names


def _loaded(X: Any) -> Values:
    """Read a matrix that is backed by a file; scikit-learn does not accept `numpy.matrix`."""
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    if sparse.issparse(X):
        return X
    return X.to_memory() if hasattr(X, "to_memory") else np.asarray(X[()])


def in_memory(adata: AnnData) -> AnnData:
    """Return a copy of an AnnData object that shares no data with it or with a file."""
    return adata.to_memory() if adata.isbacked else adata.copy()


def as_categories(labels: Labels) -> pd.Categorical[str]:
    """Return labels as scanpy stores clusters: categories of text, in numerical order."""
    order = [str(label) for label in range(int(max(labels)) + 1)]
    return pd.Categorical([str(label) for label in labels], categories=order)


def as_labels(column: pd.Series[Any]) -> tuple[Labels, list[str]]:
    """Return the categories of a column as integers from 0, and their names."""
    used = column.astype("category").cat.remove_unused_categories()
    if used.isna().any():
        raise ValueError(f'{int(used.isna().sum())} entries of "{column.name}" have no cluster')
    return np.asarray(used.cat.codes, dtype=np.intp), [str(name) for name in used.cat.categories]
