"""Reading Matrix Market files, with the names that 10x Genomics and others keep beside them."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import sparse

from pyrocco.io.arrays import load_matrix_market
from pyrocco.io.errors import MatrixError
from pyrocco.io.layout import open_text
from pyrocco.io.matrix import Matrix, named_matrix
from pyrocco.io.request import Request

__all__ = ["read_market", "read_market_folder"]

_ENDINGS = ("", ".gz")
_MATRIX = "matrix.mtx"
_BARCODES = "barcodes.tsv"
_FEATURES = ("features.tsv", "genes.tsv")
_TABS: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}


@dataclass(frozen=True)
class _Names:
    """Names of cells and of genes that lie beside a matrix."""

    barcodes: list[str]
    features: list[str]
    kinds: Counter[str]


def read_market_folder(folder: Path, request: Request) -> Matrix:
    r"""Read a folder as 10x Genomics' programs write it.

    Parameters
    ----------
    folder : Path
        Holds ``matrix.mtx``, ``barcodes.tsv`` and ``features.tsv`` (or ``genes.tsv``), each
        plain or compressed with gzip.
    request : Request
        Nothing of it is used.

    Returns
    -------
    Matrix
        Cells are rows, genes are columns.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.io import mmwrite
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mmwrite(Path(folder) / "matrix.mtx", sparse.coo_array([[0, 5, 1], [7, 0, 0]]))
    ...     _ = (Path(folder) / "barcodes.tsv").write_text("AAC\nAAG\nAAT\n")
    ...     _ = (Path(folder) / "genes.tsv").write_text("ENSG1\tTP53\nENSG2\tMYC\n")
    ...     matrix = read_market_folder(Path(folder), Request())
    >>> matrix.row_names, matrix.column_names
    (('AAC', 'AAG', 'AAT'), ('TP53', 'MYC'))
    """
    path = _first_there(folder, [_MATRIX])
    if path is None:
        raise MatrixError(
            f"{folder}: is a folder without {_MATRIX} or {_MATRIX}.gz: name a file, or a folder "
            f"with {_MATRIX}, {_BARCODES} and {_FEATURES[0]}"
        )
    if _names_beside(path) is None:
        raise MatrixError(
            f"{folder}: {path.name} is there, but not both {_BARCODES} and "
            f"{' or '.join(_FEATURES)} (plain or .gz); to read it without names, name the file "
            f"{path}"
        )
    return read_market(path, request)


def read_market(path: Path, request: Request) -> Matrix:
    """Read a Matrix Market file, and the names beside it where there are any.

    Parameters
    ----------
    path : Path
        A .mtx or .mtx.gz file. Names beside it are looked for where it is called
        ``matrix.mtx``; ``GSM1_matrix.mtx`` goes with ``GSM1_barcodes.tsv``.
    request : Request
        Nothing of it is used.

    Returns
    -------
    Matrix
        CSR where the file is a list of coordinates. With names, cells are rows.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.io import mmwrite
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.mtx"
    ...     mmwrite(path, sparse.eye_array(3, format="coo"))
    ...     read_market(path, Request()).notes[0]
    'A Matrix Market file with 3 stored values, without names.'
    """
    X = load_matrix_market(path)
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


def _cells_as_rows(X: Any, names: _Names, path: Path) -> tuple[Any, str]:
    shape = (len(names.features), len(names.barcodes))
    if X.shape == shape:
        return X.T, "In the file genes are rows; they were made columns, and cells rows."
    if X.shape == shape[::-1]:
        return X, "Cells are rows and genes are columns, as in the file."
    raise MatrixError(
        f"{path}: the matrix is {X.shape[0]} x {X.shape[1]}, but beside it are names of "
        f"{shape[0]} features and {shape[1]} barcodes: the files are not of one set"
    )


def _names_beside(path: Path) -> _Names | None:
    prefix, found, _ = path.name.partition(_MATRIX)
    if not found:
        return None
    barcodes = _first_there(path.parent, [prefix + _BARCODES])
    features = _first_there(path.parent, [prefix + name for name in _FEATURES])
    if barcodes is None or features is None:
        return None
    table = _lines(features)
    kinds = Counter(record[2] for record in table if len(record) > 2)
    return _Names([record[0] for record in _lines(barcodes)], _symbols(table), kinds)


def _symbols(table: list[list[str]]) -> list[str]:
    """Gene symbols; the identifier is added where several genes share one."""
    symbols = [record[1] if len(record) > 1 else record[0] for record in table]
    times = Counter(symbols)
    return [
        symbol if times[symbol] == 1 else f"{symbol} ({record[0]})"
        for symbol, record in zip(symbols, table, strict=True)
    ]


def _first_there(folder: Path, names: list[str]) -> Path | None:
    paths = (folder / (name + ending) for name in names for ending in _ENDINGS)
    return next((path for path in paths if path.is_file()), None)


def _lines(path: Path) -> list[list[str]]:
    with open_text(path, "utf-8-sig") as handle:
        return [record for record in csv.reader(handle, **_TABS) if record]
