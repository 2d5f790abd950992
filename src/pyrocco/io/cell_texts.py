"""What the text of a cell means: a number, a yes/no answer, a missing value, or something else."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyrocco.cells.answers import YES_NO
from pyrocco.io.named_matrix import INFINITE

__all__ = [
    "ANSWER",
    "EMPTY",
    "HEADINGS_BELOW",
    "MISSING",
    "NEITHER",
    "NUMBER",
    "POINT",
    "TEXT",
    "NumberFormat",
    "are_texts",
    "cell_problem",
    "column_kind",
    "is_missing",
    "is_number",
    "is_whole",
    "to_number",
]

# What a column holds. An answer is yes or no. Of lists and the like, neither names nor numbers
# can be made.
NUMBER, TEXT, ANSWER, EMPTY, NEITHER = "number", "text", "answer", "empty", "neither"

_MISSING_WORDS = ("na", "n/a", "#n/a", "nan", "null", "none")
_MISSING_SIGNS = ("", "-", "--", ".", "?")
_MISSING_LOWER = frozenset((*_MISSING_SIGNS, *_MISSING_WORDS))
# Fast readers compare letter by letter, so every spelling is listed.
MISSING = (
    *_MISSING_SIGNS,
    *(form(word) for word in _MISSING_WORDS for form in (str, str.upper, str.title)),
    "NaN",
)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}([ ,.'\u00a0\u202f]\d{3})+([.,]\d*)?")
_WHOLE = re.compile(r"\s*[-+]?\d+(\.0*)?\s*")
# Answers in words; 0 and 1 are numbers.
_PAIRS = [(set(yes), set(no)) for yes, no in YES_NO if not yes[0].isdecimal()]
_ANSWERS = {word: 1.0 for yes, _ in _PAIRS for word in yes}
_ANSWERS |= {word: 0.0 for _, no in _PAIRS for word in no}


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written: the decimal sign, and what separates thousands, if anything.

    `signs` may stand before or behind a number, such as ``%``.
    """

    decimal: str = "."
    thousands: str = ""
    signs: str = ""

    def plain(self, cell: str) -> str:
        """Return a cell as Python writes numbers, if it is a number.

        Examples
        --------
        >>> NumberFormat(",", ".", "€").plain("-1.234,5 €")
        '-1234.5'
        """
        if self.signs:
            cell = self._without_sign(cell.strip())
        if self.thousands and self.thousands in cell:
            cell = self._without_thousands(cell.strip())
        if self.decimal == ",":
            # A point is then not part of a number.
            return "" if "." in cell else cell.replace(",", ".", 1)
        return cell

    def _without_sign(self, cell: str) -> str:
        minus = cell[:1] if cell[:1] in ("-", "+") else ""
        bare = cell.removeprefix(minus)
        if bare[:1] in self.signs:
            return minus + bare[1:].lstrip()
        return minus + bare[:-1].rstrip() if bare[-1:] in self.signs else cell

    def _without_thousands(self, cell: str) -> str:
        whole, sign, rest = cell.partition(self.decimal)
        groups = whole.lstrip("+-").split(self.thousands)
        is_grouped = 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        if not (is_grouped and all(group.isdecimal() for group in groups)):
            return ""
        return f"{whole.replace(self.thousands, '')}{sign}{rest}"


POINT = NumberFormat()


def is_missing(cell: str) -> bool:
    """Whether a cell is empty or says that there is no value, such as ``NA``."""
    return cell.strip().lower() in _MISSING_LOWER


def is_number(cell: str, form: NumberFormat = POINT) -> bool:
    """Whether a cell holds a number, finite or not."""
    if "_" in cell or is_missing(cell):  # Python accepts 1_000 as a number; tables do not use it
        return False
    try:
        float(form.plain(cell))
    except ValueError:
        return False
    return True


def is_whole(cell: str) -> bool:
    """Whether a cell holds a whole number without a separator of thousands."""
    return _WHOLE.fullmatch(cell) is not None


def to_number(cell: str, form: NumberFormat = POINT) -> float:
    """Return the value of a cell: a number, 1 for yes, 0 for no, or NaN if it is missing."""
    if is_missing(cell):
        return math.nan
    answer = _ANSWERS.get(cell.strip().casefold())
    return float(form.plain(cell)) if answer is None else answer


def cell_problem(cell: str, form: NumberFormat = POINT, are_answers: bool = False) -> str:
    """Say what is wrong with a cell that should hold a number, or return an empty string.

    If `are_answers` is true, the cell should be yes or no in some language.
    """
    if is_missing(cell):
        return ""
    text = " ".join(cell.split())  # the message is one line
    quoted = f'"{text if len(text) <= 40 else text[:37] + "..."}"'
    if are_answers:
        known = cell.strip().casefold() in _ANSWERS
        return "" if known else f"holds {quoted}, which is neither yes nor no"
    if not is_number(cell, form):
        if _THOUSANDS.fullmatch(cell.strip()):
            return (
                f"holds {quoted}, but most numbers are written without such separators of "
                "thousands: write all numbers in the same way"
            )
        return (
            f"holds the text {quoted}, not a number: correct it, or empty the cell if "
            "the value is missing"
        )
    return INFINITE if math.isinf(to_number(cell, form)) else ""


# What is wrong with a first row of texts.
HEADINGS_BELOW = (
    "holds texts only: delete it if it holds units, "
    "or use --skip-rows if it holds the column names"
)


def are_texts(cells: Sequence[str], form: NumberFormat = POINT) -> bool:
    """Whether cells that should hold numbers hold texts, all of them and more than one.

    Examples
    --------
    >>> are_texts(["mg/l", "mmol"]), are_texts(["mg/l", "3.5"])
    (True, False)
    """
    return len(cells) > 1 and not any(is_missing(cell) or is_number(cell, form) for cell in cells)


def column_kind(cells: Sequence[str], form: NumberFormat = POINT) -> str:
    """Return what a column holds, judged by some of its cells.

    It holds numbers if at least half of the cells that are not missing are numbers, and answers
    if all of them are yes or no in one language.
    """
    filled = [cell for cell in cells if not is_missing(cell)]
    if not filled:
        return EMPTY
    numbers = sum(is_number(cell, form) for cell in filled)
    if 2 * numbers >= len(filled):
        return NUMBER
    return ANSWER if _are_answers({cell.strip().casefold() for cell in filled}) else TEXT


def _are_answers(words: set[str]) -> bool:
    """Whether words are yes and no in one language; a letter alone may mean anything."""
    is_word = len(max(words, key=len)) > 1
    return any(
        words <= yes | no and (is_word or (words & yes and words & no)) for yes, no in _PAIRS
    )
