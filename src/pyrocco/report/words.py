"""What the page calls a row and a column, such as a cell and a gene."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Words"]


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
