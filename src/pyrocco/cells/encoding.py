"""Encode a table of numbers, yes/no answers and categories as a matrix of numbers."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pyrocco._typing import Floats
from pyrocco.cells.answers import YES_NO
from pyrocco.cells.encoded_columns import (
    CategoryColumn,
    EncodedColumn,
    NumberColumn,
    OrderedColumn,
    YesNoColumn,
    is_numeric,
    numbers_of,
    texts_of,
)
from pyrocco.texts import counted
from pyrocco.validation import shown

# Answers with an order, from low to high; words of one place mean the same.
_SCALES = tuple(
    tuple(tuple(level.split("|")) for level in scale)
    for scale in (
        (
            "strongly disagree|disagree strongly|completely disagree",
            "disagree",
            "somewhat disagree|slightly disagree",
            "neutral|neither agree nor disagree|neither|undecided|not sure",
            "somewhat agree|slightly agree",
            "agree",
            "strongly agree|agree strongly|completely agree",
        ),
        ("never", "rarely|seldom", "sometimes|occasionally", "often|frequently|usually", "always"),
        (
            "very dissatisfied|very unsatisfied",
            "dissatisfied|unsatisfied",
            "neutral|neither satisfied nor dissatisfied|neither",
            "satisfied",
            "very satisfied",
        ),
        ("very poor|very bad", "poor|bad", "fair|average|ok", "good", "very good", "excellent"),
        ("none", "very low", "low", "medium|moderate|middle|mid", "high", "very high"),
        ("none", "very mild", "mild", "moderate", "severe", "very severe"),
        ("tiny", "small", "medium", "large|big", "huge"),
    )
)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( .*)?")
_TIMES = ("date", "time", "period")
# A column of texts is one of categories if it has at most this many, or the square root of the
# number of rows, and they repeat: at most half as many as rows, unless they are very few.
_MOST_CATEGORIES = 20
_VERY_FEW = 5
_IDENTIFIERS = 0.9
# Half of the texts have at least this many words.
_FREE_TEXT_WORDS = 4
# Numbers that differ by less than this share of the largest are constant.
_ROUNDING = 1e-12
# A table is of mixed types if this share of its columns are texts that can be encoded.
_MIXED_SHARE = 0.25
_LEAST_TEXTS = 3


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table that was encoded as a matrix; see `encode`.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_encoded_columns)
        Numbers; NaN for missing values.
    columns : tuple
        How each column of the table that is used was encoded.
    left_out : mapping of str to str
        Columns of the table that are not used, and why.
    sentence : str
        What was done, in words.

    Examples
    --------
    >>> import pandas as pd
    >>> from pyrocco.prepare import encode
    >>> table = pd.DataFrame({"pet": ["cat", "dog", "cat"], "happy": ["yes", "no", "no"]})
    >>> encoded = encode(table)
    >>> encoded.column_names, encoded.sources
    (('pet = cat', 'pet = dog', 'happy'), ('pet', 'pet', 'happy'))
    """

    X: Floats
    columns: tuple[EncodedColumn, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    sentence: str = ""

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the encoded columns, such as ``colour = red``."""
        return tuple(name for column in self.columns for name in column.names)

    @property
    def sources(self) -> tuple[str, ...]:
        """For every encoded column, the name of its column in the table."""
        return tuple(column.name for column in self.columns for _ in column.names)

    def like(self, data: Any) -> Encoded:
        """Encode other rows in the same way, for instance to predict their clusters.

        Parameters
        ----------
        data : DataFrame
            A table with the same columns, in any order; others are not used.

        Returns
        -------
        Encoded
            Categories that the first table does not contain become missing values.

        Raises
        ------
        ValueError
            If a column is missing, or a column of numbers holds something else.
        """
        return encode_like(data, self.columns)


def encode(data: Any) -> Encoded:
    """Encode a table of numbers, yes/no answers and categories as a matrix of numbers.

    Every column of the table gets the same weight, a total variance of 1, whether it is a number
    or a category of ten values:

    - Numbers are shifted and scaled to mean 0 and variance 1. If they are positive with a long
      upper tail, such as incomes, their logarithm is used. Outliers are moved to three times the
      interquartile range outside of the quartiles.
    - Yes/no answers (also true/false, ja/nein, oui/non, 0/1) become 0 for no and one number for
      yes.
    - Ordered categories (ordered pandas categories, and usual scales such as never, sometimes,
      always) become equally spaced numbers with mean 0.
    - Other categories become one column each, which is 0 except in the rows of the category.

    Parameters
    ----------
    data : pandas or polars DataFrame
        The table; it is not changed. Missing values are allowed in every column.

    Returns
    -------
    Encoded
        With the matrix as `X`, the names of its columns as `column_names`, and what was done as
        `sentence`. Identifiers, free text, dates and constant columns are `left_out`. Fit the
        matrix with ``ROCCO(prepare=None)``: its columns have equal weights already.

    Raises
    ------
    TypeError
        If `data` is not a DataFrame.
    ValueError
        If no column can be used, two columns have the same name or a number is infinite.

    Examples
    --------
    >>> import pandas as pd
    >>> from pyrocco.prepare import encode
    >>> people = pd.DataFrame(
    ...     {
    ...         "name": ["Ann", "Bob", "Cem", "Dee"],
    ...         "age": [20, 40, 20, 40],
    ...         "smoker": ["no", "yes", "no", None],
    ...         "colour": ["red", "blue", "red", "green"],
    ...     }
    ... )
    >>> encoded = encode(people)
    >>> print(encoded.sentence)
    1 numeric column was scaled, 1 yes/no column became 0 and 1, and the categories of 1 column ...
    >>> encoded.left_out
    {'name': 'every row has a different text'}
    >>> encoded.column_names
    ('age', 'smoker', 'colour = blue', 'colour = green', 'colour = red')
    >>> encoded.X.round(2)
    array([[-1.  ,  0.  ,  0.  ,  0.  ,  1.26],
           [ 1.  ,  2.12,  1.26,  0.  ,  0.  ],
           [-1.  ,  0.  ,  0.  ,  0.  ,  1.26],
           [ 1.  ,   nan,  0.  ,  1.26,  0.  ]])
    >>> encoded.like(people[1:2]).X.round(2)
    array([[1.  , 2.12, 1.26, 0.  , 0.  ]])
    """
    table = _as_table(data)
    learned = _learn_all(table)
    left_out = {name: found for name, found in learned.items() if isinstance(found, str)}
    columns = tuple(found for found in learned.values() if not isinstance(found, str))
    if not columns:
        raise ValueError(
            f"the table has no column that can be encoded. {_about_left_out(left_out)}"
        )
    sentence = " ".join(filter(None, (_about_columns(columns), _about_left_out(left_out))))
    return Encoded(_stack(table, columns), columns, left_out, sentence)


def encode_like(data: Any, columns: Sequence[EncodedColumn]) -> Encoded:
    """Encode a table as an earlier one, given how the columns of that were encoded.

    Parameters
    ----------
    data : pandas or polars DataFrame
        The table.
    columns : sequence
        The attribute `columns` of the earlier `Encoded`.

    Returns
    -------
    Encoded

    Raises
    ------
    ValueError
        If a column is missing, or a column of numbers holds something else.

    Examples
    --------
    >>> import pandas as pd
    >>> from pyrocco.prepare import encode, encode_like
    >>> columns = encode(pd.DataFrame({"pet": ["cat", "dog"] * 3})).columns
    >>> new = encode_like(pd.DataFrame({"pet": ["dog", "axolotl"]}), columns)
    >>> new.X.round(2)
    array([[0.  , 1.41],
           [ nan,  nan]])
    >>> print(new.sentence)
    Columns were encoded as for the fit. 1 value is in none of the categories and counts as ...
    """
    table = _as_table(data)
    absent = [column.name for column in columns if column.name not in table]
    if absent:
        raise ValueError(
            f"the table has no column {shown(absent[0])}, which the first table has: add it, with "
            "missing values if it is not known."
        )
    X = _stack(table, columns)
    sentence = f"Columns were encoded as for the fit.{_about_unknown(table, columns, X)}"
    return Encoded(X, tuple(columns), sentence=sentence)


def is_mixed(data: Any) -> bool:
    """Whether a table has so many texts that it should be encoded.

    At least a quarter of the columns that can be used are texts with yes/no answers or
    categories, and they are three or more, or more than half of the columns. Otherwise texts
    are probably annotations beside a matrix of numbers.

    Parameters
    ----------
    data : pandas or polars DataFrame
        The table, or some of its rows.

    Returns
    -------
    bool

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"smoker": ["yes", "no"], "sport": ["no", "yes"], "age": [30, 40]})
    >>> is_mixed(people), is_mixed(people[["smoker", "age"]])
    (True, False)
    """
    table = _as_table(data)
    usable = [name for name, found in _learn_all(table).items() if not isinstance(found, str)]
    n_texts = sum(_holds_texts(table[name]) for name in usable)
    return n_texts >= max(_MIXED_SHARE * len(usable), 1) and (
        n_texts >= _LEAST_TEXTS or 2 * n_texts > len(usable)
    )


def _holds_texts(column: pd.Series[Any]) -> bool:
    """Whether a column holds something else than numbers and truth values."""
    if is_numeric(column):
        return False
    return bool(pd.to_numeric(texts_of(column).dropna(), errors="coerce").isna().any())


def _as_table(data: Any) -> pd.DataFrame:
    """Return a pandas DataFrame whose columns have different texts as names."""
    if not isinstance(data, pd.DataFrame):
        if not hasattr(data, "to_pandas"):
            raise TypeError(f"data must be a DataFrame; got {type(data).__name__}.")
        data = data.to_pandas()
    table: pd.DataFrame = data.set_axis([str(name) for name in data.columns], axis=1)
    repeated = table.columns[table.columns.duplicated()]
    if len(repeated):
        raise ValueError(f"several columns are named {shown(repeated[0])}: rename them.")
    return table


def _stack(table: pd.DataFrame, columns: Sequence[EncodedColumn]) -> Floats:
    return np.hstack([column.encode(table[column.name]) for column in columns])


def _about_unknown(table: pd.DataFrame, columns: Sequence[EncodedColumn], X: Floats) -> str:
    """Say how many values are missing only after the encoding, if any are."""
    ends = np.cumsum([len(column.names) for column in columns])
    filled = [texts_of(table[column.name]).notna() for column in columns]
    n = int(np.sum(np.isnan(X[:, ends - 1]) & np.column_stack(filled)))
    if not n:
        return ""
    verbs = ("is", "counts") if n == 1 else ("are", "count")
    return (
        f" {counted(n, 'value')} {verbs[0]} in none of the categories and {verbs[1]} as missing."
    )


def _learn_all(table: pd.DataFrame) -> dict[str, EncodedColumn | str]:
    """Learn how to encode each column, or why it cannot be data."""
    return {str(name): _learn(str(name), table[name]) for name in table}


def _learn(name: str, column: pd.Series[Any]) -> EncodedColumn | str:
    """Learn how to encode a column, or say why it cannot be data."""
    if str(column.dtype).lower().startswith(_TIMES) or _has_dates(column):
        return "it holds dates or times"
    if is_numeric(column):
        return _learn_numbers(name, column)
    texts = _texts(column)
    if texts is None:
        return "it holds neither numbers nor texts"
    if texts.nunique() < 2:
        return "it is empty" if texts.isna().all() else "it holds the same value in every row"
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
        categories = texts_of(pd.Series(column.cat.categories)).tolist()
        return OrderedColumn.learn(name, texts, [(category,) for category in categories])
    return _learn_texts(name, texts)


def _has_dates(column: pd.Series[Any]) -> bool:
    kinds = set(map(type, column.dropna())) if column.dtype == object else set()
    return any(issubclass(kind, (datetime.date, datetime.time)) for kind in kinds)


def _texts(column: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return the cells as texts; None if they are lists or the like."""
    try:
        return texts_of(column)
    except TypeError:  # lists cannot be looked up
        return None


def _learn_numbers(name: str, column: pd.Series[Any]) -> EncodedColumn | str:
    values = numbers_of(column, name)
    filled = values[~np.isnan(values)]
    if not len(filled):
        return "it is empty"
    if filled.max() - filled.min() <= _ROUNDING * np.abs(filled).max():
        return "it holds the same value in every row"
    if set(np.unique(filled)) == {0.0, 1.0}:
        return YesNoColumn.learn(name, pd.Series(values))
    if len(filled) == len(values) > 2 * _VERY_FEW and (np.diff(values) == 1).all():
        return "it numbers the rows"
    return NumberColumn.learn(name, values)


def _learn_texts(name: str, texts: pd.Series[Any]) -> EncodedColumn | str:
    distinct = texts.dropna().unique()
    numbers = pd.to_numeric(pd.Series(distinct), errors="coerce").notna()
    if numbers.all():
        return _learn_numbers(name, pd.Series(numbers_of(texts, name)))
    if all(_DATE.fullmatch(text) for text in distinct):
        return "it holds dates or times"
    if numbers.sum() > max(_VERY_FEW, len(distinct) / 2):
        return f"it holds numbers, but also {shown(distinct[~numbers.to_numpy()][0])}"
    words = {text.casefold() for text in distinct}
    if any(_answers(words, yes, no) for yes, no in YES_NO):
        return YesNoColumn.learn(name, texts)
    for scale in _SCALES:
        if words <= {word for level in scale for word in level}:
            return OrderedColumn.learn(name, texts, scale)
    return _too_many(texts) or CategoryColumn.learn(name, texts)


def _answers(words: set[str], yes: Sequence[str], no: Sequence[str]) -> bool:
    return words <= {*yes, *no} and not words.isdisjoint(yes) and not words.isdisjoint(no)


def _too_many(texts: pd.Series[Any]) -> str:
    """Say why texts are no categories, or return an empty text."""
    filled = texts.dropna()
    n_distinct, n = filled.nunique(), len(filled)
    few = n_distinct <= max(_MOST_CATEGORIES, np.sqrt(n))
    if few and n_distinct < n and n_distinct <= max(_VERY_FEW, n / 2):
        return ""
    if np.median([len(text.split()) for text in filled]) >= _FREE_TEXT_WORDS:
        return "it holds free text"
    if n_distinct == n:
        return "every row has a different text"
    if n_distinct > _IDENTIFIERS * n:
        return "nearly every row has a different text"
    return f"it holds {n_distinct} different texts, which are too many for categories"


def _about_columns(columns: Sequence[EncodedColumn]) -> str:
    parts = [
        _about_numbers([column for column in columns if isinstance(column, NumberColumn)]),
        _about_kind(columns, YesNoColumn, "yes/no column", "became 0 and 1"),
        _about_kind(columns, OrderedColumn, "column of ordered categories", "became numbers"),
        _about_categories(sum(isinstance(column, CategoryColumn) for column in columns)),
    ]
    *first, last = filter(None, parts)
    before = f"{', '.join(first)}{',' if len(first) > 1 else ''} and " if first else ""
    listed = before + last
    return f"{listed[0].upper()}{listed[1:]}. Every column of the table has the same weight."


def _about_numbers(columns: Sequence[NumberColumn]) -> str:
    n_logged = sum(column.offset is not None for column in columns)
    after = f" (after a logarithm of {n_logged})" if n_logged else ""
    return _about_kind(columns, NumberColumn, "numeric column", "scaled", is_passive=True) + after


def _about_kind(
    columns: Sequence[EncodedColumn], kind: type, noun: str, done: str, is_passive: bool = False
) -> str:
    n = sum(isinstance(column, kind) for column in columns)
    if not n:
        return ""
    auxiliary = ("was " if n == 1 else "were ") if is_passive else ""
    plural = noun if n == 1 else noun.replace("column", "columns", 1)
    return f"{n} {plural} {auxiliary}{done}"


def _about_categories(n: int) -> str:
    return f"the categories of {counted(n, 'column')} became one column each" if n else ""


def _about_left_out(left_out: Mapping[str, str]) -> str:
    listed = "; ".join(f'"{name}" ({reason})' for name, reason in left_out.items())
    return f"Left out: {listed}." if listed else ""
