"""Read a matrix from any supported file; the ending of its name decides how."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from pyrocco.io.anndata import read_h5ad
from pyrocco.io.arrays import read_npy, read_npz
from pyrocco.io.arrow import read_parquet
from pyrocco.io.errors import MatrixError, read_errors
from pyrocco.io.excel import read_excel
from pyrocco.io.market import read_market, read_market_folder
from pyrocco.io.named_matrix import Matrix
from pyrocco.io.sniff import Watch
from pyrocco.io.table_options import TableOptions
from pyrocco.io.text_tables import read_text

__all__ = [
    "FORMATS",
    "Format",
    "check_effect",
    "check_file",
    "file_format",
    "read_matrix",
    "table_options",
]


@dataclass(frozen=True)
class Format:
    """The function that reads a kind of file, and the options that it takes."""

    read: Callable[..., Matrix]
    options: tuple[str, ...] = ()


_TABLE = ("layout", "absent", "row_names", "columns", "ignore", "keep_totals")
_LINES = (*_TABLE, "skip_rows", "header")
_TEXT = Format(read_text, (*_LINES, "decimal", "watch"))
_MARKET = Format(read_market)
_EXCEL = Format(read_excel, (*_LINES, "sheet"))
_FOLDER = Format(read_market_folder)

# Tables of text; their separators are detected, whatever the ending.
_TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".tab", ".gct", ".dat", ".data")

FORMATS = {
    **dict.fromkeys(_TEXT_ENDINGS, _TEXT),
    **dict.fromkeys((f"{ending}.gz" for ending in _TEXT_ENDINGS), _TEXT),
    ".npy": Format(read_npy),
    ".npz": Format(read_npz),
    ".mtx": _MARKET,
    ".mtx.gz": _MARKET,
    ".parquet": Format(read_parquet, _TABLE),
    ".h5ad": Format(read_h5ad, ("layer", "raw")),
    ".xlsx": _EXCEL,
    ".xlsm": _EXCEL,
}

# What a system says about a file that does not exist.
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP)
# Names in a folder among which the name of a missing file is looked for.
_MOST_NAMES = 10_000

_DEFAULTS = {"layer": None, "raw": False, "sheet": None}

_R = "in R, save the table with write.csv"
_OFFICE = "open it in a spreadsheet program and save it as .xlsx or .csv"
# What to do with common files that are not supported.
_HINTS = {
    ".xls": _OFFICE,
    ".ods": _OFFICE,
    ".rds": _R,
    ".rda": _R,
    ".rdata": _R,
    ".h5": "for 10x Genomics, name the folder with matrix.mtx beside it",
    ".zip": "unpack it and name a file in it",
}


def read_matrix(  # noqa: PLR0913 - one argument for each option of the command line
    path: str | os.PathLike[str],
    *,
    layer: str | None = None,
    raw: bool = False,
    sheet: str | int | None = None,
    layout: str = "auto",
    absent: str | None = None,
    row_names: str | int | None = None,
    columns: str | Sequence[str | int] = (),
    ignore: str | Sequence[str | int] = (),
    skip_rows: int | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    keep_totals: bool = False,
    watch: Watch | None = None,
) -> Matrix:
    r"""Read a matrix from a file.

    Parameters
    ----------
    path : str or path
        CSV, TSV, TXT, TAB, GCT, DAT or DATA (comma, tab or semicolon; header and row names are
        detected), .xlsx, .parquet, .npy, .npz (scipy sparse, or one array), .mtx (Matrix Market,
        with ``barcodes.tsv`` and ``features.tsv`` if they are beside it), a folder with
        these three, or .h5ad (AnnData). Text and Matrix Market files may be compressed with
        gzip.
    layer : str, optional
        Layer of an .h5ad file to read instead of X.
    raw : bool, default=False
        Whether to read ``raw`` of an .h5ad file instead of X.
    sheet : str or int, optional
        Sheet of an Excel file, its name or its number, counted from 1; the first by default.
    layout : {"auto", "wide", "long"}, default="auto"
        Whether a line of a table is a row, or a single cell (row, column, value).
    absent : {"zero", "missing"}, optional
        How to treat pairs that a long table does not list. By default they are missing if the
        values are marks, such as ratings, and zero otherwise.
    row_names : str or int, optional
        Column of a table that holds the row names: its name, or its position, counted from 1.
        ``"none"`` if no column holds them. Detected by default.
    columns : str or sequence of str or int, optional
        Columns that are data, given by names, positions from 1, ranges (``"a:c"``, ``"3-7"``)
        or patterns (``"day*"``). A string may list several with commas. By default all columns of
        numbers that are neither names nor identifiers. For ``layout="long"`` three columns: row,
        column and value.
    ignore : str or sequence of str or int, optional
        Columns that are not read, given like `columns`.
    skip_rows : int, optional
        Number of lines before the table. By default comments and titles are detected.
    header : bool, optional
        Whether the first line of the table holds the names of columns. Detected by default.
    decimal : {".", ","}, optional
        Decimal sign of a text file. Detected by default.
    keep_totals : bool, default=False
        Whether to keep a last row or column called "Total" that is the sum of the others.
    watch : callable, optional
        Called with the number of bytes read so far and the size of the file, for text files.

    Returns
    -------
    Matrix
        Values, names of rows and columns, and notes about what was detected. Missing values
        are NaN. The notes name options as on the command line: ``--row-names none`` is
        ``row_names="none"`` here.

    Raises
    ------
    MatrixError
        If the file does not exist, cannot be read or holds no matrix of numbers, or if an
        option has no effect on its format.
    MissingExtraError
        If the format needs a package that is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "counts.csv"
    ...     _ = path.write_text("gene,liver,heart\nTP53,5,0\nMYC,1,7\n")
    ...     matrix = read_matrix(path)
    >>> matrix.X
    array([[5., 0.],
           [1., 7.]])
    >>> matrix.row_names, matrix.column_names
    (('TP53', 'MYC'), ('liver', 'heart'))
    >>> print(*matrix.notes, sep="\n")
    Cells are separated by commas.
    The first line holds the column names; every other line is a row of the matrix.
    The first column ("gene") holds the row names.
    The matrix has 2 rows and 2 columns.
    """
    path = Path(path)
    check_file(path)
    options = table_options(
        layout=layout,
        absent=absent,
        row_names=row_names,
        columns=columns,
        ignore=ignore,
        skip_rows=skip_rows,
        header=header,
        decimal=decimal,
        keep_totals=keep_totals,
    )
    values = {"layer": layer, "raw": raw, "sheet": sheet}
    given: dict[str, Any] = {name: v for name, v in values.items() if v != _DEFAULTS[name]}
    kind = file_format(path)
    check_effect(path, (*given, *options.given))
    if "layout" in kind.options:
        given["options"] = options
    if "watch" in kind.options:
        given["watch"] = watch
    with read_errors(path):
        return kind.read(path, **given)


def table_options(**given: Any) -> TableOptions:
    """Check the options of a table; a single column may stand for a sequence.

    The arguments are the fields of `TableOptions`.
    """
    for name in ("columns", "ignore"):
        wanted = given.get(name, ())
        given[name] = (wanted,) if isinstance(wanted, (str, int)) else tuple(wanted)
    options = TableOptions(**given)
    _check_choice("layout", options.layout, ("auto", "wide", "long"))
    _check_choice("absent", options.absent, (None, "zero", "missing"))
    _check_choice("decimal", options.decimal, (None, ".", ","))
    if options.skip_rows is not None and options.skip_rows < 0:
        raise MatrixError(f"skip_rows must be at least 0; got {options.skip_rows}")
    return options


def check_effect(path: Path, given: Sequence[str]) -> None:
    """Refuse options that have no effect on a kind of file."""
    kind = file_format(path)
    for name in given:
        if name not in kind.options:
            endings = " ".join(end for end, other in FORMATS.items() if name in other.options)
            raise MatrixError(f"{path}: {name} has no effect on this file, only on {endings}")


def file_format(path: Path) -> Format:
    """Return how to read a file, judged by the ending of its name."""
    if path.is_dir():
        return _FOLDER
    name = path.name.lower()
    for ending, kind in FORMATS.items():
        if name.endswith(ending):
            return kind
    known = " ".join(ending for ending in FORMATS if not ending.endswith(".gz"))
    remedy = _HINTS.get(path.suffix.lower(), f"supported endings are {known}")
    what = f"{path.suffix} file" if path.suffix else "file without an ending"
    raise MatrixError(f"{path}: cannot read a {what}; {remedy}")


def _similar(path: Path) -> str:
    """Name the files whose names are similar to that of a missing one."""
    try:
        names = [other.name for other in islice(path.parent.iterdir(), _MOST_NAMES)]
    except OSError:
        return ""
    close = [str(path.parent / name) for name in get_close_matches(path.name, names, n=2)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _is_there(path: Path) -> bool:
    """Whether a path exists; other errors, such as a name that is too long, are raised."""
    # Since Python 3.14, Path.exists hides these errors.
    try:
        path.stat()
    except OSError as error:
        if error.errno in _NOT_THERE:
            return False
        raise
    except ValueError:  # NUL in the name
        return False
    return True


def check_file(path: Path) -> None:
    """Refuse a file that does not exist, is empty or cannot be read from back and forth."""
    with read_errors(path):
        if not _is_there(path):
            raise MatrixError(f"{path}: there is no such file{_similar(path)}")
        if not (path.is_file() or path.is_dir()):
            # A pipe may never end, and most formats need to go back and forth in the file.
            raise MatrixError(
                f"{path}: is not a regular file, but a pipe, socket or device: save the matrix "
                "to a file first"
            )
        if path.is_file() and path.stat().st_size == 0:
            raise MatrixError(f"{path}: the file is empty")


def _check_choice(name: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        known = ", ".join(str(choice) for choice in choices)
        raise MatrixError(f"{name} must be one of {known}; got {value}")
