"""Read Matrix Market files, with the names that 10x Genomics and others store beside them."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from scipy import sparse
from scipy.io import mmread

from pyrocco._typing import Matrix as Values
from pyrocco.io.errors import MatrixError
from pyrocco.io.named_matrix import Matrix, named_matrix
from pyrocco.io.sniff import open_text

__all__ = ["read_market", "read_market_folder"]

_ENDINGS = ("", ".gz")
_MATRIX = "matrix.mtx"
_BARCODES = "barcodes.tsv"
_FEATURES = ("features.tsv", "genes.tsv")
_DAMAGED = (ValueError, EOFError, KeyError, TypeError, StopIteration, OverflowError)


@dataclass(frozen=True)
class _Names:
    """Names of cells and genes from the files beside a matrix."""

    barcodes: list[str]
    features: list[str]
    kinds: Counter[str]


def read_market_folder(folder: Path) -> Matrix:
    """Read a folder as the programs of 10x Genomics write it: cells are rows, genes columns."""
    path = _first_existing(folder, [_MATRIX])
    if path is None:
        raise MatrixError(
            f"{folder}: is a folder without {_MATRIX} or {_MATRIX}.gz: name a file, or a folder "
            f"with {_MATRIX}, {_BARCODES} and {_FEATURES[0]}"
        )
    if _names_beside(path) is None:
        raise MatrixError(
            f"{folder}: has {path.name}, but not both {_BARCODES} and {' or '.join(_FEATURES)} "
            f"(plain or .gz); to read it without names, name the file {path}"
        )
    return read_market(path)


def read_market(path: Path) -> Matrix:
    """Read a Matrix Market file, and the names beside it if there are any.

    Names are searched if the file is called ``matrix.mtx``; the barcodes of
    ``GSM1_matrix.mtx`` are in ``GSM1_barcodes.tsv``. With names, cells are rows.
    """
    try:
        X = mmread(path)
    except _DAMAGED as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MatrixError(
            f"{path}: is not a Matrix Market file, or is damaged: {reason}"
        ) from error
    stored = f"with {X.nnz} stored values" if sparse.issparse(X) else f"of {X.dtype}, dense"
    about = f"A Matrix Market file {stored}"
    names = _names_beside(path)
    if names is None:
        return named_matrix(X, None, None, [f"{about}, without names."], str(path))
    X, orientation = _cells_as_rows(X, names, path)
    notes = [f"{about}, with names of cells and genes beside it.", orientation]
    if len(names.kinds) > 1:
        notes.append(f"Features of several kinds were used: {', '.join(names.kinds)}.")
    return named_matrix(X, names.barcodes, names.features, notes, str(path))


def _cells_as_rows(X: Values, names: _Names, path: Path) -> tuple[Values, str]:
    shape = (len(names.features), len(names.barcodes))
    if X.shape == shape:
        return X.T, "The genes are rows in the file; they were made columns, and the cells rows."
    if X.shape == shape[::-1]:
        return X, "Cells are rows and genes are columns, as in the file."
    raise MatrixError(
        f"{path}: the matrix is {X.shape[0]} x {X.shape[1]}, but the files beside it name "
        f"{shape[0]} features and {shape[1]} barcodes: they do not belong together"
    )


def _names_beside(path: Path) -> _Names | None:
    prefix, match, _ = path.name.partition(_MATRIX)
    if not match:
        return None
    barcodes = _first_existing(path.parent, [prefix + _BARCODES])
    features = _first_existing(path.parent, [prefix + name for name in _FEATURES])
    if barcodes is None or features is None:
        return None
    table = _records(features)
    kinds = Counter(record[2] for record in table if len(record) > 2)
    return _Names([record[0] for record in _records(barcodes)], _symbols(table), kinds)


def _symbols(table: list[list[str]]) -> list[str]:
    """Return gene symbols; the identifier is added if several genes share a symbol."""
    symbols = [record[1] if len(record) > 1 else record[0] for record in table]
    times = Counter(symbols)
    return [
        symbol if times[symbol] == 1 else f"{symbol} ({record[0]})"
        for symbol, record in zip(symbols, table, strict=True)
    ]


def _first_existing(folder: Path, names: list[str]) -> Path | None:
    paths = (folder / (name + ending) for name in names for ending in _ENDINGS)
    return next((path for path in paths if path.is_file()), None)


def _records(path: Path) -> list[list[str]]:
    with open_text(path, "utf-8-sig") as handle:
        reader = csv.reader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [record for record in reader if record]
