"""Recognise a long table, one line per cell, by its columns and its headings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pyrocco._typing import Floats
from pyrocco.io.cell_texts import ANSWER, EMPTY, NEITHER, NUMBER, TEXT
from pyrocco.io.column_facts import ColumnFacts, heading_words, is_entity, is_time
from pyrocco.io.headings import SAMPLE_LINES

__all__ = ["absent_value", "find_long"]

_COUNTS = {"count", "counts", "n", "freq", "frequency", "tf", "quantity", "qty", "amount", "sales"}
_COUNTS |= {"purchases", "plays", "clicks", "views", "tpm", "fpkm", "reads"}
_MARKS = {"rating", "ratings", "stars", "star", "grade", "grades", "mark", "marks", "note"}
_VALUES = _MARKS | _COUNTS | {"value", "values", "x", "weight", "score", "expression"}
_COUNTERS = {"", "id", "index", "nr", "no", "unnamed: 0", "__index_level_0__"}
# The numbers of a table without headings show from this many lines on that it is long. Its
# values are then marks: a few different ones, of ten at most.
_LEAST_LINES = 4
_MOST_LEVELS, _HIGHEST_MARK = 20, 10
# Marks without such a heading are known from this many on.
_LEAST_MARKS = 10
# The highest mark is given at least so often; the highest of many counts is rare.
_TOP_SHARE = 0.05

Long = tuple[int, int, int]


def find_long(
    facts: Sequence[ColumnFacts],
    names: Sequence[str] | None,
    columns: Sequence[int],
    is_sure: bool,
) -> Long | None:
    """Return the columns of rows, columns and values among `columns`, or None if it is not long.

    If `is_sure` is true, the table is known to be long.
    """
    found = (
        _by_headings(facts, names, columns, is_sure)
        or _by_kinds(facts, names, columns)
        or (_by_numbers(facts, columns) if names is None else None)
    )
    return found or (_first_three(names, columns) if is_sure else None)


def absent_value(values: Floats, heading: str | None, has_others: bool = False) -> str:
    """Return how to treat pairs that are not listed: as "zero" or "missing".

    Whoever gives no mark has none, and what was bought or counted but is not listed is zero. Marks
    are known by their heading, or by their values: halves or whole numbers up to ten of which the
    lowest is not the most frequent and the highest not rare, as they are among counts.
    Measurements below zero are no counts. `has_others` says whether the table has more columns: a
    table without headings is recognised by its marks and a time beside them.
    """
    words = set(heading_words(heading or ""))
    filled = values[~np.isnan(values)]
    if not len(filled) or words & _COUNTS:
        return "zero"
    is_rated = heading is None and has_others and filled.max() <= _HIGHEST_MARK
    if words & _MARKS or is_rated or filled.min() < 0:
        return "missing"
    levels, times = np.unique(filled[: _MOST_LEVELS * 1000], return_counts=True)
    if len(levels) > _MOST_LEVELS or levels[-1] > _HIGHEST_MARK or (2 * levels % 1 != 0).any():
        return "zero"
    is_scale = len(filled) >= _LEAST_MARKS and len(levels) > 2
    is_full = times[0] < times.max() and times[-1] >= _TOP_SHARE * times.sum()
    return "missing" if is_scale and is_full else "zero"


def _by_headings(
    facts: Sequence[ColumnFacts],
    names: Sequence[str] | None,
    columns: Sequence[int],
    is_sure: bool,
) -> Long | None:
    """Recognise headings such as user, movie, rating, timestamp."""
    if names is None:
        return None
    things = [j for j in columns if _names_things(facts[j], names[j])]
    values = [j for j in columns if _holds_values(facts[j], names[j])]
    if len(things) < 2 or len(values) != 1:
        return None
    found = (things[0], things[1], values[0])
    rest = [j for j in columns if j not in found]
    return found if is_sure or _fits(facts, names, found, rest) else None


def _names_things(facts: ColumnFacts, heading: str) -> bool:
    """Whether a column names rows or columns; one that counts the lines does not."""
    if heading.strip().lower() in _COUNTERS and not facts.repeats:
        return False
    return is_entity(heading) and (facts.kind == TEXT or facts.is_whole)


def _holds_values(facts: ColumnFacts, heading: str) -> bool:
    words = heading_words(heading)
    return facts.kind == NUMBER and bool(words) and words[-1] in _VALUES


def _fits(
    facts: Sequence[ColumnFacts], names: Sequence[str], found: Long, rest: Sequence[int]
) -> bool:
    """Whether no other column is data, and names repeat as they do in a long table."""
    row, column, _ = (facts[j] for j in found)
    are_numbers = row.kind == NUMBER and column.kind == NUMBER
    if not (row.repeats or column.repeats or (are_numbers and len(rest) <= 1)):
        return False
    others = [j for j in rest if not is_time(facts[j], names[j])]
    counters = [j for j in others if names[j].strip().lower() in _COUNTERS]
    texts = [j for j in others if facts[j].kind in (TEXT, ANSWER, NEITHER, EMPTY)]
    if set(others) - {*counters, *texts}:
        return False
    # Texts that tell repeated pairs apart, such as a region, would be lost.
    return not texts or _are_distinct(row, column)


def _are_distinct(row: ColumnFacts, column: ColumnFacts) -> bool:
    pairs = list(zip(row.cells, column.cells, strict=True))
    return len(set(pairs)) == len(pairs)


def _by_kinds(
    facts: Sequence[ColumnFacts], names: Sequence[str] | None, columns: Sequence[int]
) -> Long | None:
    """Recognise two columns of names and one of numbers, beside times and dates."""
    headings = names or [""] * len(facts)
    times = [j for j in columns if is_time(facts[j], headings[j])]
    rest = [j for j in columns if j not in times]
    if len(rest) != 3:  # a date may be a name, too
        times, rest = [], list(columns)
    texts = [j for j in rest if facts[j].kind in (TEXT, ANSWER, NEITHER)]
    numbers = [j for j in rest if facts[j].kind in (NUMBER, EMPTY)]
    if len(texts) != 2 or len(numbers) != 1:
        return None
    row, column = (facts[j] for j in texts)
    if not _repeat_as_in_long(row, column) or (times and not _are_distinct(row, column)):
        return None
    return texts[0], texts[1], numbers[0]


def _repeat_as_in_long(row: ColumnFacts, column: ColumnFacts) -> bool:
    """Whether names repeat as in a long table.

    Both do, unless the lines are sorted by one of them and only the first lines are known.
    Otherwise every line has a name of its own, and the other names are a property of it, such as
    a treatment.
    """
    if row.repeats and column.repeats:
        return True
    repeated = row if row.repeats else column
    is_sorted = sum(a != b for a, b in pairwise(repeated.cells)) + 1 == len(set(repeated.cells))
    return repeated.repeats and is_sorted and len(repeated.cells) >= SAMPLE_LINES - 1


def _by_numbers(facts: Sequence[ColumnFacts], columns: Sequence[int]) -> Long | None:
    """Recognise numbers of raters, numbers of things and marks without any headings."""
    if len(columns) not in (3, 4) or any(facts[j].kind != NUMBER for j in columns):
        return None
    row, column, value = (facts[j] for j in columns[:3])
    if not (row.is_whole and column.is_whole and _are_distinct(row, column) and _are_marks(value)):
        return None
    has_time = len(columns) == 4 and is_time(facts[columns[3]], "")
    if not (has_time or (len(columns) == 3 and _is_sorted_with_repeats(row))):
        return None
    return columns[0], columns[1], columns[2]


def _are_marks(facts: ColumnFacts) -> bool:
    try:
        values = {float(cell) for cell in facts.cells}
    except ValueError:  # some are missing
        return False
    is_short = (
        1 < len(values) <= _MOST_LEVELS and min(values) >= 0 and max(values) <= _HIGHEST_MARK
    )
    return len(facts.cells) >= _LEAST_LINES and is_short and all(2 * v % 1 == 0 for v in values)


def _is_sorted_with_repeats(facts: ColumnFacts) -> bool:
    numbers = [float(cell) for cell in facts.cells]
    return facts.repeats and all(a <= b for a, b in pairwise(numbers))


def _first_three(names: Sequence[str] | None, columns: Sequence[int]) -> Long | None:
    """Return the first three columns, after an unnamed one in which a program counted the rows."""
    first = 1 if names and len(columns) > 3 and not names[columns[0]].strip() else 0
    if len(columns) < 3:
        return None
    return columns[first], columns[first + 1], columns[first + 2]
