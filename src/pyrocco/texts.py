"""How numbers, durations and names are written in messages, and how texts are sorted."""

from __future__ import annotations

import datetime
import re

__all__ = ["counted", "format_seconds", "natural_order", "one_line", "plain_text"]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural if need be.

    Examples
    --------
    >>> counted(1, "row"), counted(20531, "row")
    ('1 row', '20,531 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_seconds(seconds: float) -> str:
    """Write a duration in the unit that is easy to read.

    Examples
    --------
    >>> [format_seconds(seconds) for seconds in (0.2, 75, 1000, 9000)]
    ['1 s', '75 s', '17 min', '2.5 h']
    """
    if seconds < 100:
        return f"{max(seconds, 1):.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


def one_line(text: object) -> str:
    """Return a text without line breaks and repeated spaces."""
    return " ".join(str(text).split())


def plain_text(value: object) -> str:
    """Return a value as a text; whole numbers have no decimal point, and dates no time.

    Examples
    --------
    >>> plain_text(7.0), plain_text("a"), plain_text(datetime.datetime(2024, 3, 1))
    ('7', 'a', '2024-03-01')
    """
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    # The floats of NumPy in double precision are floats of Python, too.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def natural_order(text: str) -> list[tuple[bool, int, str]]:
    """Return a key that sorts "day 2" before "day 10".

    Examples
    --------
    >>> sorted(["day 10", "day 2"], key=natural_order)
    ['day 2', 'day 10']
    """
    parts = re.split(r"(\d+)", text)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
