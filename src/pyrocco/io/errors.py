"""The error that every reader raises."""

from __future__ import annotations

__all__ = ["MatrixError"]


class MatrixError(ValueError):
    """The input is not a matrix pyrocco can work with; the message says why, in one line.

    Examples
    --------
    >>> raise MatrixError("counts.csv: the file is empty")
    Traceback (most recent call last):
    pyrocco.io.errors.MatrixError: counts.csv: the file is empty
    """
