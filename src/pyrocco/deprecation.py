"""Deprecated names, which keep working for two releases."""

from __future__ import annotations

import warnings

__all__ = ["removed_in", "warn_deprecated"]

# A name that is deprecated in 0.2 works in 0.2 and 0.3, and is gone in 0.4.
_RELEASES = 2


def removed_in(since: str) -> str:
    """Return the version that removes what version `since` has deprecated.

    Parameters
    ----------
    since : str
        Version, such as ``"0.2"``.

    Returns
    -------
    str

    Examples
    --------
    >>> removed_in("0.2")
    '0.4'
    """
    major, minor = since.split(".")
    return f"{major}.{int(minor) + _RELEASES}"


def warn_deprecated(old: str, new: str, since: str, stacklevel: int = 2) -> None:
    """Warn that a name is deprecated.

    Parameters
    ----------
    old, new : str
        The deprecated name, and what to use instead.
    since : str
        Version that deprecated it.
    stacklevel : int, default=2
        Whose line the warning names: 2 is the caller of the deprecated function.
    """
    message = (
        f"{old} is deprecated since version {since} and will be removed in version "
        f"{removed_in(since)}. Use {new} instead."
    )
    warnings.warn(message, FutureWarning, stacklevel=stacklevel + 1)
