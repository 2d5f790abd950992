"""Find the line of column names in the first lines of a table, and the titles above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from pyrocco.io.cell_texts import (
    ANSWER,
    EMPTY,
    NUMBER,
    POINT,
    TEXT,
    NumberFormat,
    column_kind,
    is_missing,
    is_number,
    is_whole,
    to_number,
)
from pyrocco.io.column_facts import is_entity

__all__ = ["SAMPLE_LINES", "count_titles", "find_header", "kinds_below", "usual_width"]

SAMPLE_LINES = 50
_MOST_TITLES = 10
# Numbers that may be years.
_YEARS = range(1500, 2201)
# A line with a smaller share of filled cells is no line of column names below titles.
_FULL = 2 / 3

Record = Sequence[str]
Header = tuple[tuple[str, ...] | None, int | None]


def usual_width(records: Sequence[Record]) -> int:
    """Return the number of cells on most lines below the first; the first line breaks ties."""
    first, *body = records
    widths = Counter(map(len, body)) or Counter([len(first)])
    return max(widths, key=lambda width: (widths[width], width == len(first)))


def kinds_below(
    first: Record, sample: Sequence[Record], width: int, form: NumberFormat
) -> list[str]:
    """Return what the columns hold, judged by the lines below the first."""
    if sample:
        return [column_kind(cells, form) for cells in zip(*sample, strict=True)]
    if 2 * _count_texts(first, form) > width:  # headings with nothing below
        return [EMPTY] * width
    return [column_kind([cell], form) for cell in first]


def find_header(
    first: Record, sample: Sequence[Record], kinds: Sequence[str], form: NumberFormat
) -> Header:
    """Return the headings, if any, and the column of row names if the headings show it."""
    stripped = tuple(cell.strip() for cell in first)
    if len(first) == len(kinds) - 1 and _count_texts(first, form):
        return ("", *stripped), 0  # as R writes a table: no heading above the row names
    if len(first) > 1 and not stripped[0]:
        return stripped, 0  # an unnamed corner
    measured = [j for j, kind in enumerate(kinds[: len(first)]) if kind != TEXT]
    cells = [first[j] for j in measured]
    n_texts = sum(_is_heading(first[j], kinds[j], form) for j in measured)
    if 2 * n_texts > len(cells):
        return stripped, None
    numbers = [j for j in measured if is_number(first[j], form)]
    others = [[record[j] for j in numbers] for record in sample]
    has_corner = kinds[0] == TEXT or _is_heading(first[0], kinds[0], form)
    cells = [first[j] for j in numbers]
    if has_corner and _are_headings(cells, others, stripped[0], form, n_texts):
        return stripped, None
    return None, None


def _is_heading(cell: str, kind: str, form: NumberFormat) -> bool:
    """Whether a cell above numbers or answers is neither."""
    if is_missing(cell) or is_number(cell, form):
        return False
    return kind != ANSWER or column_kind([cell], form) != ANSWER


def _count_texts(cells: Record, form: NumberFormat) -> int:
    return sum(not is_missing(cell) and not is_number(cell, form) for cell in cells)


def _are_headings(
    cells: Record, others: Sequence[Record], corner: str, form: NumberFormat, n_texts: int
) -> bool:
    """Whether numbers on the first line are headings: years, doses, time points.

    `n_texts` other cells on the line are certainly headings.
    """
    if not cells or not others:
        return False
    are_whole = all(map(is_whole, cells))
    are_several = len(cells) + n_texts > 1
    if len(set(cells)) < len(cells):  # such as replicates of the same time points
        has_fractions = not all(is_whole(cell) for row in others for cell in row)
        return are_whole and are_several and has_fractions and is_entity(corner)
    are_years = _are_years(cells, form) and not all(_are_years(row, form) for row in others)
    if are_whole and are_several and (are_years or is_entity(corner)):
        return True
    # They rise from left to right, which three or more measured values seldom do, unless they do
    # so on every line.
    rising = sum(_rises(row, form) for row in others)
    return len(cells) >= 3 and _rises(cells, form) and 2 * rising < len(others)


def _are_years(cells: Record, form: NumberFormat) -> bool:
    values = [to_number(cell, form) for cell in cells if is_number(cell, form)]
    return len(values) == len(cells) and all(value in _YEARS for value in values)


def _rises(cells: Record, form: NumberFormat) -> bool:
    if not all(is_number(cell, form) for cell in cells):
        return False
    values = [to_number(cell, form) for cell in cells]
    return all(a < b for a, b in pairwise(values))


def count_titles(records: Sequence[Record], form: NumberFormat = POINT) -> int:
    """Count the lines of text above the line of column names, or above a table without one."""
    width = usual_width(records[len(records) // 2 :])
    found = _count_uneven(records[: min(_MOST_TITLES, len(records) - 1)], width, form)
    while found < min(_MOST_TITLES, len(records) - 1) and _is_title(records[found], width, form):
        found += 1
    if width < 2 or not found:
        return 0
    if all(len(record) == 1 for record in records[:found]) and len(records[found]) >= width - 1:
        return found
    is_short = any(len(record) < width - 1 for record in records[:found])
    return found if _starts_with_header(records[found:], width, form, is_short) else 0


def _count_uneven(records: Sequence[Record], width: int, form: NumberFormat) -> int:
    """Count lines up to the last that is too short, if all are shorter than the table.

    A title with commas has several cells.
    """
    short = [i for i, record in enumerate(records) if len(record) < width - 1]
    above = records[: short[-1] + 1] if short else []
    cells = [cell for record in above for cell in record]
    are_titles = all(len(record) < width for record in above)
    return len(above) if are_titles and not any(is_number(cell, form) for cell in cells) else 0


def _is_title(record: Record, width: int, form: NumberFormat) -> bool:
    """Whether a line has few cells, which begin with a text."""
    filled = [cell for cell in record if cell.strip()]
    if not filled or is_number(filled[0], form) or len(record) > width:
        return not filled and len(record) <= width
    if len(record) < width - 1:
        return not any(is_number(cell, form) for cell in filled) or len(filled) <= 2
    return len(filled) <= max(1, width // 3)


def _starts_with_header(
    records: Sequence[Record], width: int, form: NumberFormat, is_sure: bool
) -> bool:
    """Whether the first line holds the names of columns.

    Unless the lines above are titles for sure, numbers that happen to rise are not enough.
    """
    first = records[0]
    sample = [record for record in records[1:] if len(record) == width]
    if not sample or len(first) not in (width - 1, width):
        return False
    kinds = kinds_below(first, sample, width, form)
    header, _ = find_header(first, sample, kinds, form)
    n_filled = sum(bool(cell.strip()) for cell in first)
    has_data = NUMBER in kinds or ANSWER in kinds
    if header is None or not has_data or n_filled < _FULL * len(first):
        return False
    measured = [cell for cell, kind in zip(first, kinds, strict=False) if kind != TEXT]
    texts = [cell for cell in measured if not is_number(cell, form)]
    return is_sure or bool(texts) or is_entity(first[0]) or _are_years(measured, form)
