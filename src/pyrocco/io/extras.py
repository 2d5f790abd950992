"""Optional packages: what to say where one is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MissingExtraError", "extra"]


class MissingExtraError(ImportError):
    """An optional package is not installed; the message says how to install it.

    Examples
    --------
    >>> raise MissingExtraError("install it")
    Traceback (most recent call last):
    pyrocco.io.extras.MissingExtraError: install it
    """


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Explain a failing import: put the import of an optional package in this block.

    Parameters
    ----------
    name : str
        The extra of pyrocco that brings the package.
    what : str
        What needs it, as the subject of a sentence in the plural.

    Raises
    ------
    MissingExtraError
        Names the extra.

    Examples
    --------
    >>> with extra("excel", "Excel files"):
    ...     import a_package_that_nobody_has
    Traceback (most recent call last):
    pyrocco.io.extras.MissingExtraError: Excel files need an addition to pyrocco that is not \
installed: pip install "pyrocco[excel]"
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            f"{what} need an addition to pyrocco that is not installed: "
            f'pip install "pyrocco[{name}]"'
        ) from error
