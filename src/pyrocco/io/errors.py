"""The errors that readers raise."""

from __future__ import annotations

__all__ = ["MatrixError", "ModelFileError"]


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
