"""Read Matrix Market files, with the names that 10x Genomics and others store beside them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scipy import sparse
from scipy.io import mmread

from pyrocco._typing import Matrix as Values
from pyrocco._typing import is_sparse
from pyrocco.io.cell_texts import cell_problem
from pyrocco.io.errors import MatrixError, read_errors
from pyrocco.io.isolated import Parts, ReaderFailedError, read_isolated
from pyrocco.io.named_matrix import Matrix, named_matrix
from pyrocco.io.sniff import open_text
from pyrocco.texts import counted

__all__ = ["read_market", "read_market_folder"]

_ENDINGS = ("", ".gz")
_MATRIX = "matrix.mtx"
_BARCODES = "barcodes.tsv"
_FEATURES = ("features.tsv", "genes.tsv")
# Longer lines are read in parts: a damaged file may consist of one.
_LONGEST_LINE = 10_000


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
        X = _assembled(read_isolated(load_market, path))
    except (ReaderFailedError, ValueError) as error:
        reason = first_problem(path) or "it could not be read"
        raise MatrixError(
            f"{path}: is not a Matrix Market file, or is damaged: {reason}"
        ) from error
    stored = f"with {X.nnz} stored values" if is_sparse(X) else f"of {X.dtype}, dense"
    about = f"A Matrix Market file {stored}"
    names = _names_beside(path)
    if names is None:
        return named_matrix(X, None, None, [f"{about}, without names."], str(path))
    X, orientation = _cells_as_rows(X, names, path)
    notes = [f"{about}, with names of cells and genes beside it.", orientation]
    if len(names.kinds) > 1:
        notes.append(f"Features of several kinds were used: {', '.join(names.kinds)}.")
    return named_matrix(X, names.barcodes, names.features, notes, str(path))


def load_market(path: Path) -> Parts:
    """Load the entries of a Matrix Market file; they are not checked."""
    X = mmread(path)
    if not sparse.issparse(X):
        return Parts({}, {"values": X})
    entries = sparse.coo_array(X)
    arrays = {"data": entries.data, "row": entries.row, "column": entries.col}
    return Parts({"shape": X.shape}, arrays)


def _assembled(loaded: Parts) -> Values:
    arrays = loaded.arrays
    if "values" in arrays:
        return arrays["values"]
    places = arrays["row"], arrays["column"]
    return sparse.coo_array((arrays["data"], places), shape=tuple(loaded.about["shape"]))


def first_problem(path: Path) -> str:
    """Describe the first problem of a Matrix Market file, or return an empty string.

    The fast reader only reports that something is wrong. The file is then read again, line by
    line, to find out what and where.
    """
    with open_text(path, "utf-8") as handle:
        lines = enumerate(iter(partial(handle.readline, _LONGEST_LINE), ""), start=1)
        words = next(lines, (1, ""))[1].lower().split()
        if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
            return "line 1 must be like: %%MatrixMarket matrix coordinate real general"
        body = ((number, line.split()) for number, line in lines if line[:1] != "%")
        filled = ((number, cells) for number, cells in body if cells)
        return _body_problem(filled, words[2], words[3])


def _body_problem(lines: Iterator[tuple[int, list[str]]], layout: str, field: str) -> str:
    number, sizes = next(lines, (0, []))
    expected = 3 if layout == "coordinate" else 2
    if len(sizes) != expected or not all(map(_is_count, sizes)):
        return f"line {number} must hold the {expected} sizes of the matrix, as whole numbers"
    shape = [int(size) for size in sizes[:2]]
    width = {"pattern": 0, "complex": 2}.get(field, 1)
    count = 0
    for number, cells in lines:
        places, values = (cells[:2], cells[2:]) if layout == "coordinate" else ([], cells)
        count += 1 if places else len(values)
        problem = _place_problem(places, shape) if layout == "coordinate" else ""
        if layout == "coordinate" and len(values) != width:
            problem = f"has {counted(len(cells), 'cell')} instead of {2 + width}"
        problem = problem or next((cell_problem(value) for value in values), "")
        if problem:
            return f"line {number} {problem}"
    wanted = int(sizes[2]) if layout == "coordinate" else shape[0] * shape[1]
    if count < wanted:
        return f"it ends after {count} of {wanted} values"
    return f"it holds {count} values instead of {wanted}" if count > wanted else ""


def _is_count(text: str) -> bool:
    """Whether a text is a whole number that a matrix can have as a size."""
    return text.isdecimal() and len(text) < 19


def _place_problem(places: list[str], shape: list[int]) -> str:
    """Say what is wrong with the row and the column of an entry, which count from 1."""
    for place, size, side in zip(places, shape, ("row", "column"), strict=False):
        if not _is_count(place) or not 1 <= int(place) <= size:
            return f'has the {side} "{place[:20]}", but the matrix has {counted(size, side)}'
    return ""


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
    with read_errors(path), open_text(path, "utf-8-sig") as handle:
        reader = csv.reader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        try:
            return [record for record in reader if record]
        except csv.Error as error:
            raise MatrixError(f"{path}: is not a table of names, or is damaged") from error
