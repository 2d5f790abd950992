"""How numbers, durations and names are written, what a row is called, how texts are sorted."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

__all__ = ["Words", "counted", "format_seconds", "natural_order", "one_line", "plain_text"]


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


@dataclass(frozen=True)
class Words:
    """Names of one row, of one column and of one entry of the matrix.

    Examples
    --------
    >>> words = Words("cell", "gene")
    >>> words.entry, words.letters, words.replaced("{Rows} and {columns} of the {entries}")
    ('value', ('C', 'G'), 'Cells and genes of the values')
    """

    row: str = "row"
    column: str = "column"

    @property
    def entry(self) -> str:
        """What an entry of the matrix is called; "cell", unless that is a row or a column."""
        return "value" if "cell" in (self.row, self.column) else "cell"

    @property
    def letters(self) -> tuple[str, str]:
        """The letters with which names of row clusters and of column clusters begin."""
        return self.row[:1].upper(), self.column[:1].upper()

    def translated(self, text: str) -> str:
        """Put the words in place of row, column and cell in a sentence that was written already.

        Examples
        --------
        >>> Words("cell", "gene").translated('Cells far from their rows, such as "row 3".')
        'Values far from their cells, such as "row 3".'
        """
        names = {"row": self.row, "column": self.column, "cell": self.entry}
        if names == {name: name for name in names}:
            return text

        def named(match: re.Match[str]) -> str:
            if match[1] is None:  # a name in quotation marks
                return match[0]
            word = names[match[1].lower()]
            return (word.capitalize() if match[1][0].isupper() else word) + match[2]

        return re.sub(r'"[^"]*"|\b(row|column|cell)(s?)\b', named, text, flags=re.IGNORECASE)

    def replaced(self, text: str) -> str:
        """Put the words in place of {row}, {Columns}, {entries} and so on."""
        words = {"row": self.row, "column": self.column, "entry": self.entry}
        words |= {
            "rows": f"{self.row}s",
            "columns": f"{self.column}s",
            "entries": f"{self.entry}s",
        }
        words |= {"R": self.letters[0], "C": self.letters[1]}
        words |= {word.capitalize(): text.capitalize() for word, text in words.items()}
        return text.format(**words)
