"""What the reader of a file is asked for beyond its path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Request", "Watch"]

Watch = Callable[[int, int], None]


@dataclass(frozen=True)
class Request:
    """Options of reading. Each format uses some of them; giving it another is an error.

    Attributes
    ----------
    layer : str or None
        Layer of an AnnData file to read instead of X.
    raw : bool
        Whether to read the raw counts of an AnnData file instead of X.
    sheet : str or None
        Sheet of a spreadsheet; the first one where it is None.
    layout : {"auto", "wide", "long"}
        Whether a table is one row per line, or one cell per line (row, column, value).
    absent : {"zero", "missing"} or None
        What a pair that a long table does not list is; zero where it is None.
    watch : callable or None
        Called with the bytes read so far and those of the whole file.

    Examples
    --------
    >>> Request(layer="counts", watch=print).given()
    {'layer': 'counts'}
    """

    layer: str | None = None
    raw: bool = False
    sheet: str | None = None
    layout: str = "auto"
    absent: str | None = None
    watch: Watch | None = None

    def given(self) -> dict[str, object]:
        """Options that were set, but for the watch, which changes no result."""
        default = Request()
        return {
            name: value
            for name, value in vars(self).items()
            if name != "watch" and value != getattr(default, name)
        }
