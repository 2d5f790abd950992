"""Who may ask the page, what a browser may do with its answers, and which names files may have."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyrocco.io.read import FORMATS

__all__ = ["ENDINGS", "Gate", "RefusedNameError", "page_headers", "report_headers", "stored_name"]

# The endings of the files that the page accepts.
ENDINGS = tuple(FORMATS)
_LONGEST_NAME = 150
# Names that Windows keeps for devices.
_DEVICES = re.compile(r"(CON|PRN|AUX|NUL|COM\d|LPT\d)(\..*)?", re.IGNORECASE)
# Characters that stay; others mean something to file systems or in patterns of files.
_REPLACED = re.compile(r"[^\w .,()+=@-]")

_ALWAYS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
# The report contains its own script and names from files, so it gets an origin of its own, from
# which no request to the page is accepted.
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def page_headers() -> dict[str, str]:
    """Return the headers of every answer but the report.

    Examples
    --------
    >>> page_headers()["Referrer-Policy"]
    'same-origin'
    """
    return {**_ALWAYS, "Content-Security-Policy": _PAGE_POLICY}


def report_headers() -> dict[str, str]:
    """Return the headers of the report, which the page shows in a frame.

    Examples
    --------
    >>> report_headers()["Content-Security-Policy"].startswith("sandbox allow-scripts")
    True
    """
    return {**_ALWAYS, "Content-Security-Policy": _REPORT_POLICY}


@dataclass(frozen=True)
class Gate:
    """Decides which requests are answered: those of the page that this server opened.

    Parameters
    ----------
    port : int
        Port of 127.0.0.1 on which the server listens.
    secret : str
        The first part of the path of every address; a new one by default.

    Examples
    --------
    >>> gate = Gate(8000, "a-secret")
    >>> gate.address
    'http://127.0.0.1:8000/a-secret/'
    >>> gate.accepts("/a-secret/state", {"host": "127.0.0.1:8000"})
    True
    >>> gate.accepts("/a-secret/state", {"host": "example.org"})
    False
    """

    port: int
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}/{self.secret}/"

    def accepts(self, path: str, headers: Mapping[str, str]) -> bool:
        """Whether a request may be answered, by its path and its headers, in small letters."""
        host = f"127.0.0.1:{self.port}"
        given = path.split("/")[1] if path.startswith("/") else ""
        return (
            headers.get("host") == host
            and headers.get("origin") in (None, f"http://{host}")
            and headers.get("sec-fetch-site") in (None, "none", "same-origin")
            and secrets.compare_digest(given.encode("utf-8", "replace"), self.secret.encode())
        )


class RefusedNameError(ValueError):
    """A file cannot be accepted because of its name; the message says why, in one line."""


def stored_name(name: str, endings: tuple[str, ...] = ENDINGS) -> str:
    """Return the name under which a file is stored, or refuse it.

    Parameters
    ----------
    name : str
        The name that the browser sends.
    endings : tuple of str
        The endings that are accepted.

    Returns
    -------
    str
        A single name, never a path.

    Examples
    --------
    >>> stored_name("my counts [1].csv")
    'my counts _1_.csv'
    """
    if any(ord(letter) < 32 or letter in "/\\" or ord(letter) == 127 for letter in name):
        raise RefusedNameError(
            "The name of a file must not contain slashes or control characters."
        )
    stored = _REPLACED.sub("_", name).strip(" .")
    if not stored or name.startswith(".") or _DEVICES.fullmatch(stored):
        raise RefusedNameError(f'A file cannot be called "{name}": rename it, and try again.')
    if len(stored.encode()) > _LONGEST_NAME:
        raise RefusedNameError("The name of the file is too long: rename it, and try again.")
    if not stored.lower().endswith(endings):
        known = ", ".join(ending for ending in endings if not ending.endswith(".gz"))
        raise RefusedNameError(
            f'"{name}" cannot be read. Files that can be read end in {known}; save the table as '
            ".csv or .xlsx, and try again."
        )
    return stored
