"""The errors that readers raise."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MatrixError", "ModelFileError", "read_errors"]


class MatrixError(ValueError):
    """The input is not a matrix pyrocco can work with; the message says why, in one line.

    Examples
    --------
    >>> raise MatrixError("counts.csv: the file is empty")
    Traceback (most recent call last):
    pyrocco.io.errors.MatrixError: counts.csv: the file is empty
    """


class ModelFileError(ValueError):
    """A model cannot be saved or loaded; the message says why, in one line.

    Examples
    --------
    >>> raise ModelFileError("model.pyrocco: is damaged")
    Traceback (most recent call last):
    pyrocco.io.errors.ModelFileError: model.pyrocco: is damaged
    """


@contextmanager
def read_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say which file it was where reading one fails in this block.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    MatrixError
        The system cannot read it, or its compression is damaged.

    Examples
    --------
    >>> with read_errors("counts.csv"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
    pyrocco.io.errors.MatrixError: counts.csv: cannot be read: Permission denied
    """
    try:
        yield
    except OSError as error:
        raise MatrixError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise MatrixError(f"{path}: cannot be read: the compressed file is damaged") from error
