"""Errors of reading and writing files, and phrases that their messages share."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

__all__ = [
    "CheckpointError",
    "ColumnChoiceError",
    "MatrixError",
    "MissingExtraError",
    "ModelFileError",
    "OutputError",
    "cell_place",
    "check_extra",
    "damage_errors",
    "extra",
    "list_some",
    "percent",
    "read_errors",
]


class MatrixError(ValueError):
    """The input is not a matrix that pyrocco can use; the message says why, in one line."""


class ColumnChoiceError(ValueError):
    """A table has no such column, or it cannot be used as asked; `read_errors` names the file."""


class ModelFileError(ValueError):
    """A model cannot be saved or loaded; the message says why, in one line."""


class CheckpointError(RuntimeError):
    """A fit cannot continue from a checkpoint; the message says why, in one line."""


class OutputError(OSError):
    """The results cannot be written; the message says why, in one line."""


class MissingExtraError(ImportError):
    """An optional package is not installed; the message says how to install it."""


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Explain how to install an optional package when its import in this block fails.

    `name` is the extra of pyrocco that installs it, and `what` needs it: the plural subject of
    a sentence.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(_missing(name, what)) from error


def check_extra(name: str, what: str, package: str) -> None:
    """Explain how to install an optional package, unless it is installed; it is not imported."""
    if find_spec(package) is None:
        raise MissingExtraError(_missing(name, what))


def _missing(name: str, what: str) -> str:
    return f'{what} need an optional package that is not installed: pip install "pyrocco[{name}]"'


@contextmanager
def read_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Convert errors of the system, gzip, csv and encodings in this block to a `MatrixError`."""
    try:
        yield
    except ColumnChoiceError as error:
        raise MatrixError(f"{path}: {error}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise MatrixError(f"{path}: cannot be read: the compressed file is damaged") from error
    except UnicodeError as error:
        raise MatrixError(
            f"{path}: cannot be read: it has another encoding than it seems to have, or than the "
            "first file: save it as UTF-8"
        ) from error
    except csv.Error as error:
        raise MatrixError(
            f"{path}: is not a text table, or a quotation mark is opened and never closed"
        ) from error
    except OSError as error:
        raise MatrixError(f"{path}: cannot be read: {error.strerror or error}") from error


@contextmanager
def damage_errors(message: str) -> Iterator[None]:
    """Convert whatever a library raises on a damaged file to a `MatrixError` with this message.

    Damaged bytes make libraries raise errors of almost every class, so all are converted, except
    those of pyrocco, of memory, and of the system.
    """
    try:
        yield
    except (MatrixError, MissingExtraError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise MatrixError(message) from error


def percent(share: float) -> str:
    """Return a fraction as a percentage: ``11 %``, ``0.0012 %``, and ``100 %`` only for all."""
    text = f"{100 * share:.2g}"
    if text == "1e+02":
        text = "100" if share == 1 else f"{min(100 * share, 99.9999):.6g}"
    return f"{text} %"


def list_some(things: Sequence[str], most: int = 5) -> str:
    """Name the first few of many things: ``a, b and 3 more``."""
    shown = ", ".join(things[:most])
    return shown if len(things) <= most else f"{shown} and {len(things) - most} more"


def cell_place(
    row: int, column: int, row_name: str = "", column_name: str = "", line: int | None = None
) -> str:
    """Say where a cell is, counting from 1; `row` and `column` count from 0, `line` from 1."""
    # A name may hold line breaks; the message must not.
    row_name, column_name = (" ".join(name.split()) for name in (row_name, column_name))
    about_row = [f'"{row_name}"'] if row_name else []
    about_row += [f"line {line} of the file"] if line else []
    about_column = [f'"{column_name}"'] if column_name else []
    return ", ".join(
        f"{kind} {index + 1}" + (f" ({', '.join(about)})" if about else "")
        for kind, index, about in (("row", row, about_row), ("column", column, about_column))
    )
