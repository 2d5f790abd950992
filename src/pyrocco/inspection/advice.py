"""Which preparation a matrix seems to need. Nothing is applied here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyrocco.inspection.facts import Facts
from pyrocco.inspection.names import look_like_genes, look_like_words

__all__ = ["Advice", "advise"]

# The estimators' own border between sparse and dense data.
_SPARSE_DENSITY = 0.5
# Marks and answers on a scale are whole numbers too, but need no logarithm.
_LARGEST_MARK = 10
_SKEWED = 10
_DIFFERENT_UNITS = 10


@dataclass(frozen=True)
class Advice:
    """What the values seem to be, and what to do about it.

    Attributes
    ----------
    kind : str
        What the values seem to be, in a few words.
    steps : tuple of str
        Names of preparations (`pyrocco.prepare`), in their order; empty where none is needed.
    transpose : bool
        Whether rows and columns should be swapped before.
    reason : str
        Plain sentences.

    Examples
    --------
    >>> Advice("marks", (), False, "Fine as they are.").steps
    ()
    """

    kind: str
    steps: tuple[str, ...]
    transpose: bool
    reason: str


def advise(
    facts: Facts, row_names: Sequence[str] = (), column_names: Sequence[str] = ()
) -> Advice:
    """Recommend preparations.

    Parameters
    ----------
    facts : Facts
        What the values are like.
    row_names, column_names : sequence of str
        Names, which may tell genes and words.

    Returns
    -------
    Advice

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.inspection import gather_facts
    >>> X = np.random.default_rng(0).poisson([0.1, 100.0], (50, 2))
    >>> advise(gather_facts(X.astype(float))).steps
    ('normalize', 'log1p')
    """
    genes_are_rows = look_like_genes(row_names) and not look_like_genes(column_names)
    kind, steps, reason = _judge(facts, row_names if genes_are_rows else column_names)
    transpose = genes_are_rows and bool(steps)
    if transpose:
        reason = f"Rows look like genes, but preparations expect cells as rows. {reason}"
    return Advice(kind, steps, transpose, reason)


_Judgement = tuple[str, tuple[str, ...], str]

_GENES: _Judgement = (
    "counts of genes",
    ("normalize", "log1p"),
    "Cells are read to different depths, and a few genes outweigh the others.",
)
_WORDS: _Judgement = (
    "counts of words",
    ("tfidf",),
    "Documents differ in length, and words that are everywhere tell little.",
)
_COUNTS: _Judgement = (
    "counts",
    ("normalize", "log1p"),
    "Whole numbers that start at 0 look like counts. If the columns are words and the rows "
    "documents, take tfidf instead.",
)
_YES_NO: _Judgement = ("yes or no", (), "All values are 0 or 1.")
_MARKS: _Judgement = ("marks", (), "Whole numbers on a short scale.")
_TFIDF: _Judgement = ("tf-idf", (), "All rows have length 1, as tf-idf leaves them.")
_LOGGED: _Judgement = ("logarithms", (), "Rows have been normalised and a logarithm taken.")
_SCALED: _Judgement = ("scaled", (), "Columns already have mean 0 and standard deviation 1.")
_LONG_TAILED: _Judgement = (
    "long-tailed",
    ("log1p",),
    "The largest values of a column are many times its mean and would outweigh all others.",
)
_UNITS: _Judgement = (
    "different units",
    ("zscore",),
    "Columns vary on very different scales, so that the widest would outweigh all others.",
)
_FINE: _Judgement = ("one scale", (), "Columns vary on much the same scale.")


def _judge(facts: Facts, column_names: Sequence[str]) -> _Judgement:
    if facts.minimum < 0:
        return _SCALED if facts.has_unit_columns else _by_scale(facts)
    if facts.is_whole:
        return _judge_whole(facts, column_names)
    if facts.has_unit_rows and facts.density < _SPARSE_DENSITY:
        return _TFIDF
    if facts.has_equal_totals:
        return _LOGGED
    return _LONG_TAILED if facts.skew > _SKEWED else _by_scale(facts)


def _judge_whole(facts: Facts, column_names: Sequence[str]) -> _Judgement:
    if facts.maximum <= 1:
        return _YES_NO
    if look_like_genes(column_names):
        return _GENES
    if look_like_words(column_names) and facts.density < _SPARSE_DENSITY:
        return _WORDS
    is_short = facts.maximum <= _LARGEST_MARK and facts.density >= _SPARSE_DENSITY
    return _MARKS if is_short else _COUNTS


def _by_scale(facts: Facts) -> _Judgement:
    return _UNITS if facts.spread > _DIFFERENT_UNITS else _FINE
