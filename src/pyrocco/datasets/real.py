"""Read the real sets of the paper from a folder of the user's, never from the package."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from pyrocco.datasets.base import Dataset
from pyrocco.datasets.catalogue import CATALOGUE, REAL_SETS, Entry

# SciPy ships no types: a dense array or a CSR matrix.
_Matrix: TypeAlias = Any


def data_folder() -> Path:
    """Return the folder where the real sets are looked for.

    The environment variable ``PYROCCO_DATA``, else ``pyrocco`` in the user's cache folder
    (``XDG_CACHE_HOME``, or ``~/.cache``).

    Returns
    -------
    Path
        The folder, whether it exists or not.

    Examples
    --------
    >>> from pyrocco.datasets import data_folder
    >>> data_folder().is_absolute()
    True
    """
    named = os.environ.get("PYROCCO_DATA")
    if named:
        return Path(named).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser().absolute() / "pyrocco"


def load(
    name: str,
    *,
    scaling: str = "default",
    all_columns: bool = False,
    folder: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load one of the nine real sets of the paper.

    The files are not distributed with the package (several have no stated licence): they are
    read from `folder` and checked against their sha256.

    Parameters
    ----------
    name : str
        One of ``REAL_SETS``: classic3, 20news2, 20news10, reuters, rcv1 (text); allaml,
        glioma, carcinom, lung (genes).
    scaling : str, default="default"
        For text: ``"tfidf"`` (the default: scikit-learn's TfidfTransformer, rows of length 1),
        ``"tfidf-unnormalized"`` (the same without the row lengths) or ``"raw"`` (counts).
        For genes: ``"zscore"`` (the default: each gene has mean 0 and variance 1) or ``"raw"``.
    all_columns : bool, default=False
        Keep all 4303 terms of classic3 instead of the 2000 most frequent, the paper's number.
        The other sets have one choice of columns, so True is an error for them.
    folder : path-like or None, default=None
        Where the files lie; None means :func:`data_folder`.

    Returns
    -------
    Dataset
        X is CSR for text and dense for genes, float64 in both cases. The groups of the
        columns are unknown.

    Raises
    ------
    FileNotFoundError
        When the file is not there; the message says where the data comes from.
    ValueError
        When the file is not the one expected, or an argument does not fit the set.

    Examples
    --------
    >>> from pyrocco.datasets import load
    >>> load("glioma", folder="/nowhere")
    Traceback (most recent call last):
    ...
    FileNotFoundError: the data set 'glioma' is not at /nowhere/glioma.npz. ...
    """
    entry = _entry(name)
    scaling, scale = _scaler(name, entry, scaling)
    path = (data_folder() if folder is None else Path(folder)) / entry.file
    arrays = _read(name, entry, path)
    kept = _kept_columns(name, arrays, all_columns)
    X = _matrix(arrays)[:, kept]
    return Dataset(
        name=name,
        X=scale(X),
        row_labels=arrays["y"].astype(np.int64),
        column_labels=None,
        class_names=arrays["class_names"],
        feature_names=_feature_names(arrays, X.shape[1], kept),
        description=f"{entry.origin}; {entry.note}; scaling: {scaling}",
    )


def _entry(name: str) -> Entry:
    if name not in CATALOGUE:
        raise ValueError(f"no data set named {name!r}; known: {', '.join(REAL_SETS)}")
    return CATALOGUE[name]


def _read(name: str, entry: Entry, path: Path) -> dict[str, npt.NDArray[Any]]:
    if not path.is_file():
        raise FileNotFoundError(
            f"the data set {name!r} is not at {path}. pyrocco does not distribute it; its "
            f"numbers come from {entry.origin}. Put {entry.file} (sha256 {entry.sha256[:12]}...) "
            f"in the folder named by the environment variable PYROCCO_DATA, or in {path.parent}."
        )
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != entry.sha256:
        raise ValueError(
            f"{path} is not the expected file: its sha256 is {found}, that of the data set "
            f"{name!r} is {entry.sha256}. Delete it and fetch it again."
        )
    with np.load(path, allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def _matrix(arrays: Mapping[str, npt.NDArray[Any]]) -> _Matrix:
    if "X" in arrays:
        return arrays["X"].astype(np.float64)
    parts = (arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"])
    return csr_matrix(parts, shape=tuple(arrays["shape"]))


def _kept_columns(
    name: str, arrays: Mapping[str, npt.NDArray[Any]], all_columns: bool
) -> slice | npt.NDArray[np.intp]:
    mask = arrays.get("top2000_mask")
    if mask is None and all_columns:
        raise ValueError(f"all_columns has no effect on {name!r}: it has no columns left out")
    return slice(None) if mask is None or all_columns else np.flatnonzero(mask)


def _feature_names(
    arrays: Mapping[str, npt.NDArray[Any]], n_columns: int, kept: slice | npt.NDArray[np.intp]
) -> npt.NDArray[np.str_]:
    stored = arrays.get("feature_names")
    if stored is None:
        return np.array([f"gene {j}" for j in range(n_columns)])
    return np.asarray(stored[kept])


def _scaler(name: str, entry: Entry, scaling: str) -> tuple[str, Callable[[_Matrix], _Matrix]]:
    """Resolve a scaling to its full name and a function; the first of a kind is its default."""
    choices = _SCALINGS[entry.kind]
    resolved = next(iter(choices)) if scaling == "default" else scaling
    if resolved not in choices:
        raise ValueError(
            f"scaling={scaling!r} does not fit the {entry.kind} set {name!r}; "
            f"choose one of: default, {', '.join(choices)}"
        )
    return resolved, choices[resolved]


def _raw(X: _Matrix) -> _Matrix:
    return X


def _tfidf(X: csr_matrix) -> csr_matrix:
    return TfidfTransformer().fit_transform(X)


def _tfidf_unnormalized(X: csr_matrix) -> csr_matrix:
    return TfidfTransformer(norm=None).fit_transform(X)


def _zscore(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    # Genes that never vary become 0, not NaN.
    return np.asarray(StandardScaler().fit_transform(X))


_SCALINGS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "text": {"tfidf": _tfidf, "tfidf-unnormalized": _tfidf_unnormalized, "raw": _raw},
    "genes": {"zscore": _zscore, "raw": _raw},
}
