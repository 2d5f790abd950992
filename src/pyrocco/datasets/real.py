"""The nine real sets of the paper: their files, and loading them from a folder of the user."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler

from pyrocco._typing import Dense, Matrix
from pyrocco.datasets.dataset import Dataset

__all__ = ["CATALOGUE", "GENE_SETS", "REAL_SETS", "TEXT_SETS", "Entry", "data_folder", "load"]


@dataclass(frozen=True)
class Entry:
    """The file of one real set."""

    file: str
    kind: Literal["text", "genes"]  # counts of terms in documents, or gene expression of samples
    sha256: str
    origin: str  # public source of the numbers
    note: str  # how the set differs from the one described in the paper


CATALOGUE: dict[str, Entry] = {
    "classic3": Entry(
        file="classic3.npz",
        kind="text",
        sha256="53966a9d7b3603a739ba9bbbba5f29979b4be02e524884ea38143339530483a3",
        origin="github.com/franrole/cclust_package, datasets/classic3.mat (commit d301cf8d)",
        note="4303 terms, of which the 2000 most frequent as in the paper",
    ),
    "20news2": Entry(
        file="20news2.npz",
        kind="text",
        sha256="199818970e5754cdbe8a7ee788bd5665a1e2b7f5bc3080247ba1032bb58517f2",
        origin="github.com/YunomiXavia/20news-bydate",
        note="1715 documents where the paper has 1777: the by-date version drops cross-posts",
    ),
    "20news10": Entry(
        file="20news10.npz",
        kind="text",
        sha256="f8ca5bd809c41a035005099a8c0f6139890827006df8b2e45ecfcb2b3d6c73b1",
        origin="github.com/YunomiXavia/20news-bydate",
        note="9588 documents where the paper has 9607: the by-date version drops cross-posts",
    ),
    "reuters": Entry(
        file="reuters.npz",
        kind="text",
        sha256="3b1bc80985dd29e228bb91db5a83320cb1d20843897a6827d2e2653427ad2fd6",
        origin="Reuters-21578 (research only), github.com/colibri17/TextCategorization",
        note="9101 documents where the paper has 9082; ModApte, one topic, topics of 5 or more",
    ),
    "rcv1": Entry(
        file="rcv1.npz",
        kind="text",
        sha256="7db9a60566a59ce2d5cce01a4af8972ac88c7493da9716f6cc9b873582194f0e",
        origin="LYRL2004 term vectors, github.com/fcharte/mldr.datasets (git history)",
        note="another random 10000 documents; counts recovered from weights; terms are ids only",
    ),
    "allaml": Entry(
        file="allaml.npz",
        kind="genes",
        sha256="ffedd52a03bc56cd682b1a7536bb3404eda416577a5a55ab80b3d840b8e070f6",
        origin="github.com/jundongl/scikit-feature, skfeature/data/ALLAML.mat (commit 48cffad4)",
        note="the paper's; distributed already z-scored by gene",
    ),
    "glioma": Entry(
        file="glioma.npz",
        kind="genes",
        sha256="5987852a5823f12c25167e80e584304d71cabd675d6c73be3b52197b31415428",
        origin="github.com/jundongl/scikit-feature, skfeature/data/GLIOMA.mat (commit 48cffad4)",
        note="the paper's",
    ),
    "carcinom": Entry(
        file="carcinom_desouto1571.npz",
        kind="genes",
        sha256="fafd8199e5265446fe3ce5d00bc354013a0c40e5591451c141bd7eadc52301e0",
        origin="github.com/padilha/biclustlib, cancer_benchmark/su-2001_database.txt",
        note="substitute: the same 174 samples, 1571 genes (paper 9182), 10 classes (paper 11)",
    ),
    "lung": Entry(
        file="lung_desouto1543.npz",
        kind="genes",
        sha256="9964a8e556f0ab0c61dbd5bfa240ac5059e23f9a4ffb43f2affbaa8245f722b1",
        origin="github.com/padilha/biclustlib, cancer_benchmark/bhattacharjee-2001_database.txt",
        note="substitute: the same 203 samples and 5 classes, 1543 genes (paper 3312)",
    ),
}

TEXT_SETS: tuple[str, ...] = tuple(n for n, entry in CATALOGUE.items() if entry.kind == "text")
GENE_SETS: tuple[str, ...] = tuple(n for n, entry in CATALOGUE.items() if entry.kind == "genes")
REAL_SETS: tuple[str, ...] = TEXT_SETS + GENE_SETS


def data_folder() -> Path:
    """Return the folder in which the real sets are searched.

    The environment variable ``PYROCCO_DATA``, else ``pyrocco`` in the user's cache folder
    (``XDG_CACHE_HOME``, or ``~/.cache``).

    Returns
    -------
    Path
        The folder; it need not exist.

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

    The files are not distributed with the package, since several have no stated licence. They
    are read from `folder` and checked against their sha256.

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
        The other sets have one choice of columns, for which True is an error.
    folder : path-like or None, default=None
        Folder with the files; None means :func:`data_folder`.

    Returns
    -------
    Dataset
        X is CSR for text and dense for genes, float64 in both cases. The true clusters of
        columns are not known.

    Raises
    ------
    FileNotFoundError
        If the file does not exist; the message names the source of the data.
    ValueError
        If the file is not the expected one, or an argument does not fit the set.

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
    columns = _selected_columns(name, arrays, all_columns)
    X = _matrix(arrays)[:, columns]
    return Dataset(
        name=name,
        X=scale(X),
        row_labels=arrays["y"].astype(np.int64),
        column_labels=None,
        class_names=arrays["class_names"],
        feature_names=_feature_names(arrays, X.shape[1], columns),
        description=f"{entry.origin}; {entry.note}; scaling: {scaling}",
    )


def _entry(name: str) -> Entry:
    if name not in CATALOGUE:
        raise ValueError(f"no data set named {name!r}; known: {', '.join(REAL_SETS)}")
    return CATALOGUE[name]


def _read(name: str, entry: Entry, path: Path) -> dict[str, Dense]:
    if not path.is_file():
        raise FileNotFoundError(
            f"the data set {name!r} is not at {path}. pyrocco does not distribute it; its "
            f"numbers come from {entry.origin}. Put {entry.file} (sha256 {entry.sha256[:12]}...) "
            f"in the folder named by the environment variable PYROCCO_DATA, or in {path.parent}."
        )
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    if checksum != entry.sha256:
        raise ValueError(
            f"{path} is not the expected file: its sha256 is {checksum}, that of the data set "
            f"{name!r} is {entry.sha256}. Delete it and fetch it again."
        )
    with np.load(path, allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}


def _matrix(arrays: Mapping[str, Dense]) -> Matrix:
    if "X" in arrays:
        return arrays["X"].astype(np.float64)
    parts = (arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"])
    return csr_matrix(parts, shape=tuple(arrays["shape"]))


def _selected_columns(
    name: str, arrays: Mapping[str, Dense], all_columns: bool
) -> slice | npt.NDArray[np.intp]:
    mask = arrays.get("top2000_mask")
    if mask is None and all_columns:
        raise ValueError(f"all_columns has no effect on {name!r}: all its columns are used")
    return slice(None) if mask is None or all_columns else np.flatnonzero(mask)


def _feature_names(
    arrays: Mapping[str, Dense], n_columns: int, columns: slice | npt.NDArray[np.intp]
) -> npt.NDArray[np.str_]:
    stored = arrays.get("feature_names")
    if stored is None:
        return np.array([f"gene {j}" for j in range(n_columns)])
    return np.asarray(stored[columns])


def _scaler(name: str, entry: Entry, scaling: str) -> tuple[str, Callable[[Matrix], Matrix]]:
    """Return the name of a scaling and its function; the first of a kind is its default."""
    choices = _SCALINGS[entry.kind]
    resolved = next(iter(choices)) if scaling == "default" else scaling
    if resolved not in choices:
        raise ValueError(
            f"scaling={scaling!r} does not fit the {entry.kind} set {name!r}; "
            f"choose one of: default, {', '.join(choices)}"
        )
    return resolved, choices[resolved]


def _raw(X: Matrix) -> Matrix:
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
