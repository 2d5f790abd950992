"""Kinds of cells: what the numbers of a matrix are, and the preparation that they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyrocco._typing import Matrix
from pyrocco.backends import ChunkedMatrix
from pyrocco.cells.inspection import Facts, facts_of
from pyrocco.cells.side_sums import Table
from pyrocco.cells.values import SPARSE_DENSITY, has_safe_squares

KINDS = ("real values", "counts", "yes/no", "marks", "positive values", "different units")
# Beyond this, all numbers of double precision are whole.
_LARGEST_COUNT = 2**53
# Marks and answers on a scale are whole numbers like counts, but need no logarithm.
_LARGEST_MARK = 10
# A scale may be longer, such as that of grey levels, if it has an end: many cells have the largest
# value. Large counts are rare.
_AT_THE_END, _CELLS_AT_THE_END = 0.02, 10
# Share of yes among yes and no below which yes is counted: its noise is that of a count. The same
# goes for no.
_RARELY = 0.2
# Share of the variance between rows above which raters are generous or strict.
_ROW_EFFECT = 0.2
# Largest value of a typical column divided by its mean, and of all values by their mean.
_SKEWED, _WIDE = 2.5, 10
# Ratio of the standard deviations of columns.
_DIFFERENT_UNITS = 10
# Share of the columns that are marks or answers above which a table is not one of counts.
_MOST = 0.5
# Mean divided by the standard deviation.
_FAR_FROM_ZERO = 1000

# What a fit does in each step, for sentences.
_PHRASES = {
    "complement": "exchanges yes and no",
    "normalize": "scales rows to the same total",
    "log1p": "takes log(1 + x) of every value x",
    "log": "takes the logarithm of every value",
    "tfidf": "weights columns by tf-idf and scales rows to length 1",
    "balance": "divides every value by the square roots of the totals of its row and its column",
    "center_rows": "subtracts the mean of every row",
    "scale_rows": "scales rows to a similar spread",
    "zscore": "scales columns to mean 0 and standard deviation 1",
    "center": "subtracts the mean of all values",
}


@dataclass(frozen=True)
class Cells:
    """What the cells of a matrix are, and how they are prepared.

    Attributes
    ----------
    kind : str
        The kind: "real values", "counts", "yes/no", "marks", "positive values" or "different
        units".
    steps : tuple of str
        Names of preparations (`pyrocco.prepare`) in the order of application; empty if none is
        needed.
    sentence : str
        What a fit does with the values, and why.
    each_side : bool
        Whether columns are labelled after a preparation in which rows and columns swap their
        roles, unless values are missing; and whether blocks of counts are tried.
    column_steps : tuple of str or None
        Names of the preparations after which columns are labelled, if they are others than
        `steps`, after which rows are labelled.

    Examples
    --------
    >>> from pyrocco.inspection import Cells
    >>> Cells("yes/no", (), "The fit uses the values as they are.").steps
    ()
    >>> print(Cells("real values", ("balance",), "", column_steps=("zscore",)))
    balance; for columns zscore
    """

    kind: str
    steps: tuple[str, ...]
    sentence: str
    each_side: bool = False
    column_steps: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """Return the names of the preparations, as a table of settings shows them."""
        rows = ", ".join(self.steps) or "none"
        if self.column_steps is None:
            return rows
        return f"{rows}; for columns {', '.join(self.column_steps) or 'none'}"

    @property
    def has_two_preparations(self) -> bool:
        """Whether columns are labelled after another preparation than rows."""
        return self.each_side or self.column_steps is not None

    def forced(self, steps: tuple[str, ...], reason: str) -> Cells:
        """Return the same cells with steps that do not follow from their kind."""
        return Cells(self.kind, steps, say_steps(steps, reason))


def read_kind(X: Matrix | ChunkedMatrix, *, transposed: bool = False) -> Cells:
    """Find out what the cells of a matrix are, and how a fit prepares them.

    Parameters
    ----------
    X : ndarray, CSR matrix or chunked matrix
        The data; NaN marks missing values.
    transposed : bool
        Whether `X` is the transpose of the matrix that the question is about.

    Returns
    -------
    Cells

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.inspection import read_kind
    >>> cells = read_kind(np.random.default_rng(0).lognormal(sigma=2.0, size=(50, 20)))
    >>> cells.kind, cells.steps
    ('positive values', ('log',))
    >>> print(cells.sentence)
    The fit takes the logarithm of every value, because they are positive and spread over orders \
of magnitude.
    """
    facts = facts_of(Table(X, transposed))
    kind, steps, reason = _judge(facts)
    each_side = steps in (COUNT_STEPS, _NO_STEPS)
    sentence = say_steps(steps, f"because {reason}")
    if each_side and not facts.n_missing:
        sentence = f"{sentence} {_EACH_SIDE}"
    return Cells(kind, steps, sentence, each_side)


def say_steps(steps: Sequence[str], reason: str) -> str:
    """Say in one sentence what a fit does with the values, and why.

    Examples
    --------
    >>> say_steps(["normalize", "log1p"], "as asked")
    'The fit scales rows to the same total and takes log(1 + x) of every value x, as asked.'
    """
    phrases = [_PHRASES[step] for step in steps]
    done = ", then ".join([*phrases[:-2], " and ".join(phrases[-2:])])
    return f"The fit {done or 'uses the values as they are'}, {reason}."


# Kind, steps and reason.
_Judgement = tuple[str, tuple[str, ...], str]

# Counts: rows to equal totals, logarithms, then both totals taken out. Columns are compared in
# the same way, with the roles of rows and columns swapped.
COUNT_STEPS = ("normalize", "log1p", "balance")
_NO_STEPS = ("complement", *COUNT_STEPS)
_EACH_SIDE = "Columns are compared in the same way, after they were scaled to the same total."
_COUNTS: _Judgement = ("counts", COUNT_STEPS, "whole numbers from 0 upwards look like counts")
_RARE: _Judgement = ("yes/no", COUNT_STEPS, "all values are 0 or 1, and few are 1")
_RARELY_NO: _Judgement = ("yes/no", _NO_STEPS, "all values are 0 or 1, and few are 0")
_YES_NO: _Judgement = ("yes/no", (), "all values are 0 or 1")
_MARKS: _Judgement = ("marks", (), "whole numbers on a limited scale need no preparation")
_FAR_MARKS: _Judgement = (
    "marks",
    ("center",),
    "whole numbers on a limited scale hardly differ in comparison with their mean",
)
_RATINGS: _Judgement = (
    "marks",
    ("center_rows", "scale_rows"),
    "whole numbers on a limited scale look like marks from generous and strict raters",
)
_TFIDF: _Judgement = ("real values", (), "all rows have length 1, as after tf-idf")
_LOGARITHMS: _Judgement = (
    "real values",
    (),
    "they look like logarithms of rows that were scaled to the same total",
)
_UNIT_COLUMNS: _Judgement = (
    "real values",
    (),
    "columns already have mean 0 and standard deviation 1",
)
_SHARES: _Judgement = (
    "positive values",
    ("balance",),
    "rows have equal totals, and a few large values would dominate all others",
)
_COLUMN_SHARES: _Judgement = (
    "positive values",
    ("balance",),
    "columns have equal totals, and a few large values would dominate all others",
)
_POSITIVE: _Judgement = (
    "positive values",
    ("log",),
    "they are positive and spread over orders of magnitude",
)
_UNITS: _Judgement = (
    "different units",
    ("zscore",),
    "columns vary on very different scales, and the widest would dominate all others",
)
_SCALES: _Judgement = (
    "different units",
    ("zscore",),
    "most columns hold marks or yes/no answers and others larger numbers, which would dominate",
)
_OFFSET: _Judgement = (
    "real values",
    ("center",),
    "the values hardly differ in comparison with their mean",
)
_REAL: _Judgement = ("real values", (), "all columns vary on a similar scale")
_EXTREME: _Judgement = ("real values", (), "their squares are out of the range of numbers")


def _judge(facts: Facts) -> _Judgement:
    if facts.minimum >= 0 and facts.is_whole and facts.maximum < _LARGEST_COUNT:
        return _judge_whole(facts)
    return _judge_real(facts)


def _judge_real(facts: Facts) -> _Judgement:
    return next(judgement for judgement, applies in _rules(facts) if applies)


def _rules(facts: Facts) -> list[tuple[_Judgement, bool]]:
    """Return the kinds of values that are not counts; the first that applies is right."""
    not_negative, skewed = facts.minimum >= 0, facts.skew > _SKEWED
    mostly_zero = facts.filled < SPARSE_DENSITY
    largest = max(abs(facts.minimum), abs(facts.maximum))
    return [
        (_UNIT_COLUMNS, facts.has_unit_columns),
        (_TFIDF, not_negative and facts.has_unit_rows and mostly_zero),
        (_LOGARITHMS, facts.has_equal_totals and not facts.has_equal_sums),
        (_POSITIVE, _has_long_tail(facts)),
        (_EXTREME, not has_safe_squares(largest, float)),
        (_SHARES, facts.has_equal_sums and skewed),
        (_COLUMN_SHARES, facts.has_equal_column_sums and facts.row_skew > _SKEWED),
        (_UNITS, facts.spread > _DIFFERENT_UNITS and not mostly_zero),
        (_OFFSET, _is_far_from_zero(facts)),
        (_REAL, True),
    ]


def _is_far_from_zero(facts: Facts) -> bool:
    return 0 < _FAR_FROM_ZERO * facts.deviation < abs(facts.mean)


def _has_long_tail(facts: Facts) -> bool:
    """Whether positive values spread over orders of magnitude, within columns too."""
    is_wide = facts.maximum > _WIDE * facts.mean
    return facts.minimum > 0 and is_wide and facts.skew > _SKEWED


def _judge_whole(facts: Facts) -> _Judgement:
    if facts.maximum <= 1:
        return _judge_answers(facts.filled)
    if facts.filled >= SPARSE_DENSITY:
        if _are_on_a_scale(facts):
            return _judge_marks(facts)
        if facts.scales > _MOST:
            return _SCALES
        if facts.steady > _MOST:
            return _judge_real(facts)
    return _POSITIVE if _has_long_tail(facts) else _COUNTS  # counts would have zeros


def _judge_marks(facts: Facts) -> _Judgement:
    if facts.n_missing or facts.row_effect > _ROW_EFFECT:
        return _RATINGS
    return _FAR_MARKS if _is_far_from_zero(facts) else _MARKS


def _are_on_a_scale(facts: Facts) -> bool:
    """Whether whole numbers are marks, on a scale that may begin anywhere."""
    is_narrow = facts.maximum - facts.minimum <= _LARGEST_MARK and facts.steady > _MOST
    return facts.maximum <= _LARGEST_MARK or is_narrow or _has_an_end(facts)


def _judge_answers(share: float) -> _Judgement:
    """Judge yes and no by the share of yes."""
    if 0 < share < _RARELY:
        return _RARE
    return _RARELY_NO if 0 < 1 - share < _RARELY else _YES_NO


def are_common(share: float) -> bool:
    """Whether both yes and no are common.

    Examples
    --------
    >>> are_common(0.5), are_common(0.02)
    (True, False)
    """
    return _RARELY <= share <= 1 - _RARELY


def _has_an_end(facts: Facts) -> bool:
    """Whether so many cells have the largest value that it must be the end of a scale."""
    n_nonzero = facts.density * facts.n_rows * facts.n_columns
    return facts.n_largest >= max(_CELLS_AT_THE_END, _AT_THE_END * n_nonzero)
